// What becomes of a run that breaks, drifts apart or stands still.

#include "scripted_run.hpp"

#include <duplex/run/rescue.hpp>

namespace duplex::testing {
namespace {

using detail::DirectionHistory;
using detail::Rescue;

constexpr Options with_tries{.recoveries = 2};

/// A run of which a step was good at step 20, and whose next broke y.
struct BrokenRun : ScriptedRun {
  explicit BrokenRun(Options given = with_tries, TwoSquares of = TwoSquares())
      : ScriptedRun(given, {}, std::move(of)), directions(options), rescue(context, directions, false) {
    state = numbers(0.5, 0.25, 0.0);
    report(20, 1.0);
    rescue.learn(20);
    report(21, 1.0);
    breaks();
  }
  void report(std::int64_t step, double direction) {
    context.summary.iterations = step;
    context.summary.direction_norm = direction;
    directions.see(direction);
  }
  void breaks() { state.y = number(std::numeric_limits<double>::quiet_NaN()); }

  DirectionHistory directions;
  Rescue<Vec> rescue;
};

TEST(Rescue, DoesNothingWhereNoRecoveriesAreAllowed) {
  BrokenRun run((Options()));
  EXPECT_FALSE(run.rescue.exists());
  EXPECT_TRUE(run.rescue.is_exhausted());
  EXPECT_FALSE(run.rescue.looks_for_drift_at(1000));
  EXPECT_FALSE(run.rescue.from_break());
  EXPECT_TRUE(std::isnan(run.state.y[0]));
  EXPECT_TRUE(run.context.summary.recoveries.empty());
  EXPECT_CONTAINS(run.rescue.diagnosis().text, "lower level: y is not finite at step 21");
}

TEST(Rescue, GoesBackToTheLastGoodStateAndSaysSo) {
  BrokenRun run;
  ASSERT_TRUE(run.rescue.from_break());
  EXPECT_TRUE(same_bits(run.state, numbers(0.5, 0.25, 0.0)));
  ASSERT_EQ(run.context.summary.recoveries.size(), 1U);
  EXPECT_CONTAINS(run.context.summary.recoveries[0], "lower level: y is not finite at step 21");
  EXPECT_CONTAINS(run.context.summary.recoveries[0], "; back to step 20 with ");
}

TEST(Rescue, GoesBackToTheStartWhereNoOtherStateIsKnownToBeGood) {
  ScriptedRun run(with_tries);
  DirectionHistory directions(run.options);
  Rescue<Vec> rescue(run.context, directions, false);
  run.state = numbers(0.5, 0.25, 0.0);
  run.context.report.tentative = true;
  rescue.learn(20); // of which the method itself does not know yet what it is worth
  run.context.report.tentative = false;
  rescue.learn(1); // which says nothing, since x and v may start where d vanishes
  run.state.y = number(std::numeric_limits<double>::quiet_NaN());
  ASSERT_TRUE(rescue.from_break());
  EXPECT_TRUE(same_bits(run.state, numbers(1.0, 0.0, 0.0)));
}

TEST(Rescue, BeginsTheMethodAnewWithTheStepsThatAreLeftToIt) {
  BrokenRun run(with_tries, TwoSquares(1000.0)); // on which beta = 0.5 is too long
  run.context.report.steps = {.alpha = 0.1, .beta = 0.5};
  ASSERT_TRUE(run.rescue.from_break());
  EXPECT_EQ(run.method.times_begun, 0);
  run.rescue.begin_anew();
  EXPECT_EQ(run.method.times_begun, 1);
  EXPECT_EQ(run.method.times_from_before, 1);
  EXPECT_NEAR(run.method.step_options.all()[1].value, 0.5 / 1000.0, 1e-6); // half of the inverse curvature
  EXPECT_EQ(run.method.step_options.all()[0].value, 0.1);
}

TEST(Rescue, EndsWhenItsTriesAreUsedUp) {
  BrokenRun run;
  EXPECT_TRUE(run.rescue.from_break());
  EXPECT_FALSE(run.rescue.is_exhausted());
  run.breaks();
  EXPECT_TRUE(run.rescue.from_break());
  EXPECT_TRUE(run.rescue.is_exhausted());
  run.breaks();
  EXPECT_FALSE(run.rescue.from_break());
  EXPECT_EQ(run.context.summary.recoveries.size(), 2U);
}

TEST(Rescue, DoesNotTryALowerLevelThatNoStepMends) {
  BrokenRun hopeless(with_tries, TwoSquares(-1.0));
  EXPECT_FALSE(hopeless.rescue.from_break());
  EXPECT_CONTAINS(hopeless.rescue.bad_lower_level(ProblemView<Vec>(hopeless.problem)),
                  "the lower level is not convex in y");
  BrokenRun convex;
  EXPECT_EQ(convex.rescue.bad_lower_level(ProblemView<Vec>(convex.problem)), "");
}

TEST(Rescue, SeesADriftBeforeANumberBreaks) {
  ScriptedRun run(with_tries);
  DirectionHistory directions(run.options);
  Rescue<Vec> rescue(run.context, directions, false);
  run.method.step_options = StepOptions({{Role::lower_step, "beta", 3.0}});
  run.context.report.steps = {.beta = 3.0}; // too long for a curvature of one
  EXPECT_FALSE(rescue.looks_for_drift_at(15));
  EXPECT_TRUE(rescue.looks_for_drift_at(16));
  EXPECT_FALSE(rescue.from_drift(16));
  run.state.y = number(1e2);
  EXPECT_FALSE(rescue.from_drift(32));
  run.state.y = number(1e6);
  EXPECT_FALSE(rescue.from_drift(40)); // which is too soon to look
  EXPECT_TRUE(rescue.from_drift(48));
  EXPECT_TRUE(same_bits(run.state, numbers(1.0, 0.0, 0.0)));
  EXPECT_CONTAINS(run.context.summary.recoveries.at(0), "the KKT residual grew from ");
  EXPECT_CONTAINS(run.context.summary.recoveries.at(0), "the steps of y are too long, beta = 3");
}

TEST(Rescue, LooksForNoDriftWhereItCouldNotTellOne) {
  ScriptedRun choosing(with_tries, {.own_tolerance = 1e-6});
  DirectionHistory directions(choosing.options);
  EXPECT_FALSE(Rescue<Vec>(choosing.context, directions, false).looks_for_drift_at(1000));
  ScriptedRun sampled(with_tries);
  sampled.context.subject.sees_whole = false;
  EXPECT_FALSE(Rescue<Vec>(sampled.context, directions, false).looks_for_drift_at(1000));
}

TEST(Rescue, ExplainsAStandstillByTheStepThatIsTooLong) {
  ScriptedRun run({.recoveries = 1, .patience = 10});
  DirectionHistory directions(run.options);
  Rescue<Vec> rescue(run.context, directions, false);
  directions.see(1.0);
  directions.learn(2, 0.5, false);
  run.context.summary.iterations = 12;
  run.context.summary.direction_norm = 0.75;
  run.context.report.steps = {.alpha = 0.1, .beta = 2.5};
  EXPECT_CONTAINS(rescue.diagnosis().text, "‖d‖ has not fallen below 0.5 for 10 steps, until step 12: the steps of y");
}

TEST(Rescue, IsSavedWithItsTriesItsTextsAndItsSteps) {
  BrokenRun run(with_tries, TwoSquares(1000.0));
  run.context.report.steps = {.alpha = 0.1, .beta = 0.5};
  ASSERT_TRUE(run.rescue.from_break());
  SavedState saved;
  run.rescue.save(saved);
  ScriptedRun later; // without any recoveries of its own
  DirectionHistory directions(later.options);
  Rescue<Vec> rescue(later.context, directions, false);
  EXPECT_TRUE(rescue.go_on_from(saved));
  EXPECT_TRUE(rescue.is_exhausted());
  EXPECT_EQ(later.context.summary.recoveries, run.context.summary.recoveries);
  rescue.begin_anew();
  EXPECT_NEAR(later.method.step_options.all()[1].value, 0.5 / 1000.0, 1e-6);
  EXPECT_FALSE(Rescue<Vec>(later.context, directions, false).go_on_from(SavedState()));
}

} // namespace
} // namespace duplex::testing
