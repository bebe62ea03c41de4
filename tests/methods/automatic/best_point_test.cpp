// The point at which d was smallest, and the way back to it.

#include "archived.hpp"
#include "support.hpp"

#include <duplex/methods/automatic/best_point.hpp>

namespace duplex::testing {
namespace {

using automatic::BestPoint;
using automatic::CurrentPoint;
namespace rule = automatic::rule;

/// A run on f = ½y² − xy, F = ½(x − 1)² + ½y²: ∇φ = 2x − 1.
struct OnALine {
  CounterExample<double, DiagonalSpd<double>> problem{DiagonalSpd<double>(Vec(Vec::Ones(1))), Vec(Vec::Ones(1)), 0.0};
  CurrentPoint<Vec> current{ProblemView<Vec>(problem), problem.start(), 5};
  BestPoint<Vec> best{problem.start()};

  OnALine() {
    EXPECT_EQ(current.begin(), LinearStatus::converged);
    best.begin(current);
  }
  void move_to(double x) {
    current.state().x[0] = x;
    EXPECT_EQ(current.refresh(0.0), LinearStatus::converged);
  }
};

TEST(TheBestPoint, IsTheStartUntilThereIsABetterOne) {
  OnALine run;
  run.move_to(3.0);
  run.best.note(run.current);
  EXPECT_EQ(run.best.state().x[0], 0.0);
  run.move_to(0.4);
  run.best.note(run.current);
  EXPECT_EQ(run.best.state().x[0], 0.4);
  EXPECT_NEAR(run.best.slope(), 0.2, 1e-9);
}

TEST(TheBestPoint, IsWhereARunGoesBackToAndNeverTwiceForTheSame) {
  OnALine run;
  run.move_to(0.4);
  run.best.note(run.current);
  run.move_to(10.4); // ‖d‖ = 19.8 is 99 times the best
  EXPECT_FALSE(run.best.ran_away(run.current));
  run.move_to(10.6);
  EXPECT_TRUE(run.best.ran_away(run.current));
  EXPECT_EQ(run.best.go_back(run.current), LinearStatus::converged);
  EXPECT_EQ(run.current.state().x[0], 0.4);
  EXPECT_NEAR(run.current.d()[0], -0.2, 0.01) << "d is that of the best point";
  run.move_to(10.6);
  EXPECT_FALSE(run.best.ran_away(run.current));
  automatic::Findings found;
  run.best.report(found);
  EXPECT_EQ(found.restarts, 1);
}

TEST(TheBestPoint, IsGivenWhereTheRunIsAtAWorseOne) {
  OnALine run;
  run.move_to(0.45);
  run.best.note(run.current);
  run.move_to(2.0);
  run.best.give(run.current);
  EXPECT_EQ(run.current.state().x[0], 0.45);
  run.move_to(0.5);
  run.best.give(run.current);
  EXPECT_EQ(run.current.state().x[0], 0.5) << "a better one is kept";
}

TEST(TheBestPoint, SaysThatTheRunIsStalledAfterManyStepsWithoutABetterOne) {
  OnALine run;
  run.move_to(5.0);
  for (std::int64_t k = 0; k < rule::most_steps_without_progress; ++k) {
    run.best.note(run.current);
    ASSERT_FALSE(run.best.is_stalled());
  }
  OnALine restored;
  read_back(written(run.best), restored.best);
  run.best.note(run.current);
  EXPECT_TRUE(run.best.is_stalled());
  restored.move_to(5.0);
  restored.best.note(restored.current);
  EXPECT_TRUE(restored.best.is_stalled()) << "the count is saved";
  run.move_to(0.5);
  run.best.note(run.current);
  EXPECT_FALSE(run.best.is_stalled());
}

} // namespace
} // namespace duplex::testing
