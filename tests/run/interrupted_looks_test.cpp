// When a run is looked at, and what becomes of a look that is interrupted.

#include "quadratic_run.hpp"

#include <duplex/run/watch.hpp>

#include <atomic>

namespace duplex::testing {
namespace {

using Steps = std::vector<std::int64_t>;

/// A metric that is left in its middle at one step as long as somebody interrupts, and where it was measured.
class InterruptedLook final : public Observer<Vec> {
public:
  explicit InterruptedLook(std::int64_t at) : at_(at) {}

  void observe(const Progress<Vec> &progress) override { seen.push_back(progress.iteration); }

  [[nodiscard]] Monitor<Vec> monitor(const Cadence &cadence) {
    Monitor<Vec> monitor;
    monitor.metrics = {{"step", [this](const Progress<Vec> &progress) {
                          if (progress.iteration == at_) {
                            interrupt = true;
                          }
                          if (interrupt) {
                            throw Cancelled{};
                          }
                          return static_cast<double>(progress.iteration);
                        }}};
    monitor.observers = {this};
    monitor.cadence = cadence;
    return monitor;
  }

  std::atomic<bool> interrupt{false};
  Steps seen;

private:
  std::int64_t at_;
};

/// Where a run of ten steps is looked at that is interrupted by the look at one of them, and then goes on.
Steps looks_of_both_parts(const Cadence &cadence, std::int64_t interrupted_at) {
  const auto problem = small_quadratic.generate<double>();
  InterruptedLook first(interrupted_at);
  SavedState saved;
  const Saving keeping{.save = [&](const SavedState &state) { saved = state; }, .every_seconds = infinity};
  auto state = problem.start();
  const auto summary =
      solve(problem, calm, state, {.max_iterations = 10, .interrupt = &first.interrupt, .saving = &keeping},
            first.monitor(cadence));
  EXPECT_EQ(summary.termination, Termination::interrupted);
  EXPECT_EQ(summary.iterations, interrupted_at);
  InterruptedLook second(-1);
  const Saving from{.from = &saved};
  auto rest = problem.start();
  EXPECT_EQ(solve(problem, calm, rest, {.max_iterations = 10, .saving = &from}, second.monitor(cadence)).termination,
            Termination::max_iterations);
  first.seen.insert(first.seen.end(), second.seen.begin(), second.seen.end());
  return first.seen;
}

TEST(InterruptedLooks, AreTakenAgainBeforeTheFirstStepWhereLooksAreFromTheStart) {
  const Cadence cadence{.every = 4, .from_start = true};
  EXPECT_EQ(looks_of_both_parts(cadence, 0), (Steps{0, 4, 8, 10}));
  EXPECT_EQ(looks_of_both_parts(cadence, 4), (Steps{0, 4, 8, 10}));
}

TEST(InterruptedLooks, AreMadeUpForAtTheNextStepOtherwiseAndDelayNoOther) {
  EXPECT_EQ(looks_of_both_parts({.every = 4}, 5), (Steps{1, 6, 9, 10}));
}

TEST(InterruptedLooks, AtTheEndAreTakenWhereTheRunHasNothingElseLeftToDo) {
  const auto problem = small_quadratic.generate<double>();
  InterruptedLook first(10);
  SavedState saved;
  const Saving keeping{.save = [&](const SavedState &state) { saved = state; }, .every_seconds = infinity};
  const Cadence cadence{.every = 4, .from_start = true};
  auto state = problem.start();
  const Options ten{.max_iterations = 10, .interrupt = &first.interrupt, .saving = &keeping};
  EXPECT_EQ(solve(problem, calm, state, ten, first.monitor(cadence)).termination, Termination::interrupted);
  EXPECT_EQ(first.seen, (Steps{0, 4, 8}));
  InterruptedLook second(-1);
  auto monitor = second.monitor(cadence);
  monitor.target = Target{.metric = "step", .value = 10.0};
  const Saving from{.from = &saved};
  const auto summary = solve(problem, calm, state, {.max_iterations = 10, .saving = &from}, monitor);
  EXPECT_EQ(second.seen, (Steps{10}));
  EXPECT_EQ(summary.termination, Termination::target_reached);
}

TEST(LooksFromTheStart, MayEndARunBeforeItsFirstStep) {
  const auto problem = small_quadratic.generate<double>();
  Monitor<Vec> monitor;
  monitor.metrics = {{"zero", [](const Progress<Vec> &progress) { return progress.direction_norm; }}};
  monitor.target = Target{.metric = "zero"};
  monitor.cadence.from_start = true;
  auto state = problem.start();
  const auto summary = solve(problem, calm, state, {.max_iterations = 10}, monitor);
  EXPECT_EQ(summary.termination, Termination::target_reached);
  EXPECT_EQ(summary.iterations, 0);
  ASSERT_EQ(summary.metrics.size(), 1U);
  EXPECT_TRUE(same_bits(state, problem.start()));
}

TEST(AfterStep, IsCalledAfterEveryStepAndBeforeItsLook) {
  const auto problem = small_quadratic.generate<double>();
  Steps told;
  double last_seconds = 0.0;
  Monitor<Vec> monitor;
  monitor.metrics = {{"told", [&](const Progress<Vec> &progress) {
                        EXPECT_EQ(static_cast<std::int64_t>(told.size()), progress.iteration);
                        return 1.0;
                      }}};
  monitor.cadence.every = 2;
  monitor.after_step = [&](std::int64_t step, double seconds) {
    told.push_back(step);
    EXPECT_GE(seconds, last_seconds);
    last_seconds = seconds;
  };
  auto state = problem.start();
  (void)solve(problem, calm, state, {.max_iterations = 4}, monitor);
  EXPECT_EQ(told, (Steps{1, 2, 3, 4}));
}

} // namespace
} // namespace duplex::testing
