// Runs that end, and go back, where a loss on samples that neither level sees was smallest.

#include "quadratic_run.hpp"
#include "saved_run.hpp"
#include "support.hpp"

#include <duplex/problems/hyper_cleaning.hpp>

#include <limits>

namespace duplex::testing {
namespace {

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
  const auto problem = small_quadratic.generate<double>();
  auto state = problem.start();
  Monitor<Vec> unmeasured;
  unmeasured.hold_out = HoldOut{};
  EXPECT_EQ(refusal([&] { (void)solve(problem, calm, state, {}, unmeasured); }),
            "monitor: the hold-out's metric 'held-out' is not among the metrics");
  EXPECT_CONTAINS(refusal([&] { (void)solve(problem, calm, state, {}, falling_until(10, 0)); }),
                  "the patience of the hold-out is 0, expected a whole number >= 1");
}

TEST(HoldOut, StopsWhereTheLossRisesAndGoesBackToTheSmallest) {
  const auto problem = small_quadratic.generate<double>();
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
  const auto problem = small_quadratic.generate<double>();
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
  const auto problem = small_quadratic.generate<double>();
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
  const auto problem = small_quadratic.generate<double>();
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

} // namespace
} // namespace duplex::testing
