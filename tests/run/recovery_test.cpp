// Runs that go wrong and mend themselves, or say why they cannot.

#include "quadratic_run.hpp"
#include "running_ahead.hpp"
#include "saved_run.hpp"
#include "support.hpp"

#include <initializer_list>
#include <limits>
#include <memory>
#include <set>
#include <string_view>

namespace duplex::testing {
namespace {

constexpr Options mending{.max_iterations = 100'000, .kkt_tolerance = 1e-8, .recoveries = 12};

double relative_error_of(const Quadratic<double> &problem, const State<Vec> &state) {
  return relative_error(state.x, problem.answer()->x);
}

/// A quadratic of which one lower gradient, counted over all evaluations, is NaN.
class FailsOnce {
public:
  using Vector = Vec;
  FailsOnce(Quadratic<double> problem, int at) : problem_(std::move(problem)), left_(std::make_shared<int>(at)) {}

  class Lower : public Quadratic<double>::Lower {
  public:
    Lower(const Quadratic<double> &problem, std::shared_ptr<int> left)
        : Quadratic<double>::Lower(problem.lower()), left_(std::move(left)) {}
    void grad_y(Vec &out) {
      Quadratic<double>::Lower::grad_y(out);
      if (--*left_ == 0) {
        out[0] = std::numeric_limits<double>::quiet_NaN();
      }
    }

  private:
    std::shared_ptr<int> left_;
  };

  [[nodiscard]] Lower lower() const { return {problem_, left_}; }
  [[nodiscard]] auto upper() const { return problem_.upper(); }
  [[nodiscard]] Index x_size() const { return problem_.x_size(); }
  [[nodiscard]] Index y_size() const { return problem_.y_size(); }
  [[nodiscard]] State<Vec> start() const { return problem_.start(); }

private:
  Quadratic<double> problem_;
  std::shared_ptr<int> left_;
};

TEST(Recovery, RefusesANegativeNumberOfTries) {
  const auto problem = small_quadratic.generate<double>();
  auto state = problem.start();
  EXPECT_CONTAINS(refusal([&] { (void)solve(problem, calm, state, {.recoveries = -1}); }),
                  "recoveries = -1, expected a whole number >= 0");
}

TEST(Recovery, IsOffUnlessItIsAskedFor) {
  const auto problem = small_quadratic.generate<double>();
  auto state = problem.start();
  Bagdc wild = calm;
  wild.beta = 50.0;
  const auto summary = solve(problem, wild, state);
  EXPECT_EQ(summary.termination, Termination::diverged);
  EXPECT_TRUE(summary.recoveries.empty());
}

TEST(Recovery, ShrinksTheStepThatIsToBlameAndSaysSo) {
  const auto problem = small_quadratic.generate<double>();
  const auto mended = [&](const Bagdc &wild, const std::string &step) {
    auto state = problem.start();
    const auto summary = solve(problem, wild, state, mending);
    EXPECT_EQ(summary.termination, Termination::kkt_tolerance) << summary.brief();
    EXPECT_LE(relative_error_of(problem, state), 1e-6);
    ASSERT_FALSE(summary.recoveries.empty());
    EXPECT_CONTAINS(summary.recoveries.front(), "; back to step 0 with " + step + " = ");
  };
  for (const double factor : {10.0, 100.0, 1000.0}) {
    Bagdc long_beta = calm;
    long_beta.beta *= factor;
    mended(long_beta, "beta");
    Bagdc long_eta = calm;
    long_eta.eta *= factor;
    mended(long_eta, "eta");
    Bagdc long_alpha = calm;
    long_alpha.alpha *= factor;
    auto state = problem.start();
    const auto summary = solve(problem, long_alpha, state, mending);
    EXPECT_EQ(summary.termination, Termination::kkt_tolerance) << summary.brief();
  }
}

TEST(Recovery, MendsTheStepsOfEverySolver) {
  const auto problem = small_quadratic.generate<double>();
  AllSolvers::each([&]<class S>() {
    const S wild = with_steps<S>(0.02, 60.0);
    if (wild.traits().chooses_its_steps()) {
      return;
    }
    auto alone = problem.start();
    const bool breaks = solve(problem, wild, alone, {.max_iterations = 2000}).failed();
    const std::set<std::string_view> shrinking{STfbo::name, DTfbo::name}; // whose steps mend themselves
    EXPECT_EQ(breaks, !shrinking.contains(S::name)) << S::name;
    auto state = problem.start();
    const double before = relative_error_of(problem, state);
    const auto summary = solve(problem, wild, state, {.max_iterations = 2000, .recoveries = 12});
    EXPECT_FALSE(summary.failed()) << summary.brief();
    EXPECT_EQ(breaks, !summary.recoveries.empty()) << S::name;
    EXPECT_LT(relative_error_of(problem, state), 0.9 * before) << S::name;
  });
}

TEST(Recovery, KeepsTheLimitsOfTheRun) {
  const auto problem = small_quadratic.generate<double>();
  Bagdc wild = calm;
  wild.beta = 50.0;
  auto state = problem.start();
  const auto until_it_breaks = solve(problem, wild, state).iterations;
  auto again = problem.start();
  const auto summary = solve(problem, wild, again, {.max_iterations = until_it_breaks, .recoveries = 5});
  EXPECT_EQ(summary.iterations, until_it_breaks);
  EXPECT_TRUE(summary.recoveries.empty());
  EXPECT_TRUE(summary.failed());
}

TEST(Recovery, GoesBackToStatesThatWereLookedAt) {
  const auto problem = small_quadratic.generate<double>();
  for (const double factor : {4.1, 4.5, 5.0, 7.0}) { // each breaks at another step
    Bagdc wild = calm;
    wild.beta *= factor;
    auto beside = problem.start();
    auto ahead = problem.start();
    const auto expected = solve(problem, wild, beside, mending);
    const auto summary = solve(problem, RunningAhead{wild}, ahead, mending);
    EXPECT_EQ(summary.termination, Termination::kkt_tolerance) << summary.brief();
    EXPECT_LE(relative_error_of(problem, ahead), 1e-6);
    EXPECT_EQ(expected.recoveries.empty(), summary.recoveries.empty());
  }
}

TEST(Recovery, LeavesAutomaticStepsAutomatic) {
  const auto problem = small_quadratic.generate<double>();
  auto state = problem.start();
  Recovery<Vec> recovery(StepOptions::of(Automatic{}), state, 5);
  const Diagnosis grew{{"v grew most", "", Role::multiplier_cap}, "‖d‖ grew", true};
  for (int k = 1; k <= 3; ++k) {
    EXPECT_CONTAINS(recovery.go_back(grew, {}, k, state), "with steps found anew");
    EXPECT_TRUE(recovery.steps().empty());
  }
}

TEST(Recovery, JudgesGrowthByTheFirstStepThatWentWell) {
  const auto problem = small_quadratic.generate<double>();
  Bagdc wild = calm;
  wild.alpha = 50.0;
  auto state = problem.start();
  const auto summary = solve(FailsOnce(problem, 1), wild, state, mending);
  EXPECT_EQ(summary.termination, Termination::kkt_tolerance) << summary.brief();
  ASSERT_GE(summary.recoveries.size(), 2U);
  EXPECT_CONTAINS(summary.recoveries[1], "‖d‖ grew to ");
}

TEST(Recovery, GoesOnWithTheRightStepAtOnceWhereItWasMeasured) {
  const auto problem = small_quadratic.generate<double>();
  Bagdc wild = calm;
  wild.beta = 5e6;
  auto state = problem.start();
  const auto summary = solve(problem, wild, state, mending);
  EXPECT_EQ(summary.termination, Termination::kkt_tolerance) << summary.brief();
  ASSERT_EQ(summary.recoveries.size(), 1U);
  const double right = 0.5 / largest_curvature(problem, problem.start().x, problem.start().y);
  EXPECT_CONTAINS(summary.recoveries[0], "the steps of y are too long, beta = 5e+06");
  EXPECT_CONTAINS(summary.recoveries[0], "with beta = " + short_number(right));
}

TEST(Recovery, EndsWithTheDiagnosisWhenItsTriesAreUsedUp) {
  const auto problem = small_quadratic.generate<double>();
  Bagdc wild = calm;
  wild.alpha = 5e6;
  auto state = problem.start();
  Options two = mending;
  two.recoveries = 2;
  const auto summary = solve(problem, wild, state, two);
  EXPECT_EQ(summary.termination, Termination::diverged);
  EXPECT_EQ(summary.recoveries.size(), 2U);
  EXPECT_CONTAINS(summary.message, "; try a smaller alpha");
}

TEST(Recovery, TriesTheSameStepsWhereAProductFailedOnce) {
  const auto problem = small_quadratic.generate<double>();
  for (const int at : {1, 2, 7, 40, 100}) {
    auto state = problem.start();
    const auto summary = solve(FailsOnce(problem, at), calm, state,
                               {.max_iterations = 100'000, .direction_tolerance = 1e-9, .recoveries = 12});
    EXPECT_EQ(summary.termination, Termination::direction_tolerance) << summary.brief();
    ASSERT_EQ(summary.recoveries.size(), 1U);
    EXPECT_CONTAINS(summary.recoveries[0], "with the same steps");
    auto governed = problem.start();
    const auto automatic = solve(FailsOnce(problem, at), Automatic{}, governed, {.recoveries = 2});
    EXPECT_TRUE(automatic.converged()) << automatic.brief();
    EXPECT_LE(relative_error_of(problem, governed), 1e-4);
  }
}

TEST(Recovery, SaysThatNoStepMendsALowerLevelThatIsNotConvex) {
  auto data = small_quadratic.generate<double>().data();
  data.lower_hessian.diagonal().array() -= 0.6;
  const Quadratic<double> problem(std::move(data));
  auto state = problem.start();
  const auto summary = solve(problem, calm, state, mending);
  EXPECT_TRUE(summary.failed());
  EXPECT_TRUE(summary.recoveries.empty());
  EXPECT_CONTAINS(summary.message, "the lower level is not convex in y");
}

TEST(Recovery, SaysThatARunStandsStillWhereTheLowerHessianIsZero) {
  auto data = small_quadratic.generate<double>().data();
  data.lower_hessian.setZero();
  const Quadratic<double> problem(std::move(data));
  auto state = problem.start();
  Options patient = mending;
  patient.patience = 1000;
  const auto summary = solve(problem, calm, state, patient);
  EXPECT_FALSE(summary.converged()) << summary.brief();
  EXPECT_CONTAINS(summary.message, "the lower Hessian is singular");
}

/// A run that recovers, cut after each of these steps.
template <class P, class S>
void expect_same_bits_with_recoveries(const P &problem, const S &wild, std::initializer_list<std::int64_t> cuts) {
  const Options whole_run{.max_iterations = 300, .recoveries = 5};
  auto whole = problem.start();
  const auto uninterrupted = solve(problem, wild, whole, whole_run);
  ASSERT_FALSE(uninterrupted.recoveries.empty());
  for (const std::int64_t steps : cuts) {
    SavedState last;
    const Saving saving{.save = [&](const SavedState &state) { last = state; }, .every_seconds = infinity};
    auto state = problem.start();
    (void)solve(problem, wild, state, {.max_iterations = steps, .recoveries = 5, .saving = &saving});
    const auto saved = checkpoint::decoded(checkpoint::encoded(last), "memory");
    const Saving from{.from = &saved};
    Options rest = whole_run;
    rest.saving = &from;
    auto parts = problem.start();
    const auto summary = solve(problem, wild, parts, rest);
    EXPECT_TRUE(same_bits(parts, whole)) << steps;
    EXPECT_EQ(summary.recoveries, uninterrupted.recoveries);
    EXPECT_EQ(summary.counters, uninterrupted.counters);
  }
}

TEST(Recovery, OfASavedRunGoesOnToTheSameBits) {
  Bagdc wild = calm;
  wild.beta = 50.0;
  expect_same_bits_with_recoveries(small_quadratic.generate<double>(), wild, {3, 40, 200});
  expect_same_bits_with_recoveries(small_quadratic.generate<double>(),
                                   Neumann{.alpha = 0.02, .beta = 0.5, .inner = 10, .series_step = 5.0}, {1, 20, 200});
  expect_same_bits_with_recoveries(RidgeSettings{}.generate<double>(), Bagdc{.alpha = 1000.0, .beta = 0.1}, {5, 40});
}

TEST(Recovery, OfASavedRunIsNotLostWhereItGoesOnWithOtherTries) {
  const auto problem = small_quadratic.generate<double>();
  Bagdc wild = calm;
  wild.beta = 50.0;
  SavedState last;
  const Saving saving{.save = [&](const SavedState &state) { last = state; }, .every_seconds = infinity};
  auto state = problem.start();
  const auto first = solve(problem, wild, state, {.max_iterations = 300, .recoveries = 5, .saving = &saving});
  ASSERT_FALSE(first.recoveries.empty());
  const Saving from{.from = &last};
  auto rest = problem.start();
  const auto summary = solve(problem, wild, rest, {.max_iterations = 600, .saving = &from});
  EXPECT_FALSE(summary.failed()) << summary.brief();
  EXPECT_EQ(summary.recoveries, first.recoveries);
  SavedState without;
  const Saving saving_without{.save = [&](const SavedState &s) { without = s; }, .every_seconds = infinity};
  auto other = problem.start();
  (void)solve(problem, calm, other, {.max_iterations = 30, .saving = &saving_without});
  const Saving from_without{.from = &without};
  EXPECT_EQ(refusal([&] { (void)solve(problem, calm, other, {.recoveries = 3, .saving = &from_without}); }), "");
}

TEST(Patience, LooksBeforeItSaysThatARunAheadStandsStill) {
  const auto problem = small_quadratic.generate<double>();
  auto state = problem.start();
  const auto summary =
      solve(problem, RunningAhead{calm}, state, {.max_iterations = 400, .kkt_tolerance = 1e-8, .patience = 5});
  auto plain = problem.start();
  const auto expected = solve(problem, calm, plain, {.max_iterations = 400, .kkt_tolerance = 1e-8, .patience = 5});
  EXPECT_EQ(summary.termination, expected.termination) << summary.brief();
}

TEST(Patience, EndsARunThatStandsStillWithoutCallingItAResult) {
  const auto problem = small_quadratic.generate<double>();
  auto state = problem.start();
  const auto summary =
      solve(problem, calm, state, {.max_iterations = 1'000'000, .direction_tolerance = 1e-300, .patience = 500});
  EXPECT_EQ(summary.termination, Termination::stagnated);
  EXPECT_FALSE(summary.converged());
  EXPECT_FALSE(summary.failed());
  EXPECT_CONTAINS(summary.message, "for 500 steps");
}

} // namespace
} // namespace duplex::testing
