// Early stopping by a metric that no longer falls enough, and runs that it calls broken. The plain rule is tested in
// hold_out_test.cpp.

#include "quadratic_run.hpp"
#include "saved_run.hpp"
#include "support.hpp"
#include "two_numbers.hpp"

#include <cmath>
#include <limits>

namespace duplex::testing {
namespace {

/// A metric that depends on the step alone.
template <class Formula> Monitor<Vec> step_watched(const HoldOut &rule, const Formula &formula) {
  Monitor<Vec> monitor;
  monitor.metrics.push_back(
      {"held-out", [formula](const Progress<Vec> &progress) { return formula(progress.iteration); }});
  monitor.hold_out = rule;
  return monitor;
}

/// ‖y‖, which grows without end where the steps of y are too long.
Monitor<Vec> norm_of_y_watched(double relative_rise) {
  Monitor<Vec> monitor;
  monitor.metrics.push_back({"‖y‖", [](const Progress<Vec> &progress) { return progress.state.y.norm(); }});
  monitor.hold_out = HoldOut{.metric = "‖y‖", .patience = 1000, .relative_rise = relative_rise, .absolute_rise = 1.0};
  return monitor;
}

TEST(EarlyStopping, RefusesRulesThatCannotBe) {
  const auto problem = small_quadratic.generate<double>();
  auto state = problem.start();
  const auto refused = [&](const HoldOut &rule) {
    return refusal([&] { (void)solve(problem, calm, state, {}, step_watched(rule, [](auto) { return 1.0; })); });
  };
  EXPECT_EQ(refused({.least_improvement = 1.0}),
            "monitor: the least improvement of the hold-out is 1, expected >= 0 and < 1");
  EXPECT_CONTAINS(refused({.least_improvement = std::numeric_limits<double>::quiet_NaN()}),
                  "the least improvement of the hold-out is nan");
  EXPECT_EQ(refused({.relative_rise = -0.1}), "monitor: the relative rise of the hold-out is -0.1, expected >= 0");
  EXPECT_CONTAINS(refused({.relative_rise = 0.1, .absolute_rise = infinity}),
                  "the absolute rise of the hold-out is inf");
  EXPECT_CONTAINS(refused({.patience = 2'000'000, .least_improvement = 0.1}),
                  "the patience of the hold-out is 2000000, expected a whole number >= 1 and <= 1e+06");
}

TEST(EarlyStopping, EndsWhereTheMetricFallsByTooLittleInSoManyLooks) {
  const auto problem = small_quadratic.generate<double>();
  const auto falls = [](std::int64_t step) { // by a tenth at each look until step 20, then by a thousandth
    const auto slow = static_cast<double>(std::max<std::int64_t>(0, step - 20));
    return std::pow(0.9, static_cast<double>(std::min<std::int64_t>(step, 20))) * std::pow(0.999, slow);
  };
  auto state = problem.start();
  const auto summary = solve(problem, calm, state, {.max_iterations = 100},
                             step_watched({.patience = 4, .least_improvement = 0.01}, falls));
  EXPECT_EQ(summary.termination, Termination::overfitted);
  EXPECT_EQ(summary.iterations, 24); // in the last four looks by .4 %
  auto last = problem.start();
  (void)run_steps(problem, calm, last, 24);
  EXPECT_TRUE(same_bits(state, last)); // which is the best: it still fell
  auto patient = problem.start();
  EXPECT_EQ(solve(problem, calm, patient, {.max_iterations = 100},
                  step_watched({.patience = 4, .least_improvement = 0.003}, falls))
                .termination,
            Termination::max_iterations);
}

TEST(EarlyStopping, GoesBackToTheBestStateBeforeTheEnd) {
  const auto problem = small_quadratic.generate<double>();
  const auto turns = [](std::int64_t step) { return 2.0 + std::abs(static_cast<double>(step - 10)); };
  auto best = problem.start();
  (void)run_steps(problem, calm, best, 10);
  auto state = problem.start();
  const auto summary = solve(problem, calm, state, {}, step_watched({.patience = 4, .least_improvement = 0.01}, turns));
  EXPECT_EQ(summary.termination, Termination::overfitted);
  EXPECT_EQ(summary.iterations, 12); // where it is 4, as it was at step 8
  EXPECT_TRUE(same_bits(state, best));
  EXPECT_CONTAINS(summary.message, "the state is that of step 10");
}

TEST(EarlyStopping, JudgesMetricsBelowZeroAlike) {
  const auto problem = small_quadratic.generate<double>();
  auto state = problem.start();
  const auto summary = solve(problem, calm, state, {.max_iterations = 100},
                             step_watched({.patience = 4, .least_improvement = 0.01}, [](auto) { return -10.0; }));
  EXPECT_EQ(summary.termination, Termination::overfitted);
  EXPECT_EQ(summary.iterations, 5);
}

TEST(EarlyStopping, MayFindTheStartToBeTheBest) {
  const auto problem = small_quadratic.generate<double>();
  auto monitor = step_watched({.patience = 3, .least_improvement = 0.01},
                              [](std::int64_t step) { return 1.0 + static_cast<double>(step); });
  monitor.cadence.from_start = true;
  auto state = problem.start();
  EXPECT_EQ(solve(problem, calm, state, {.max_iterations = 50}, monitor).termination, Termination::overfitted);
  EXPECT_TRUE(same_bits(state, problem.start()));
}

TEST(EarlyStopping, MayBeAskedForByAnotherRuleWhereARunGoesOn) {
  const auto problem = small_quadratic.generate<double>();
  const auto constant = [](auto) { return 1.0; };
  SavedState saved;
  const Saving keeping{.save = [&](const SavedState &state) { saved = state; }, .every_seconds = infinity};
  auto state = problem.start();
  (void)solve(problem, calm, state, {.max_iterations = 3, .saving = &keeping},
              step_watched({.patience = 50}, constant));
  const Saving from{.from = &saved};
  const auto summary = solve(problem, calm, state, {.max_iterations = 50, .saving = &from},
                             step_watched({.patience = 4, .least_improvement = 0.01}, constant));
  EXPECT_EQ(summary.termination, Termination::overfitted);
  EXPECT_EQ(summary.iterations, 8); // a whole window after step 3
}

TEST(EarlyStopping, AsksForAWholeWindowFirst) {
  const auto problem = small_quadratic.generate<double>();
  auto state = problem.start();
  const auto summary = solve(problem, calm, state, {},
                             step_watched({.patience = 6, .least_improvement = 0.01}, [](auto) { return 1.0; }));
  EXPECT_EQ(summary.iterations, 7);
}

TEST(EarlyStopping, EndsABrokenRunThatMayNotRecover) {
  const auto problem = small_quadratic.generate<double>();
  auto state = problem.start();
  const auto rises = [](std::int64_t step) { return step < 6 ? 1.0 : 1.4; };
  const auto summary =
      solve(problem, calm, state, {}, step_watched({.relative_rise = 0.25, .absolute_rise = 0.1}, rises));
  EXPECT_EQ(summary.termination, Termination::diverged);
  EXPECT_EQ(summary.iterations, 6);
  EXPECT_EQ(summary.message, "held-out was 1 and is 1.4 at step 6; try a smaller beta");
  auto other = problem.start();
  const auto not_finite = [](std::int64_t step) { return step < 3 ? -1.0 : std::numeric_limits<double>::infinity(); };
  const auto of_infinity = solve(problem, calm, other, {}, step_watched({.relative_rise = 0.25}, not_finite));
  EXPECT_EQ(of_infinity.message, "held-out was -1 and is not finite at step 3; try a smaller beta");
}

TEST(EarlyStopping, DoesNotCallARiseWithinItsBoundsABreak) {
  const auto problem = small_quadratic.generate<double>();
  const auto rises = [](std::int64_t step) { return step < 6 ? -4.0 : -2.9; }; // by a quarter of 4 and .1
  const HoldOut rule{.patience = 1000, .relative_rise = 0.25, .absolute_rise = 0.1};
  auto state = problem.start();
  EXPECT_EQ(solve(problem, calm, state, {.max_iterations = 20}, step_watched(rule, rises)).termination,
            Termination::max_iterations);
}

TEST(EarlyStopping, HalvesTheStepsOfTheLowerLevelOfABrokenRun) {
  const auto problem = small_quadratic.generate<double>();
  Bagdc wild = calm;
  wild.beta = 3.0; // λ is about one
  wild.eta = 0.75;
  auto state = problem.start();
  const auto summary =
      solve(problem, wild, state, {.max_iterations = 400, .divergence_factor = infinity, .recoveries = 8},
            norm_of_y_watched(2.0));
  EXPECT_EQ(summary.termination, Termination::max_iterations);
  ASSERT_EQ(summary.recoveries.size(), 1U) << summary.recoveries.back();
  EXPECT_CONTAINS(summary.recoveries.front(), "‖y‖ was ");
  EXPECT_CONTAINS(summary.recoveries.front(), "back to step 2 with beta = 1.5, eta = 0.375");
  EXPECT_LT(state.y.norm(), 10.0);
}

TEST(EarlyStopping, JudgesARunThatRecoveredByWhatFollows) {
  const auto problem = small_quadratic.generate<double>();
  auto best = problem.start();
  (void)run_steps(problem, calm, best, 4);
  auto state = problem.start();
  const auto metric = [](std::int64_t step) { // it falls to 1, breaks, and stands at 2 after the recovery
    return step < 5 ? 5.0 - static_cast<double>(step) : step == 5 ? 9.0 : 2.0;
  };
  const auto summary = solve(problem, calm, state, {.max_iterations = 50, .recoveries = 5},
                             step_watched({.patience = 4, .least_improvement = 0.01, .relative_rise = 0.25}, metric));
  EXPECT_EQ(summary.recoveries.size(), 1U);
  EXPECT_EQ(summary.termination, Termination::overfitted);
  EXPECT_EQ(summary.iterations, 10); // five looks after the recovery
  EXPECT_TRUE(same_bits(state, best));
}

TEST(EarlyStopping, LeavesARunThatBreaksAtItsLastStepAtItsBestState) {
  const auto problem = small_quadratic.generate<double>();
  auto best = problem.start();
  (void)run_steps(problem, calm, best, 5);
  auto state = problem.start();
  const auto summary = solve(problem, calm, state, {.max_iterations = 6, .recoveries = 3},
                             step_watched({.relative_rise = 0.25}, [](std::int64_t step) {
                               return step == 6 ? 9.0 : 6.0 - static_cast<double>(step);
                             }));
  EXPECT_EQ(summary.termination, Termination::max_iterations);
  EXPECT_TRUE(summary.recoveries.empty());
  EXPECT_TRUE(same_bits(state, best));
}

/// f = −½y² + ¼y⁴ − xy, which is not convex at its start, and F = ½(x − 1)² + ½y².
Scalars double_well(double x, double y) {
  return {.fy = y * y * y - y - x,
          .fyy = 3.0 * y * y - 1.0,
          .fxy = -1.0,
          .value = 0.5 * (x - 1.0) * (x - 1.0) + 0.5 * y * y,
          .fx = x - 1.0,
          .gy = y};
}

TEST(EarlyStopping, MendsRunsWhoseLowerLevelIsNotConvex) {
  const InTwoNumbers problem(double_well);
  const Bagdc wild{.alpha = 1e-3, .beta = 1.5, .eta = 1e-3, .dual = DualStep::constant};
  const State<Vec> start{Vec::Zero(1), Vec::Constant(1, 0.1), Vec::Zero(1)};
  auto state = start;
  const auto summary = solve(problem, wild, state, {.max_iterations = 200, .recoveries = 5}, norm_of_y_watched(1.0));
  EXPECT_FALSE(summary.failed()) << summary.brief();
  EXPECT_FALSE(summary.recoveries.empty());
  auto unwatched = start;
  EXPECT_TRUE(solve(problem, wild, unwatched, {.max_iterations = 200, .recoveries = 5}).recoveries.empty());
}

TEST(EarlyStopping, GoesOnToTheSameBitsBeforeAndAfterARecovery) {
  const auto problem = small_quadratic.generate<double>();
  Bagdc wild = calm;
  wild.beta = 3.0;
  Monitor<Vec> monitor = norm_of_y_watched(2.0);
  monitor.hold_out->patience = 6;
  monitor.hold_out->least_improvement = 1e-4;
  monitor.cadence = {.every = 3};
  const auto run = [&](State<Vec> &state, std::int64_t most, const Saving *saving) {
    return solve(problem, wild, state,
                 {.max_iterations = most, .divergence_factor = infinity, .recoveries = 8, .saving = saving}, monitor);
  };
  auto whole = problem.start();
  const auto uninterrupted = run(whole, 500, nullptr);
  ASSERT_EQ(uninterrupted.termination, Termination::overfitted) << uninterrupted.brief();
  ASSERT_FALSE(uninterrupted.recoveries.empty());
  for (std::int64_t saved_at = 1; saved_at < uninterrupted.iterations; ++saved_at) {
    SavedState saved;
    const Saving keeping{
        .save = [&](const SavedState &at) { saved = checkpoint::decoded(checkpoint::encoded(at), "memory"); },
        .every_seconds = infinity};
    auto part = problem.start();
    if (run(part, saved_at, &keeping).failed()) {
      continue; // it breaks at the limit, where it does not recover
    }
    const Saving going_on{.from = &saved};
    auto rest = problem.start();
    const auto resumed = run(rest, 500, &going_on);
    EXPECT_EQ(resumed.iterations, uninterrupted.iterations) << saved_at;
    EXPECT_EQ(resumed.recoveries, uninterrupted.recoveries) << saved_at;
    EXPECT_TRUE(same_bits(rest, whole)) << saved_at;
  }
}

TEST(EarlyStopping, RefusesASavedWindowThatIsTooLong) {
  const auto problem = small_quadratic.generate<double>();
  const auto monitor = step_watched({.patience = 4, .least_improvement = 0.01}, [](auto) { return 1.0; });
  SavedState saved;
  const Saving keeping{.save = [&](const SavedState &state) { saved = state; }, .every_seconds = infinity};
  auto state = problem.start();
  (void)solve(problem, calm, state, {.max_iterations = 3, .saving = &keeping}, monitor);
  saved.put("watch.best.recent count", SavedState::Integers{6});
  const Saving going_on{.from = &saved};
  EXPECT_CONTAINS(refusal([&] { (void)solve(problem, calm, state, {.saving = &going_on}, monitor); }),
                  "'watch.best.recent' of the saved state has 6 members, expected at most 5");
}

} // namespace
} // namespace duplex::testing
