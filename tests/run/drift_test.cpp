// Runs that drift apart before a number breaks, and runs that stand still.

#include "quadratic_run.hpp"
#include "saved_run.hpp"
#include "support.hpp"
#include "two_numbers.hpp"

#include <duplex/run/drift.hpp>

#include <cstdint>
#include <vector>

namespace duplex::testing {
namespace {

/// f = ½(y − x)² and F = ½x² + ½y², looked at with x and v held, so that the residual is that of y alone.
const InTwoNumbers two_squares([](double x, double y) {
  return Scalars{y - x, 1.0, -1.0, 0.5 * x * x + 0.5 * y * y, x, y};
});

/// What a watch sees of these y, at the first steps at which it is due.
std::vector<bool> growth_seen(const std::vector<double> &values, detail::DriftWatch<Vec> watch) {
  std::vector<bool> seen;
  std::int64_t step = 0;
  for (const double y : values) {
    while (!watch.due(step)) {
      ++step;
    }
    seen.push_back(watch.sees_growth(step, {Vec::Zero(1), Vec::Constant(1, y), Vec::Zero(1)}));
  }
  return seen;
}
std::vector<bool> growth_seen(const std::vector<double> &values) {
  return growth_seen(values, detail::DriftWatch<Vec>(ProblemView<Vec>(two_squares), 0));
}

TEST(DriftWatch, SeesAResidualThatGrowsAtTwoLooksFarBeyondItsSmallest) {
  EXPECT_EQ(growth_seen({1.0, 1e2, 1e4}), (std::vector<bool>{false, false, true}));
  EXPECT_EQ(growth_seen({1.0, 1e4}), (std::vector<bool>{false, false}));                // once
  EXPECT_EQ(growth_seen({1.0, 10.0, 100.0}), (std::vector<bool>{false, false, false})); // not far
  EXPECT_EQ(growth_seen({1.0, 1e4, 1.0, 1e4}), (std::vector<bool>(4, false)));          // not in a row
  EXPECT_EQ(growth_seen({1.0, 1e4, 1.5e4, 2e4}), (std::vector<bool>(4, false)));        // hardly
}

TEST(DriftWatch, LooksAfterSixteenStepsAndThenEverMoreRarely) {
  detail::DriftWatch<Vec> watch(ProblemView<Vec>(two_squares), 100);
  EXPECT_FALSE(watch.due(115));
  EXPECT_TRUE(watch.due(116));
  const State<Vec> state{Vec::Zero(1), Vec::Ones(1), Vec::Zero(1)};
  (void)watch.sees_growth(300, state);
  EXPECT_FALSE(watch.due(399));
  EXPECT_TRUE(watch.due(400)); // half as many steps again since it began
}

TEST(DriftWatch, TellsFromWhereToWhereTheResidualGrew) {
  detail::DriftWatch<Vec> watch(ProblemView<Vec>(two_squares), 0);
  const auto look = [&](std::int64_t step, double y) {
    (void)watch.sees_growth(step, {Vec::Zero(1), Vec::Constant(1, y), Vec::Zero(1)});
  };
  look(16, 2.0);
  look(32, 1.0);
  EXPECT_FALSE(watch.drift().lagrangian_rose);
  look(48, 10.0);
  look(72, 100.0);
  EXPECT_EQ(watch.drift().from, 32);
  EXPECT_EQ(watch.drift().to, 72);
  EXPECT_LT(watch.drift().before, 2.0);
  EXPECT_GT(watch.drift().after, 100.0);
  EXPECT_TRUE(watch.drift().lagrangian_rose);
}

TEST(Drift, OfAMultiplierThatGrowsSlowlyIsMendedLongBeforeItBreaks) {
  const auto problem = small_quadratic.generate<double>();
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
  const auto problem = small_quadratic.generate<double>();
  auto plain = problem.start();
  auto watched = problem.start();
  (void)solve(problem, calm, plain, {.max_iterations = 3000});
  const auto summary = solve(problem, calm, watched, {.max_iterations = 3000, .recoveries = 12});
  EXPECT_TRUE(summary.recoveries.empty());
  EXPECT_TRUE(same_bits(plain, watched));
}

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
  const auto problem = small_quadratic.generate<double>();
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
  const auto problem = small_quadratic.generate<double>();
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
  const auto problem = small_quadratic.generate<double>();
  auto state = problem.start();
  const auto summary = solve(problem, calm, state, {.max_iterations = 100, .recoveries = 12, .patience = 1});
  for (const auto &recovery : summary.recoveries) {
    EXPECT_EQ(recovery.find("below inf"), std::string::npos) << recovery;
  }
}

} // namespace
} // namespace duplex::testing
