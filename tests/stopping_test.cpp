// Runs that end where it means something: residuals beside their scale, hold-outs, drift; and certificates of their
// end.

#include "saved_run.hpp"
#include "support.hpp"

#include <duplex/problems/hyper_cleaning.hpp>

#include <array>
#include <limits>
#include <memory>

namespace duplex::testing {
namespace {

const QuadraticSettings settings{.n = 6, .m = 8, .condition = 5.0, .coupling = 0.5, .seed = 4};
constexpr Bagdc calm{.alpha = 0.02, .beta = 0.5, .eta = 0.5, .dual = DualStep::constant};

using Units = Quadratic<double>::Units;

/// What `calm` does, in other units.
Bagdc calm_in(const Units &units) {
  Bagdc scaled = calm;
  scaled.alpha *= units.x * units.x / units.upper;
  scaled.beta *= units.y * units.y / units.lower;
  scaled.eta *= units.y * units.y / units.lower;
  return scaled;
}

TEST(RelativeKktTolerance, IsRefusedFromOneOn) {
  const auto problem = settings.generate<double>();
  auto state = problem.start();
  EXPECT_EQ(refusal([&] { (void)solve(problem, calm, state, {.kkt_relative_tolerance = 1.0}); }),
            "options: kkt-relative-tolerance = 1, expected >= 0 and < 1");
}

TEST(RelativeKktTolerance, EndsARunAtTheSameStepInAnyUnits) {
  const Options options{.max_iterations = 100'000, .kkt_relative_tolerance = 1e-6};
  const auto plain = settings.generate<double>();
  auto expected_state = plain.start();
  const auto expected = solve(plain, calm, expected_state, options);
  ASSERT_EQ(expected.termination, Termination::kkt_tolerance) << expected.brief();
  EXPECT_LE(relative_error(expected_state.x, plain.answer()->x), 1e-4);
  for (const Units &units : {Units{1e3, 1e-3, 1e2, 1e-2}, Units{1e-6, 1e4, 1e-3, 1e3}}) {
    const auto problem = plain.in_units(units);
    auto state = problem.start();
    const auto summary = solve(problem, calm_in(units), state, options);
    EXPECT_EQ(summary.termination, Termination::kkt_tolerance) << summary.brief();
    EXPECT_NEAR(static_cast<double>(summary.iterations), static_cast<double>(expected.iterations), 2.0);
  }
}

TEST(RelativeKktTolerance, IsMetWhereEveryTermVanishesAtTheSolution) {
  const auto problem = CounterExampleSettings{.n = 5}.make<double>(); // ∇F = 0 at the solution, and so v = 0
  auto state = problem.start();
  const auto summary =
      solve(problem, with_given_steps, state, {.max_iterations = 100'000, .kkt_relative_tolerance = 1e-6});
  EXPECT_EQ(summary.termination, Termination::kkt_tolerance) << summary.brief();
  EXPECT_LE(summary.metrics.back().second, 1e-6);
  EXPECT_EQ(summary.metrics.back().first, "kkt-relative");
}

TEST(RelativeKktTolerance, ComparesWithTheStartAfterResuming) {
  const auto problem = settings.generate<double>();
  const Options whole_run{.max_iterations = 100'000, .kkt_relative_tolerance = 1e-6};
  auto whole = problem.start();
  const auto uninterrupted = solve(problem, calm, whole, whole_run);
  SavedState saved;
  const Saving keeping{.save = [&](const SavedState &state) { saved = state; }, .every_seconds = infinity};
  auto part = problem.start();
  (void)solve(problem, calm, part, {.max_iterations = 50, .kkt_relative_tolerance = 1e-6, .saving = &keeping});
  const Saving going_on{.from = &saved};
  auto rest = problem.start();
  const auto resumed =
      solve(problem, calm, rest, {.max_iterations = 100'000, .kkt_relative_tolerance = 1e-6, .saving = &going_on});
  EXPECT_EQ(resumed.iterations, uninterrupted.iterations);
  EXPECT_TRUE(same_bits(rest, whole));
}

TEST(RelativeKktTolerance, MayBeAskedForOnlyWhenARunGoesOn) {
  const auto problem = settings.generate<double>();
  const SavedState saved = saved_after(problem, calm, 50);
  const Saving going_on{.from = &saved};
  auto state = problem.start();
  const auto summary =
      solve(problem, calm, state, {.max_iterations = 100'000, .kkt_relative_tolerance = 1e-6, .saving = &going_on});
  EXPECT_EQ(summary.termination, Termination::kkt_tolerance) << summary.brief();
}

TEST(RelativeKktTolerance, DoesNotTakeWhatBrokeForItsScale) {
  const auto problem = settings.generate<double>();
  Bagdc wild = calm;
  wild.beta = 50.0;
  auto state = problem.start();
  const auto summary =
      solve(problem, wild, state, {.max_iterations = 200'000, .kkt_relative_tolerance = 1e-6, .recoveries = 12});
  EXPECT_FALSE(summary.recoveries.empty());
  EXPECT_EQ(summary.termination, Termination::kkt_tolerance) << summary.brief();
  EXPECT_LE(relative_error(state.x, problem.answer()->x), 1e-4);
}

TEST(RelativeKktTolerance, IsReportedAtTheFinalStateWhateverEndsTheRun) {
  const auto problem = settings.generate<double>();
  Monitor<Vec> monitor;
  monitor.metrics = {MetricBook(problem).metric("kkt")};
  monitor.target = Target{"kkt", 1e3};
  auto state = problem.start();
  const auto summary = solve(problem, calm, state, {.kkt_relative_tolerance = 1e-9}, monitor);
  EXPECT_EQ(summary.termination, Termination::target_reached);
  EXPECT_EQ(summary.metrics.back().first, "kkt-relative");
  EXPECT_LE(summary.metrics.back().second, 2.0); // a block is at most twice the larger of its terms
}

TEST(ARunThatGoesOn, IsJudgedByWhatItIsAskedForNow) {
  const auto problem = settings.generate<double>();
  SavedState saved;
  const Saving keeping{.save = [&](const SavedState &state) { saved = state; }, .every_seconds = infinity};
  auto coarse = problem.start();
  const auto first = solve(problem, Bagdc{}, coarse, {.saving = &keeping}); // its own tolerance
  ASSERT_EQ(first.termination, Termination::tolerance_verified);
  const Saving going_on{.from = &saved};
  auto same = problem.start();
  EXPECT_EQ(solve(problem, Bagdc{}, same, {.saving = &going_on}).iterations, first.iterations);
  EXPECT_TRUE(same_bits(same, coarse));
  auto by_kkt = problem.start();
  EXPECT_EQ(solve(problem, Bagdc{}, by_kkt, {.kkt_tolerance = 1e-11, .saving = &going_on}).termination,
            Termination::kkt_tolerance);
  EXPECT_LE(KktResidual(problem).at(by_kkt.x, by_kkt.y, by_kkt.v).residual(), 1e-11);
  auto finer = problem.start();
  const auto tighter = solve(problem, Bagdc{.tolerance = 1e-9}, finer, {.saving = &going_on});
  EXPECT_EQ(tighter.termination, Termination::tolerance_verified);
  EXPECT_GT(tighter.iterations, first.iterations);
  EXPECT_LE(certify(problem, problem.start(), finer).hypergradient,
            1e-9 * *certify(problem, problem.start(), finer).first_hypergradient);
}

TEST(ARunThatGoesOn, LearnsItsScaleWhereOneThatWasNotInterruptedWouldHave) {
  const auto problem = RidgeSettings{}.generate<double>();
  Monitor<Vec> monitor;
  monitor.cadence = {.every = 97};
  const Bagdc solver{.alpha = 0.5, .beta = 0.2};
  auto whole = problem.start();
  const auto uninterrupted =
      solve(problem, solver, whole, {.max_iterations = 100'000, .kkt_relative_tolerance = 1e-4}, monitor);
  for (const std::int64_t cut : {3, 7, 98}) {
    SavedState saved;
    const Saving keeping{.save = [&](const SavedState &state) { saved = state; }, .every_seconds = infinity};
    auto part = problem.start();
    (void)solve(problem, solver, part, {.max_iterations = cut, .kkt_relative_tolerance = 1e-4, .saving = &keeping},
                monitor);
    const Saving going_on{.from = &saved};
    auto rest = problem.start();
    const auto resumed =
        solve(problem, solver, rest, {.max_iterations = 100'000, .kkt_relative_tolerance = 1e-4, .saving = &going_on},
              monitor);
    EXPECT_EQ(resumed.iterations, uninterrupted.iterations) << cut;
  }
}

TEST(ARunThatIsInterrupted, IsNotJudgedWhereOneThatIsNotWouldNotBe) {
  const auto problem = QuadraticSettings{.condition = 20.0}.generate<double>();
  const Bagdc solver{.alpha = 1e-3, .beta = 0.1, .dual = DualStep::relaxed};
  Monitor<Vec> monitor;
  monitor.metrics.push_back(
      {"steps left", [](const Progress<Vec> &progress) { return 150.0 - static_cast<double>(progress.iteration); }});
  monitor.cadence = {.every = 100};
  monitor.target = Target{"steps left", 0.0}; // met from step 150 on, and seen at the next look
  auto alone = problem.start();
  const auto whole = solve(problem, solver, alone, {.max_iterations = 1000}, monitor);
  ASSERT_EQ(whole.termination, Termination::target_reached) << whole.brief();
  ASSERT_GT(whole.iterations, 171);

  std::atomic<bool> interrupt = false;
  SavedState saved;
  Saving saving{.save =
                    [&](const SavedState &now) {
                      saved = now;
                      interrupt = true;
                    },
                .every_steps = 170,
                .every_seconds = infinity};
  auto state = problem.start();
  const auto first =
      solve(problem, solver, state, {.max_iterations = 1000, .interrupt = &interrupt, .saving = &saving}, monitor);
  EXPECT_EQ(first.termination, Termination::interrupted) << first.brief();
  EXPECT_EQ(first.iterations, 171);
  const SavedState cut = saved;
  saving = {.save = [](const SavedState &) {}, .every_seconds = infinity, .from = &cut};
  state = problem.start();
  const auto second = solve(problem, solver, state, {.max_iterations = 1000, .saving = &saving}, monitor);
  EXPECT_EQ(second.iterations, whole.iterations) << second.brief();
  EXPECT_EQ(state.x, alone.x);
}

TEST(ARunThatGoesOn, HasNothingToDoWhereLessIsAskedThanItHasReached) {
  const auto problem = settings.generate<double>();
  SavedState saved;
  const Saving keeping{.save = [&](const SavedState &state) { saved = state; }, .every_seconds = infinity};
  auto state = problem.start();
  const auto first = solve(problem, Bagdc{.tolerance = 1e-12}, state, {.max_iterations = 9, .saving = &keeping});
  EXPECT_FALSE(first.converged()) << first.brief();
  const Saving going_on{.from = &saved};
  auto rest = problem.start();
  EXPECT_EQ(solve(problem, Bagdc{.tolerance = 1e-12}, rest, {.kkt_tolerance = 1.0, .saving = &going_on}).termination,
            Termination::kkt_tolerance);
  auto looser = problem.start();
  EXPECT_EQ(solve(problem, Bagdc{.tolerance = 1e-2}, looser, {.saving = &going_on}).termination,
            Termination::tolerance_verified);
}

TEST(ARunThatGoesOn, LooksWhereOneThatWasNotInterruptedWouldHave) {
  const auto problem = settings.generate<double>();
  Monitor<Vec> monitor;
  monitor.cadence = {.every = 10};
  const Options whole_run{.max_iterations = 100'000, .kkt_tolerance = 1e-6};
  auto whole = problem.start();
  const auto uninterrupted = solve(problem, calm, whole, whole_run, monitor);
  SavedState saved;
  const Saving keeping{.save = [&](const SavedState &state) { saved = state; }, .every_seconds = infinity};
  auto part = problem.start();
  (void)solve(problem, calm, part, {.max_iterations = 55, .kkt_tolerance = 1e-6, .saving = &keeping}, monitor);
  const Saving going_on{.from = &saved};
  auto rest = problem.start();
  const auto resumed =
      solve(problem, calm, rest, {.max_iterations = 100'000, .kkt_tolerance = 1e-6, .saving = &going_on}, monitor);
  EXPECT_EQ(resumed.iterations, uninterrupted.iterations);
  EXPECT_TRUE(same_bits(rest, whole));
}

/// A metric that falls until a step and rises from there on.
Monitor<Vec> falling_until(std::int64_t turn, std::int64_t patience) {
  Monitor<Vec> monitor;
  monitor.metrics.push_back({"held-out", [turn](const Progress<Vec> &progress) {
                               return 1.0 + std::abs(static_cast<double>(progress.iteration - turn));
                             }});
  monitor.hold_out = HoldOut{.patience = patience};
  return monitor;
}

TEST(HoldOut, RefusesAMetricThatIsNotMeasuredAndNoPatience) {
  const auto problem = settings.generate<double>();
  auto state = problem.start();
  Monitor<Vec> unmeasured;
  unmeasured.hold_out = HoldOut{};
  EXPECT_EQ(refusal([&] { (void)solve(problem, calm, state, {}, unmeasured); }),
            "monitor: the hold-out's metric 'held-out' is not among the metrics");
  EXPECT_CONTAINS(refusal([&] { (void)solve(problem, calm, state, {}, falling_until(10, 0)); }),
                  "the patience of the hold-out is 0, expected a whole number >= 1");
}

TEST(HoldOut, StopsWhereTheLossRisesAndGoesBackToTheSmallest) {
  const auto problem = settings.generate<double>();
  auto best = problem.start();
  (void)run_steps(problem, calm, best, 40);
  auto state = problem.start();
  const auto summary = solve(problem, calm, state, {}, falling_until(40, 4));
  EXPECT_EQ(summary.termination, Termination::overfitted);
  EXPECT_TRUE(summary.converged());
  EXPECT_EQ(summary.iterations, 44);
  EXPECT_TRUE(same_bits(state, best));
  EXPECT_EQ(summary.metrics.front().second, 1.0);
  EXPECT_EQ(summary.message, "held-out was smallest, 1, at step 40 and is 5 now: the state is that of step 40");
}

TEST(HoldOut, RemembersTheBestStateAfterResuming) {
  const auto problem = settings.generate<double>();
  const auto monitor = falling_until(10, 4);
  auto whole = problem.start();
  (void)solve(problem, calm, whole, {}, monitor);
  SavedState saved;
  const Saving keeping{.save = [&](const SavedState &state) { saved = state; }, .every_seconds = infinity};
  auto part = problem.start();
  (void)solve(problem, calm, part, {.max_iterations = 12, .saving = &keeping}, monitor);
  auto rest = problem.start();
  const Saving going_on{.save = keeping.save, .every_seconds = infinity, .from = &saved};
  const auto resumed = solve(problem, calm, rest, {.saving = &going_on}, monitor);
  EXPECT_EQ(resumed.termination, Termination::overfitted);
  EXPECT_TRUE(same_bits(rest, whole));
  auto once_more = problem.start(); // what ended stays ended, with the same words
  const SavedState ended = saved;
  const Saving nothing_left{.from = &ended};
  const auto again = solve(problem, calm, once_more, {.saving = &nothing_left}, monitor);
  EXPECT_EQ(again.message, resumed.message);
  EXPECT_TRUE(same_bits(once_more, whole));
}

TEST(HoldOut, GivesTheBestStateWhereTheStepsRunOutAndGoesOnFromTheLast) {
  const auto problem = settings.generate<double>();
  const auto monitor = falling_until(10, 100);
  auto best = problem.start();
  (void)run_steps(problem, calm, best, 10);
  auto last = problem.start();
  (void)run_steps(problem, calm, last, 20);
  SavedState saved;
  const Saving keeping{.save = [&](const SavedState &state) { saved = state; }, .every_seconds = infinity};
  auto state = problem.start();
  const auto summary = solve(problem, calm, state, {.max_iterations = 20, .saving = &keeping}, monitor);
  EXPECT_EQ(summary.termination, Termination::max_iterations);
  EXPECT_TRUE(same_bits(state, best));
  EXPECT_TRUE(saved.get<SavedState::Doubles>("x") == std::vector<double>(last.x.begin(), last.x.end()));
}

TEST(HoldOut, DoesNotTakeARunThatBreaksForOneThatOverfits) {
  const auto problem = RidgeSettings{}.generate<double>();
  Monitor<Vec> monitor;
  monitor.metrics = {MetricBook(problem).metric("held-out")};
  monitor.hold_out = HoldOut{.patience = 5};
  auto state = problem.start();
  const auto broken = solve(problem, Bagdc{.alpha = 1.0, .beta = 1.0}, state, {.max_iterations = 5000}, monitor);
  EXPECT_TRUE(broken.failed()) << broken.brief();
  auto mended = problem.start();
  const auto summary =
      solve(problem, Bagdc{.alpha = 1.0, .beta = 1.0}, mended, {.max_iterations = 5000, .recoveries = 12}, monitor);
  EXPECT_FALSE(summary.recoveries.empty());
  EXPECT_LT(summary.metrics.front().second, 0.17); // no better than .774 before it broke
}

TEST(HoldOut, EndedRunMayBeResumedWithoutOne) {
  const auto problem = settings.generate<double>();
  SavedState saved;
  const Saving keeping{.save = [&](const SavedState &state) { saved = state; }, .every_seconds = infinity};
  auto state = problem.start();
  (void)solve(problem, calm, state, {.saving = &keeping}, falling_until(10, 4));
  auto without = falling_until(10, 4);
  without.hold_out.reset();
  const Saving going_on{.from = &saved};
  auto rest = problem.start();
  const auto summary = solve(problem, calm, rest, {.max_iterations = 30, .saving = &going_on}, without);
  auto whole = problem.start();
  (void)run_steps(problem, calm, whole, 30);
  EXPECT_EQ(summary.termination, Termination::max_iterations);
  EXPECT_TRUE(same_bits(rest, whole));
}

TEST(HoldOut, LossesOfBuiltInProblemsAreOnSamplesThatNeitherLevelSees) {
  const auto ridge = RidgeSettings{.features = 3, .held_out = 7, .seed = 5}.generate<double>();
  const auto without = RidgeSettings{.features = 3, .held_out = 0, .seed = 5}.generate<double>();
  const Vec x = random_vector(3, 1);
  const Vec y = random_vector(3, 2);
  EXPECT_FALSE(without.held_out(x, y).has_value());
  auto of_one = ridge.upper();
  auto of_other = without.upper();
  of_one.at(x, y);
  of_other.at(x, y);
  EXPECT_EQ(of_one.value(), of_other.value()); // the samples of both levels do not depend on it
  EXPECT_GT(*ridge.held_out(x, y), 0.0);

  auto cleaning = HyperCleaningSettings{.held_out = 0}.generate<double>();
  const auto start = cleaning.start();
  EXPECT_FALSE(cleaning.held_out(start.x, start.y).has_value());
  EXPECT_EQ(refusal<NotAvailable>([&] { (void)MetricBook<HyperCleaning<double>>(cleaning).metric("held-out"); }),
            "metric 'held-out': this problem has no samples that neither level sees");
  cleaning.hold_out(cleaning.trusted()); // so that it must be F
  auto upper = cleaning.upper();
  const Vec weights = random_vector(cleaning.y_size(), 3);
  upper.at(start.x, weights);
  EXPECT_NEAR(*cleaning.held_out(start.x, weights), upper.value(), 1e-12);
  const auto other = HyperCleaningSettings{.features = 4}.generate<double>();
  EXPECT_EQ(refusal([&] { cleaning.hold_out(other.trusted()); }),
            "hyper-cleaning: 4 features of a held-out sample, expected 5 as in the training samples");
}

TEST(Drift, OfAMultiplierThatGrowsSlowlyIsMendedLongBeforeItBreaks) {
  const auto problem = settings.generate<double>();
  const double curvature = dense::symmetric_spectrum<double>(problem.data().lower_hessian).values.maxCoeff();
  Bagdc slow = calm;
  slow.eta = 2.02 / curvature; // grows by a fiftieth a step
  auto state = problem.start();
  const Options options{.max_iterations = 100'000, .kkt_tolerance = 1e-8, .recoveries = 12};
  const auto summary = solve(problem, slow, state, options);
  EXPECT_EQ(summary.termination, Termination::kkt_tolerance) << summary.brief();
  EXPECT_LE(relative_error(state.x, problem.answer()->x), 1e-6);
  ASSERT_FALSE(summary.recoveries.empty());
  EXPECT_CONTAINS(summary.recoveries.front(), "the KKT residual grew from ");
  EXPECT_CONTAINS(summary.recoveries.front(), "the steps of v are too long, eta = ");
}

TEST(Drift, IsNotSeenInARunThatConverges) {
  const auto problem = settings.generate<double>();
  auto plain = problem.start();
  auto watched = problem.start();
  (void)solve(problem, calm, plain, {.max_iterations = 3000});
  const auto summary = solve(problem, calm, watched, {.max_iterations = 3000, .recoveries = 12});
  EXPECT_TRUE(summary.recoveries.empty());
  EXPECT_TRUE(same_bits(plain, watched));
}

/// Problems in two numbers, by their derivatives: f_y, f_yy, f_xy and F, F_x, F_y at (x, y).
struct Scalars {
  double fy, fyy, fxy, value, fx, gy;
};
template <class Formula> class InTwoNumbers {
public:
  using Vector = Vec;
  explicit InTwoNumbers(Formula formula) : formula_(formula) {}
  class Level : public Point<Vec> {
  public:
    explicit Level(const Formula &formula) : formula_(&formula) {}
    [[nodiscard]] double value() const { return now().value; } // F; nothing asks for f
    void hess_yy(const Vec &v, Vec &out) const { out = now().fyy * v; }
    void cross_xy(const Vec &v, Vec &out) const { out = now().fxy * v; }

  protected:
    [[nodiscard]] Scalars now() const { return (*formula_)(this->x()[0], this->y()[0]); }

  private:
    const Formula *formula_;
  };
  class Lower : public Level {
  public:
    using Level::Level;
    void grad_y(Vec &out) const { out = Vec::Constant(1, this->now().fy); }
  };
  class Upper : public Level {
  public:
    using Level::Level;
    void grad_x(Vec &out) const { out = Vec::Constant(1, this->now().fx); }
    void grad_y(Vec &out) const { out = Vec::Constant(1, this->now().gy); }
  };
  [[nodiscard]] Lower lower() const { return Lower(formula_); }
  [[nodiscard]] Upper upper() const { return Upper(formula_); }
  [[nodiscard]] Index x_size() const { return 1; }
  [[nodiscard]] Index y_size() const { return 1; }

private:
  Formula formula_;
};

TEST(Drift, IsNotSeenWhereARunLeavesASaddle) {
  // f = (y − x)²/2, F = x⁴/4 − x²/2 + x − y: φ = x⁴/4 − x²/2, and F at the run's own y rises on one side.
  const InTwoNumbers problem([](double x, double y) {
    return Scalars{y - x, 1.0, -1.0, std::pow(x, 4) / 4.0 - x * x / 2.0 + x - y, x * x * x - x + 1.0, -1.0};
  });
  for (const double side : {1e-8, -1e-8}) {
    State<Vec> state{Vec::Constant(1, side), Vec::Constant(1, side), Vec::Constant(1, -1.0)};
    const Bagdc short_steps{.alpha = 0.05, .beta = 0.5, .eta = 0.5, .dual = DualStep::constant};
    const auto summary =
        solve(problem, short_steps, state, {.max_iterations = 20'000, .kkt_tolerance = 1e-9, .recoveries = 12});
    EXPECT_EQ(summary.termination, Termination::kkt_tolerance) << summary.brief();
    EXPECT_TRUE(summary.recoveries.empty()) << summary.recoveries.front();
    EXPECT_NEAR(std::abs(state.x[0]), 1.0, 1e-6);
  }
}

TEST(Drift, EndsNoRunWhereTheLowerLevelLeavesASaddle) {
  const InTwoNumbers problem([](double x, double y) {
    return Scalars{y * y * y - y - 0.01 * x, 3.0 * y * y - 1.0, -0.01, 0.5 * x * x + 0.5 * y * y, x, y};
  });
  const auto end = [&](std::int64_t recoveries) {
    State<Vec> state{Vec::Constant(1, 0.1), Vec::Constant(1, 1e-6), Vec::Zero(1)};
    const Bagdc short_steps{.alpha = 0.01, .beta = 0.1, .eta = 0.05, .dual = DualStep::constant};
    const auto summary =
        solve(problem, short_steps, state, {.max_iterations = 20'000, .kkt_tolerance = 1e-8, .recoveries = recoveries});
    EXPECT_EQ(summary.termination, Termination::kkt_tolerance) << summary.brief();
    return summary.iterations;
  };
  EXPECT_EQ(end(12), end(0));
}

TEST(Drift, IsSeenAtTheSameStepAfterResumingWhereverTheRunWasCut) {
  const auto problem = settings.generate<double>();
  const double curvature = dense::symmetric_spectrum<double>(problem.data().lower_hessian).values.maxCoeff();
  Bagdc slow = calm;
  slow.eta = 2.02 / curvature;
  const auto run = [&](std::int64_t steps, const Saving &saving, State<Vec> &state) {
    return solve(problem, slow, state, {.max_iterations = steps, .recoveries = 12, .saving = &saving});
  };
  auto whole = problem.start();
  const auto uninterrupted = run(5000, {}, whole);
  ASSERT_FALSE(uninterrupted.recoveries.empty());
  const std::string &text = uninterrupted.recoveries.front();
  const auto seen_at = std::stoll(text.substr(text.find(" at step ", text.find(" to ")) + 9));
  for (const std::int64_t cut : {std::int64_t{15}, std::int64_t{16}, std::int64_t{32}, std::int64_t{72},
                                 std::int64_t{300}, static_cast<std::int64_t>(seen_at)}) {
    SavedState saved;
    auto part = problem.start();
    (void)run(cut, {.save = [&](const SavedState &state) { saved = state; }, .every_seconds = infinity}, part);
    auto rest = problem.start();
    const auto resumed = run(5000, {.from = &saved}, rest);
    EXPECT_EQ(resumed.recoveries, uninterrupted.recoveries) << cut;
    EXPECT_EQ(resumed.counters, uninterrupted.counters) << cut;
    EXPECT_TRUE(same_bits(rest, whole)) << cut;
  }
}

TEST(AStandstill, IsMendedAtTheSameStepAfterResumingWhereverTheRunWasCut) {
  const auto problem = settings.generate<double>();
  Bagdc long_steps = calm;
  long_steps.alpha = 4.0;
  const auto run = [&](std::int64_t steps, const Saving &saving, State<Vec> &state) {
    return solve(problem, long_steps, state,
                 {.max_iterations = steps, .recoveries = 12, .patience = 25, .saving = &saving});
  };
  auto whole = problem.start();
  const auto uninterrupted = run(500, {}, whole);
  ASSERT_FALSE(uninterrupted.recoveries.empty());
  for (const std::int64_t cut : {24, 25, 26, 27, 28, 60}) {
    SavedState saved;
    auto part = problem.start();
    const auto first =
        run(cut, {.save = [&](const SavedState &state) { saved = state; }, .every_seconds = infinity}, part);
    EXPECT_EQ(first.termination, Termination::max_iterations) << cut;
    auto rest = problem.start();
    const auto resumed = run(500, {.from = &saved}, rest);
    EXPECT_EQ(resumed.recoveries, uninterrupted.recoveries) << cut;
    EXPECT_TRUE(same_bits(rest, whole)) << cut;
  }
}

TEST(AStandstill, IsNotSeenInTheFirstStep) {
  const auto problem = settings.generate<double>();
  auto state = problem.start();
  const auto summary = solve(problem, calm, state, {.max_iterations = 100, .recoveries = 12, .patience = 1});
  for (const auto &recovery : summary.recoveries) {
    EXPECT_EQ(recovery.find("below inf"), std::string::npos) << recovery;
  }
}

TEST(Certificate, RefusesNoDirections) {
  const auto problem = settings.generate<double>();
  EXPECT_EQ(refusal([&] { (void)certify(problem, problem.start(), problem.start(), {.directions = 0}); }),
            "certificate: directions = 0, expected >= 1");
}

TEST(Certificate, AgreesWithTheKnownAnswer) {
  const auto problem = settings.generate<double>();
  const auto answer = *problem.answer();
  const auto at_answer = certify(problem, problem.start(), {answer.x, answer.y, answer.v});
  EXPECT_TRUE(at_answer.holds()) << at_answer.text();
  EXPECT_LE(at_answer.hypergradient, 1e-12 * *at_answer.first_hypergradient);
  EXPECT_LE(at_answer.blocks.residual(), 1e-12);
  EXPECT_NEAR(at_answer.value, answer.value, 1e-12 * std::abs(answer.value));
  auto away = problem.start();
  away.x = answer.x + random_vector(problem.x_size(), 1);
  const auto certificate = certify(problem, problem.start(), away);
  EXPECT_TRUE(certificate.holds()) << certificate.text();
  ExactSolver<Quadratic<double>> exact(problem);
  EXPECT_EQ(certificate.hypergradient, exact.at(away.x, away.y).hypergradient.norm());
  EXPECT_GT(certificate.lower_error, 0.0);
}

/// A quadratic whose upper gradient in x is wrong by a part.
class Wrong {
public:
  using Vector = Vec;
  Wrong(Quadratic<double> problem, double part) : problem_(std::move(problem)), part_(part) {}
  class Upper : public Quadratic<double>::Upper {
  public:
    Upper(const Quadratic<double> &problem, double part) : Quadratic<double>::Upper(problem.upper()), part_(part) {}
    void grad_x(Vec &out) {
      Quadratic<double>::Upper::grad_x(out);
      out *= 1.0 + part_;
    }

  private:
    double part_;
  };
  [[nodiscard]] auto lower() const { return problem_.lower(); }
  [[nodiscard]] Upper upper() const { return {problem_, part_}; }
  [[nodiscard]] Index x_size() const { return problem_.x_size(); }
  [[nodiscard]] Index y_size() const { return problem_.y_size(); }
  [[nodiscard]] State<Vec> start() const { return problem_.start(); }

private:
  Quadratic<double> problem_;
  double part_;
};

TEST(Certificate, IsRefusedToAProblemWithAWrongDerivative) {
  const Wrong problem(settings.generate<double>(), 1e-3);
  auto state = problem.start();
  (void)solve(problem, calm, state, {.max_iterations = 100'000, .direction_tolerance = 1e-9});
  const auto certificate = certify(problem, problem.start(), state);
  EXPECT_FALSE(certificate.holds()) << certificate.text();
  EXPECT_CONTAINS(certificate.text(), "DISAGREE");
}

TEST(Certificate, DoesNotDependOnTheUnitsOfX) {
  const double unit = 1e-6;
  const InTwoNumbers problem([=](double x, double y) { // φ = F = cos(x/u)
    return Scalars{y - x, 1.0, -1.0, std::cos(x / unit), -std::sin(x / unit) / unit, 0.0};
  });
  const State<Vec> start{Vec::Constant(1, unit), Vec::Constant(1, unit), Vec::Zero(1)};
  const State<Vec> end{Vec::Constant(1, 3.0 * unit), Vec::Constant(1, 3.0 * unit), Vec::Zero(1)};
  const auto certificate = certify(problem, start, end);
  EXPECT_TRUE(certificate.holds()) << certificate.text();
}

TEST(Certificate, IsGivenWhereALongDifferenceLeavesTheDomainOfF) {
  const double unit = 1e-6;
  const InTwoNumbers problem([=](double x, double y) { // φ = F = log(x/u)
    return Scalars{y - x, 1.0, -1.0, std::log(x / unit), 1.0 / x, 0.0};
  });
  const State<Vec> start{Vec::Constant(1, unit), Vec::Constant(1, unit), Vec::Zero(1)};
  const State<Vec> end{Vec::Constant(1, 3.0 * unit), Vec::Constant(1, 3.0 * unit), Vec::Zero(1)};
  const auto certificate = certify(problem, start, end);
  EXPECT_TRUE(certificate.holds()) << certificate.text();
}

TEST(Certificate, IsOfTheMinimizerThatTheRunHasFoundWhateverTheStart) {
  // f = (y² − 1)²/4 with two minimizers, F = x² + (y − 1)²/2; at y = 0 there is no ∇φ.
  const InTwoNumbers problem([](double x, double y) {
    return Scalars{y * y * y - y, 3.0 * y * y - 1.0, 0.0, x * x + 0.5 * (y - 1.0) * (y - 1.0), 2.0 * x, y - 1.0};
  });
  const State<Vec> end{Vec::Zero(1), Vec::Ones(1), Vec::Zero(1)};
  for (const double y : {-1.0, 0.0}) {
    const State<Vec> start{Vec::Ones(1), Vec::Constant(1, y), Vec::Zero(1)};
    const auto certificate = certify(problem, start, end);
    EXPECT_TRUE(certificate.holds()) << certificate.text();
    EXPECT_EQ(certificate.lower_error, 0.0);
    EXPECT_EQ(certificate.first_hypergradient.has_value(), y != 0.0);
  }
}

TEST(Certificate, IsOfTheMinimizerThatTheUpperLevelPrefersWhereTheLowerLevelHasMany) {
  const auto problem = MultipleMinimizersSettings{.n = 4}.make<double>(); // φ = ½‖x − e‖²
  const auto certificate = certify(problem, problem.start(), problem.start());
  EXPECT_TRUE(certificate.holds()) << certificate.text();
  EXPECT_NEAR(certificate.hypergradient, 2.0 * 0.99, 1e-12);
  EXPECT_NEAR(certificate.value, 2.0 * 0.99 * 0.99, 1e-12);
}

TEST(Certificate, SaysWhyThereIsNoneWhereTheLowerLevelHasNoMinimizer) {
  auto data = settings.generate<double>().data();
  data.lower_hessian.setZero();
  const Quadratic<double> problem(std::move(data));
  const auto certificate = certify(problem, problem.start(), problem.start());
  EXPECT_FALSE(certificate.holds());
  EXPECT_CONTAINS(certificate.unavailable, "singular");
  EXPECT_GT(certificate.blocks.residual(), 0.0);
}

TEST(Certificate, RefutesARunThatEndsWhereTheHypergradientIsNotSmall) {
  const CounterExample problem(IdentityMatrix(3), Vec(Vec::Ones(3)));
  auto state = problem.start();
  const auto summary = solve(problem, Nosa{}, state, {.direction_tolerance = 1e-8});
  ASSERT_EQ(summary.termination, Termination::direction_tolerance);
  const auto certificate = certify(problem, problem.start(), state, {.claims = {.slope = 1e-8}});
  EXPECT_FALSE(certificate.holds());
  EXPECT_TRUE(certificate.is_consistent());
  EXPECT_CONTAINS(certificate.text(), "is REFUTED: ‖∇φ(x)‖ = 1.15");
  EXPECT_FALSE(certify(problem, problem.start(), state, {.claims = {.kkt = 1e-8}}).holds());
  EXPECT_FALSE(certify(problem, problem.start(), state, {.claims = {.relative_slope = 1e-8}}).holds());
  EXPECT_TRUE(certify(problem, problem.start(), state, {.claims = {.slope = 1.2}}).holds());
}

} // namespace
} // namespace duplex::testing
