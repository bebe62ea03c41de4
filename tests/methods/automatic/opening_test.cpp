#include "saved_run.hpp"
#include "support.hpp"

#include <duplex/problems/hyper_cleaning.hpp>

#include <atomic>
#include <chrono>
#include <limits>
#include <thread>
#include <utility>

namespace duplex::testing {
namespace {

HyperCleaning<double> cleaning() {
  return HyperCleaningSettings{.samples = 40, .trusted = 30, .features = 4}.generate<double>();
}

/// A lower level whose Hessian products are spoilt.
template <class Spoil> struct Disturbed {
  using Vector = Vec;
  using Inner = LowerOf<Quadratic<double>>;
  Disturbed(Quadratic<double> quadratic, Spoil act) : problem(std::move(quadratic)), spoil(std::move(act)) {}
  struct Lower : Inner {
    Lower(Inner inner, const Spoil &act) : Inner(std::move(inner)), spoil(&act) {}
    void hess_yy(const Vec &v, Vec &out) {
      Inner::hess_yy(v, out);
      (*spoil)(out);
    }
    const Spoil *spoil;
  };
  [[nodiscard]] Lower lower() const { return Lower(problem.lower(), spoil); }
  [[nodiscard]] auto upper() const { return problem.upper(); }
  [[nodiscard]] Index x_size() const { return problem.x_size(); }
  [[nodiscard]] Index y_size() const { return problem.y_size(); }
  [[nodiscard]] State<Vec> start() const { return problem.start(); }
  Quadratic<double> problem;
  Spoil spoil;
};

/// F in another unit.
struct Scaled : HyperCleaning<double> {
  struct Upper : HyperCleaning<double>::Upper {
    explicit Upper(const HyperCleaning<double> &problem) : HyperCleaning<double>::Upper(problem) {}
    void grad_y(Vec &out) {
      HyperCleaning<double>::Upper::grad_y(out);
      out *= 0x1p-60;
    }
  };
  explicit Scaled(const HyperCleaning<double> &problem) : HyperCleaning<double>(problem) {}
  [[nodiscard]] Upper upper() const { return Upper(*this); }
};

TEST(Opening, RefusesAScaleBelowZero) {
  const auto problem = cleaning();
  auto state = problem.start();
  EXPECT_CONTAINS(refusal([&] { (void)solve(problem, Automatic{.upper_scale = -1.0}, state); }), "upper-scale = -1");
}

TEST(Opening, IsTakenWhereTheProblemKnowsTheScaleOfX) {
  EXPECT_EQ(upper_scale(cleaning()), 1.0);
  EXPECT_EQ(upper_scale(AnyProblem<Vec>(cleaning())), 1.0);
  EXPECT_EQ(upper_scale(QuadraticSettings{}.generate<double>()), 0.0);

  const auto problem = cleaning();
  auto state = problem.start();
  const auto summary = solve(problem, Automatic{}, state, {.max_iterations = 10});
  EXPECT_CONTAINS(summary.explanation, "opening: x matters in units of 1");
  EXPECT_CONTAINS(summary.explanation, "still on");
  EXPECT_EQ(summary.counters.cross_products, 10);
  EXPECT_EQ(summary.counters.gradients, 30);
  EXPECT_GE(summary.counters.hessian_products, 10 + products_for_curvature);
  EXPECT_LE(summary.counters.hessian_products, 10 + 3 * products_for_curvature); // measured anew where ∇y f grew
}

TEST(Opening, IsNotTakenWhereItIsSwitchedOff) {
  const auto problem = cleaning();
  auto state = problem.start();
  const auto summary = solve(problem, Automatic{.opening = false}, state);
  EXPECT_TRUE(summary.converged()) << summary.brief();
  EXPECT_EQ(summary.explanation.find("opening"), std::string::npos);
}

TEST(Opening, LowersTheUpperLevelSoon) {
  const auto problem = cleaning();
  const auto value_after = [&](std::int64_t steps) {
    auto state = problem.start();
    (void)solve(problem, Automatic{}, state, {.max_iterations = steps});
    auto upper = problem.upper();
    upper.at(state.x, state.y);
    return upper.value();
  };
  auto solved = problem.start();
  ASSERT_TRUE(solve(problem, Automatic{}, solved).converged());
  auto upper = problem.upper();
  upper.at(solved.x, solved.y);
  const double least = upper.value();
  EXPECT_LT(value_after(80) - least, 0.05 * (value_after(1) - least));
}

TEST(Opening, TakesTheSameStepsFusedAndGeneral) {
  const auto problem = cleaning();
  auto fused = problem.start();
  auto general = problem.start();
  (void)solve(problem, Automatic{}, fused, {.max_iterations = 30});
  (void)solve(problem, Automatic{.fused = false}, general, {.max_iterations = 30});
  EXPECT_LT(relative_error(fused.x, general.x), 1e-9);
  EXPECT_LT(relative_error(fused.y, general.y), 1e-9);
}

TEST(Opening, JudgesNoToleranceByItsDirection) {
  const auto problem = cleaning();
  auto state = problem.start();
  const auto summary = solve(problem, Automatic{}, state, {.direction_tolerance = 1e3, .patience = 5});
  EXPECT_EQ(summary.termination, Termination::direction_tolerance) << summary.brief();
  EXPECT_CONTAINS(summary.explanation, "accuracy: d feels"); // of the part of the run that knows how exact d is
}

/// What a run that opens with that scale of x says of itself; it must end where one that does not open ends.
std::string explanation_of_same_answer(double scale_of_x) {
  const auto problem = QuadraticSettings{}.generate<double>();
  auto plain = problem.start();
  auto opened = problem.start();
  EXPECT_TRUE(solve(problem, Automatic{.tolerance = 1e-9}, plain).converged());
  const auto summary = solve(problem, Automatic{.tolerance = 1e-9, .upper_scale = scale_of_x}, opened);
  EXPECT_TRUE(summary.converged()) << summary.brief();
  EXPECT_LT(relative_error(opened.x, plain.x), 1e-6);
  return summary.explanation;
}

TEST(Opening, EndsWithTheAnswerOfARunWithoutIt) {
  EXPECT_CONTAINS(explanation_of_same_answer(0.1), "opening: x matters in units of 0.1");
}

TEST(Opening, GoesBackToTheStartWhereTheScaleIsFarTooLarge) {
  EXPECT_CONTAINS(explanation_of_same_answer(1e9), "d ran away, so that the run went back to its start");
}

TEST(Opening, GoesOnToTheSameBitsWithinItAndBeyond) {
  expect_same_bits(cleaning(), Automatic{}, "within");
  expect_same_bits(cleaning(), Automatic{.fused = false}, "within, general");
  auto state = cleaning().start();
  EXPECT_CONTAINS(solve(cleaning(), Automatic{}, state, {.max_iterations = 101}).explanation, "in 100 steps of 0.1");
  expect_same_bits(cleaning(), Automatic{}, "into the rest", 97, 112);
  expect_same_bits(cleaning(), Automatic{}, "at its end", 100, 112);
  expect_same_bits(cleaning(), Automatic{}, "beyond", 104, 112);
  expect_same_bits(QuadraticSettings{.condition = 100.0}.generate<double>(), Automatic{.upper_scale = 1e9},
                   "after it ran away", 4, 8);
}

TEST(Opening, DoesNotKnowTheUnitOfTheUpperLevel) {
  const auto problem = cleaning();
  auto plain = problem.start();
  auto scaled = problem.start();
  (void)solve(problem, Automatic{.fused = false}, plain, {.max_iterations = 30});
  (void)solve(Scaled(problem), Automatic{.fused = false}, scaled, {.max_iterations = 30});
  EXPECT_LT(relative_error(scaled.x, plain.x), 1e-9);
}

TEST(Opening, IsOverForGoodWhereTheRunRecovers) {
  const auto problem = QuadraticSettings{.condition = 100.0}.generate<double>();
  int products = 0;
  const auto fail_for_a_while = [&](Vec &out) {
    constexpr int first_after_the_opening = 70;
    constexpr int too_many_to_verify_between = 400;
    if (++products >= first_after_the_opening && products < first_after_the_opening + too_many_to_verify_between) {
      out.setConstant(std::numeric_limits<double>::quiet_NaN());
    }
  };
  auto state = problem.start();
  const auto summary =
      solve(Disturbed{problem, fail_for_a_while}, Automatic{.upper_scale = 1e-3}, state, {.recoveries = 20});
  EXPECT_TRUE(summary.converged()) << summary.brief();
  ASSERT_FALSE(summary.recoveries.empty()) << summary.brief();
  EXPECT_EQ(summary.explanation.find("opening"), std::string::npos);
}

TEST(StepThatTakesTooLong, IsLeftWhereTheTimeIsUpOrTheRunIsInterrupted) {
  const auto take_long = [](Vec &) { std::this_thread::sleep_for(std::chrono::milliseconds(100)); };
  const Disturbed problem{QuadraticSettings{.n = 50, .m = 50, .condition = 1000.0}.generate<double>(), take_long};
  auto state = problem.start();
  const auto start = state;
  const auto limited = solve(problem, Automatic{}, state, {.max_seconds = 0.1});
  EXPECT_EQ(limited.termination, Termination::max_seconds);
  EXPECT_CONTAINS(limited.message, "step 1 took too long and was abandoned");
  EXPECT_TRUE(same_bits(state, start));

  const std::atomic<bool> interrupt{true};
  std::vector<SavedState> saves;
  const Saving saving{.save = [&](const SavedState &saved) { saves.push_back(saved); }, .every_seconds = infinity};
  const auto interrupted = solve(problem, Automatic{}, state, {.interrupt = &interrupt, .saving = &saving});
  EXPECT_EQ(interrupted.termination, Termination::interrupted);
  EXPECT_EQ(interrupted.iterations, 0);
  ASSERT_EQ(saves.size(), 1U); // what was before the step
  EXPECT_EQ(saves[0].first<SavedState::Integers>("iterations"), 0);
}

TEST(StepThatTakesTooLong, IsLeftInEveryInnerLoopWithTheStateOfBefore) {
  const auto problem = QuadraticSettings{.n = 6, .m = 7}.generate<double>();
  const auto leaves = [&](const auto &solver) {
    const std::atomic<bool> interrupt{true};
    std::vector<SavedState> saves;
    const Saving saving{.save = [&](const SavedState &saved) { saves.push_back(saved); }, .every_seconds = infinity};
    auto state = problem.start();
    const auto start = state;
    const auto left = solve(problem, solver, state, {.interrupt = &interrupt, .saving = &saving});
    EXPECT_EQ(left.termination, Termination::interrupted) << left.brief();
    EXPECT_EQ(left.iterations, 0);
    EXPECT_CONTAINS(left.message, "step 1 took too long and was abandoned");
    EXPECT_TRUE(same_bits(state.y, start.y)) << "as it was before the step";
    EXPECT_EQ(saves.size(), 1U);
  };
  constexpr std::int64_t for_ever = 1'000'000'000'000;
  leaves(Cg{.inner = for_ever});
  leaves(Neumann{.inner = for_ever});
  leaves(Neumann{.inner = 1, .terms = for_ever});
  leaves(Rhg{.inner = for_ever, .kept = 5});
}

} // namespace
} // namespace duplex::testing
