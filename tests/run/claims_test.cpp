// What becomes of a method's word that it has succeeded.

#include "scripted_run.hpp"

#include <duplex/run/claims.hpp>

namespace duplex::testing {
namespace {

using detail::Claims;

constexpr MethodTraits claiming{.own_tolerance = 1e-6};

TEST(Claims, AreNotMadeByAMethodWhoseStepsAreGiven) {
  ScriptedRun run;
  Claims<Vec> claims(run.context, false);
  run.context.report.claims = 1e-6;
  EXPECT_FALSE(claims.exist());
  EXPECT_FALSE(claims.made_now());
  EXPECT_EQ(claims.end_where_stuck(Termination::stagnated, Termination::not_run), Termination::stagnated);
  EXPECT_EQ(claims.of_stuck(), "");
  EXPECT_EQ(claims.met_already(Termination::tolerance_verified), Termination::not_run);
  EXPECT_EQ(claims.text(), "");
}

TEST(Claims, AreMadeByTheLastStepUnlessTheCallerAskedForAnotherTolerance) {
  ScriptedRun run({}, claiming);
  EXPECT_FALSE(Claims<Vec>(run.context, false).made_now());
  run.context.report.claims = 1e-6;
  EXPECT_TRUE(Claims<Vec>(run.context, false).made_now());
  EXPECT_FALSE(Claims<Vec>(run.context, true).made_now());
}

TEST(Claims, TellTheMethodWhatTheLowerLevelAnswersAtTheStartWhereThatIsNeededAnyway) {
  ScriptedRun run({}, claiming);
  Claims<Vec>(run.context, true).begin();
  EXPECT_EQ(run.method.known_start.size(), 0) << "another tolerance is asked for";
  run.method.asks_for_start = false;
  Claims<Vec> claims(run.context, false);
  claims.begin();
  EXPECT_EQ(run.method.known_start.size(), 0) << "the run begins otherwise";
  run.method.asks_for_start = true;
  claims.begin();
  ASSERT_EQ(run.method.known_start.size(), 1);
  EXPECT_NEAR(run.method.known_start[0], 1.0, 1e-12);
  run.method.known_start = {};
  claims.begin();
  EXPECT_EQ(run.method.known_start.size(), 0) << "it is known already";
}

TEST(Claims, AreVerifiedByTheHypergradientBesideThatOfTheStart) {
  ScriptedRun run({}, claiming);
  Claims<Vec> claims(run.context, false);
  run.context.report.claims = 1e-6;
  run.state = numbers(1e-3, 1e-3, 1e-3); // where the gradient is a thousandth of the first
  EXPECT_EQ(claims.verify(Termination::max_iterations), Termination::not_verified);
  EXPECT_NEAR(run.method.learned.slope.norm, 2e-3, 1e-6);
  EXPECT_NEAR(run.method.learned.first.norm, 2.0, 1e-3);
  run.method.has_more_to_try = true;
  EXPECT_EQ(claims.verify(Termination::max_iterations), Termination::max_iterations);
  run.state = numbers(1e-7, 1e-7, 1e-7);
  EXPECT_EQ(claims.verify(Termination::not_run), Termination::tolerance_verified);
  EXPECT_NE(claims.text(), "");
}

TEST(Claims, OfARunThatIsStuckAreVerifiedUnlessTheCallerAskedForAnotherTolerance) {
  ScriptedRun run({}, claiming);
  Claims<Vec> own(run.context, false);
  Claims<Vec> other(run.context, true);
  run.state = numbers(1e-7, 1e-7, 1e-7);
  EXPECT_EQ(own.end_where_stuck(Termination::stagnated, Termination::not_run), Termination::tolerance_verified);
  EXPECT_EQ(own.of_stuck(), "");
  EXPECT_EQ(other.end_where_stuck(Termination::stagnated, Termination::not_run), Termination::stagnated);
  EXPECT_TRUE(other.of_stuck().starts_with("; ")) << other.of_stuck();
}

TEST(Claims, OfARunThatDivergesLeaveTheStart) {
  ScriptedRun run({}, claiming);
  Claims<Vec> claims(run.context, false);
  run.state = numbers(3.0, 3.0, 3.0);
  claims.end_diverged();
  EXPECT_TRUE(same_bits(run.state, numbers(1.0, 0.0, 0.0)));
  EXPECT_EQ(claims.of_stuck(), "; the state is the start again");
}

TEST(Claims, OfARunThatIsStuckWhereTheSlopeHasGrownGoBackToTheStart) {
  ScriptedRun run({}, claiming);
  Claims<Vec> claims(run.context, false);
  run.state = numbers(0.5, 0.5, 0.5);
  EXPECT_EQ(claims.end_where_stuck(Termination::stagnated, Termination::not_run), Termination::stagnated);
  claims.leave_worse_state();
  EXPECT_EQ(run.state.x[0], 0.5);
  run.state = numbers(3.0, 3.0, 3.0);
  EXPECT_EQ(claims.end_where_stuck(Termination::stagnated, Termination::not_run), Termination::stagnated);
  EXPECT_EQ(run.state.x[0], 3.0) << "a recovery looks at what has broken";
  claims.leave_worse_state();
  EXPECT_TRUE(same_bits(run.state, numbers(1.0, 0.0, 0.0)));
  EXPECT_CONTAINS(claims.of_stuck(), "the state is the start again");
  claims.forget_end();
  EXPECT_EQ(claims.of_stuck(), "");
  run.state = numbers(3.0, 3.0, 3.0);
  claims.leave_worse_state();
  EXPECT_EQ(run.state.x[0], 3.0) << "the run has gone on";
}

TEST(Claims, OfARunThatIsStuckGoOnWhereTheMethodBeginsAnew) {
  ScriptedRun run({}, claiming);
  run.method.begins_anew = true;
  Claims<Vec> claims(run.context, false);
  run.state = numbers(0.5, 0.5, 0.5);
  EXPECT_EQ(claims.end_where_stuck(Termination::stagnated, Termination::max_iterations), Termination::max_iterations)
      << "a run that goes on from there has begun anew";
  EXPECT_EQ(claims.end_where_stuck(Termination::stagnated, Termination::not_run), Termination::not_run);
  EXPECT_NEAR(run.method.learned.slope.norm, 1.0, 1e-6);
  EXPECT_NEAR(run.method.learned.first.norm, 2.0, 1e-3);
  run.state = numbers(1e-7, 1e-7, 1e-7);
  EXPECT_EQ(claims.end_where_stuck(Termination::stagnated, Termination::not_run), Termination::tolerance_verified);
}

TEST(Claims, ThatAreNotVerifiedLeaveTheStartWhereTheSlopeHasGrown) {
  ScriptedRun run({}, claiming);
  Claims<Vec> claims(run.context, false);
  run.context.report.claims = 1e-6;
  run.state = numbers(3.0, 3.0, 3.0);
  EXPECT_EQ(claims.verify(Termination::not_run), Termination::not_verified);
  claims.leave_worse_state();
  EXPECT_TRUE(same_bits(run.state, numbers(1.0, 0.0, 0.0)));
  EXPECT_CONTAINS(claims.text(), "the state is the start again");
}

TEST(Claims, OfARunWhoseStepCouldNotBeDoneAreVerifiedToo) {
  ScriptedRun run({}, claiming);
  Claims<Vec> claims(run.context, false);
  run.state = numbers(0.5, 0.5, 0.5);
  EXPECT_EQ(claims.end_where_stuck(Termination::step_failed, Termination::not_run), Termination::step_failed);
  run.state = numbers(infinity, 0.5, 0.5);
  EXPECT_EQ(claims.end_where_stuck(Termination::step_failed, Termination::not_run), Termination::step_failed);
  claims.leave_worse_state();
  EXPECT_TRUE(same_bits(run.state, numbers(1.0, 0.0, 0.0)));
}

TEST(Claims, OfARunThatGoesOnHoldForATolerance) {
  ScriptedRun before({}, claiming);
  Claims<Vec> verified(before.context, false);
  before.context.report.claims = 1e-6;
  before.state = numbers(1e-7, 1e-7, 1e-7);
  ASSERT_EQ(verified.verify(Termination::not_run), Termination::tolerance_verified);
  const auto met = [&](double tolerance, Termination ended, bool asked_for_other = false, std::int64_t steps = 0) {
    ScriptedRun run({.max_iterations = 100}, {.own_tolerance = tolerance});
    Claims<Vec> claims(run.context, asked_for_other);
    hand_over(verified, claims);
    run.state = before.state;
    run.context.summary.iterations = steps;
    return claims.met_already(ended);
  };
  EXPECT_EQ(met(1e-6, Termination::tolerance_verified), Termination::tolerance_verified);
  EXPECT_EQ(met(1e-6, Termination::tolerance_verified, true), Termination::not_run);
  EXPECT_EQ(met(1e-9, Termination::tolerance_verified), Termination::not_run); // more is asked for than there is
  EXPECT_EQ(met(1e-6, Termination::not_verified), Termination::not_verified);  // nothing is left to try
  EXPECT_EQ(met(1e-5, Termination::not_verified), Termination::not_run);       // unless less will do
  EXPECT_EQ(met(1e-6, Termination::max_iterations), Termination::not_run);
  EXPECT_EQ(met(1e-6, Termination::max_iterations, false, 100), Termination::tolerance_verified);
}

} // namespace
} // namespace duplex::testing
