// Which rule ends a run where several would.

#include "scripted_run.hpp"

#include <duplex/run/stop_rule.hpp>

namespace duplex::testing {
namespace {

using detail::Claims;
using detail::DirectionHistory;
using detail::StopRule;

constexpr std::int64_t last_step = 9;

/// At step 9 after eight in which ‖d‖ was 1, by rules that all of them may stop the run.
StopRule rule_met(double direction, StepReport report) {
  ScriptedRun run({}, MethodTraits{.own_tolerance = 1e-6});
  DirectionHistory directions({.direction_tolerance = 0.5, .patience = 4});
  for (std::int64_t step = 1; step < last_step; ++step) {
    directions.see(1.0);
    directions.learn(step, 1.0, false);
  }
  run.context.report = std::move(report);
  run.context.summary.direction_norm = direction;
  return detail::stop_rule_met(last_step, run.context, Claims<Vec>(run.context, false), directions);
}

TEST(TheStopRule, IsAClaimBeforeAllOthers) {
  EXPECT_EQ(rule_met(0.1, {.stuck = true, .claims = 1e-6}), StopRule::claim);
}

TEST(TheStopRule, IsTheToleranceBeforeWhatIsStuck) {
  EXPECT_EQ(rule_met(0.1, {.stuck = true}), StopRule::direction_tolerance);
}

TEST(TheStopRule, IsWhatIsStuckBeforeWhatStandsStill) {
  EXPECT_EQ(rule_met(1.0, {.stuck = true}), StopRule::stuck);
  EXPECT_EQ(rule_met(1.0, {}), StopRule::stands_still);
}

TEST(TheStopRule, JudgesNoTentativeStepByItsTolerance) {
  EXPECT_EQ(rule_met(0.1, {.stuck = true, .tentative = true}), StopRule::stuck);
}

TEST(TheStopRule, IsNoneWhereNothingAsksToStop) {
  ScriptedRun run({}, MethodTraits{.own_tolerance = 1e-6});
  run.context.summary.direction_norm = 0.0;
  EXPECT_EQ(detail::stop_rule_met(last_step, run.context, Claims<Vec>(run.context, false), DirectionHistory(Options{})),
            StopRule::none);
}

} // namespace
} // namespace duplex::testing
