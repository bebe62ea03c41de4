// What is measured beside the steps, who is told, and which rule stops a run on it.

#include "scripted_run.hpp"

#include <duplex/run/watch.hpp>

#include <chrono>
#include <string>
#include <thread>

namespace duplex::testing {
namespace {

using detail::Watch;

const Metric<Vec> y_itself{"y", [](const Progress<Vec> &progress) { return progress.state.y[0]; }};

struct LookedAt {
  explicit LookedAt(Monitor<Vec> of, Options given = {}) : options(given), monitor(std::move(of)) {}

  Termination look(std::int64_t step, State<Vec> state, bool interrupted = false, double seconds = 0.0) {
    return watch.look(Progress<Vec>{.iteration = step,
                                    .seconds = seconds,
                                    .direction_norm = 0.25,
                                    .counters = counters,
                                    .state = state,
                                    .previous_x = state.x,
                                    .direction = state.x,
                                    .metrics = {}},
                      interrupted);
  }

  Options options;
  Monitor<Vec> monitor;
  TwoSquares problem;
  Counters counters;
  Watch<Vec> watch{ProblemView<Vec>(problem), options, monitor, numbers(1.0, 0.0, 0.0)};
};

TEST(Watch, RefusesAMonitorThatContradictsItself) {
  const auto refusal_of = [](const Monitor<Vec> &monitor) { return refusal([&] { LookedAt watched(monitor); }); };
  EXPECT_CONTAINS(refusal_of({.cadence = {.every = 0}}), "cadence must have every >= 1");
  EXPECT_CONTAINS(refusal_of({.metrics = {y_itself}, .target = Target{"z", 1.0}}), "the target's metric 'z' is not");
  EXPECT_CONTAINS(refusal_of({.metrics = {y_itself}, .hold_out = HoldOut{"z", 1}}), "the hold-out's metric 'z' is not");
  EXPECT_CONTAINS(refusal_of({.metrics = {y_itself}, .hold_out = HoldOut{"y", 0}}), "patience of the hold-out is 0");
}

TEST(Watch, IsIdleWhereThereIsNothingToSee) {
  const LookedAt idle((Monitor<Vec>()));
  EXPECT_FALSE(idle.watch.active());
  EXPECT_FALSE(idle.watch.due(1));
  EXPECT_TRUE(LookedAt({}, {.kkt_tolerance = 1e-6}).watch.active());
  EXPECT_TRUE(LookedAt({}, {.kkt_relative_tolerance = 1e-6}).watch.active());
}

TEST(Watch, IsDueAtItsCadenceAndAtTheLastStep) {
  LookedAt run({.metrics = {y_itself}, .cadence = {.every = 4}}, {.max_iterations = 7});
  EXPECT_TRUE(run.watch.due(1));
  EXPECT_EQ(run.look(1, numbers(1.0, 1.0, 0.0)), Termination::not_run);
  EXPECT_FALSE(run.watch.due(4));
  EXPECT_TRUE(run.watch.due(5));
  EXPECT_TRUE(run.watch.due(7));
}

TEST(Watch, PutsTheNextLookOffWhereLooksTakeLongerThanSteps) {
  EXPECT_CONTAINS(refusal([&] { LookedAt watched({.cadence = {.patience = -1.0}}); }), "patience >= 0");
  const Metric<Vec> slow{"slow", [](const Progress<Vec> &) {
                           std::this_thread::sleep_for(std::chrono::milliseconds(2));
                           return 1.0;
                         }};
  const auto next_after = [&](double patience, double seconds_of_step) {
    LookedAt run({.metrics = {slow}, .cadence = {.patience = patience}});
    (void)run.look(1, numbers(1.0, 1.0, 0.0), false, seconds_of_step);
    std::int64_t next = 2;
    while (!run.watch.due(next)) {
      ++next;
    }
    return next;
  };
  EXPECT_EQ(next_after(infinity, 1e-6), 2) << "looks may take any time";
  EXPECT_EQ(next_after(1e6, 1e-6), 2) << "so little is free";
  EXPECT_EQ(next_after(0.0, 1e6), 2) << "steps take longer";
  EXPECT_GE(next_after(0.0, 1e-6), 2000);
  EXPECT_GE(next_after(1e-3, 1e-6), 1000);
}

TEST(Watch, TellsObserversWhatItMeasuredAndWhetherThatWasDue) {
  Trace<Vec> trace;
  LookedAt run({.metrics = {y_itself}, .observers = {&trace}, .cadence = {.every = 4}});
  (void)run.look(1, numbers(1.0, 5.0, 0.0));
  (void)run.look(2, numbers(1.0, 6.0, 0.0));
  ASSERT_EQ(trace.rows().size(), 2U);
  EXPECT_EQ(trace.rows()[0].metrics.at(0), 5.0);
  EXPECT_EQ(trace.rows()[1].metrics.at(0), 6.0);
  EXPECT_FALSE(trace.rows()[0].extra);
  EXPECT_TRUE(trace.rows()[1].extra);
  EXPECT_TRUE(run.watch.due(5)); // the extra look has moved nothing
}

TEST(Watch, StopsARunAtItsTargetUnlessAnInterruptBroughtItThere) {
  LookedAt run({.metrics = {y_itself}, .target = Target{"y", 0.5}, .cadence = {.every = 4}});
  EXPECT_EQ(run.look(1, numbers(1.0, 0.6, 0.0)), Termination::not_run);
  EXPECT_EQ(run.look(2, numbers(1.0, 0.5, 0.0), true), Termination::not_run);
  EXPECT_EQ(run.look(2, numbers(1.0, 0.5, 0.0), false), Termination::target_reached);
  EXPECT_EQ(run.look(5, numbers(1.0, 0.5, 0.0), true), Termination::target_reached);
}

TEST(Watch, StopsARunWhereTheCallersPredicateSaysSo) {
  LookedAt run({.stop_when = [](const Progress<Vec> &progress) { return progress.iteration == 3; }});
  EXPECT_EQ(run.look(2, numbers(1.0, 0.0, 0.0)), Termination::not_run);
  EXPECT_EQ(run.look(3, numbers(1.0, 0.0, 0.0)), Termination::predicate);
}

TEST(Watch, StopsARunWhereTheKktResidualIsSmall) {
  for (const Options &options : {Options{.kkt_tolerance = 1e-3}, Options{.kkt_relative_tolerance = 1e-3}}) {
    LookedAt run({}, options);
    EXPECT_EQ(run.look(1, numbers(1.0, 0.0, 0.0)), Termination::not_run);
    EXPECT_EQ(run.look(2, numbers(1e-6, 1e-6, 1e-6)), Termination::kkt_tolerance);
  }
}

TEST(Watch, TakesAMetricThatIsNotThereAnyMoreForNaNButNotAtTheFirstLook) {
  const Metric<Vec> lost{"lost", [](const Progress<Vec> &progress) -> double {
                           if (progress.state.x[0] > 0.0) {
                             throw NotAvailable("there is no such number");
                           }
                           return 1.0;
                         }};
  for (const std::int64_t first : {0, 1}) {
    LookedAt never({.metrics = {lost}});
    EXPECT_THROW((void)never.look(first, numbers(1.0, 0.0, 0.0)), NotAvailable);
  }
  Trace<Vec> trace;
  LookedAt run({.metrics = {lost}, .observers = {&trace}});
  EXPECT_EQ(run.look(1, numbers(-1.0, 0.0, 0.0)), Termination::not_run);
  EXPECT_EQ(run.look(2, numbers(1.0, 0.0, 0.0)), Termination::not_run);
  EXPECT_EQ(trace.rows().at(0).metrics.at(0), 1.0);
  EXPECT_TRUE(std::isnan(trace.rows().at(1).metrics.at(0)));
}

TEST(Watch, EndsAnOverfittedRunAtItsBestState) {
  LookedAt run({.metrics = {y_itself}, .hold_out = HoldOut{"y", 2}});
  EXPECT_EQ(run.look(1, numbers(3.0, 0.5, 0.0)), Termination::not_run);
  EXPECT_EQ(run.look(2, numbers(2.0, 0.7, 0.0)), Termination::not_run);
  EXPECT_EQ(run.look(3, numbers(1.0, 0.8, 0.0)), Termination::overfitted);
  State<Vec> state = numbers(1.0, 0.8, 0.0);
  Summary summary;
  summary.termination = Termination::overfitted;
  run.watch.end(state, true, summary);
  EXPECT_TRUE(same_bits(state, numbers(3.0, 0.5, 0.0)));
  EXPECT_CONTAINS(summary.message, "y was smallest, 0.5, at step 1");
  ASSERT_EQ(summary.metrics.size(), 1U);
  EXPECT_EQ(summary.metrics[0].second, 0.5);
}

TEST(Watch, CountsAnewAfterARecovery) {
  LookedAt run({.metrics = {y_itself}, .hold_out = HoldOut{"y", 2}});
  (void)run.look(1, numbers(3.0, 0.5, 0.0));
  (void)run.look(2, numbers(2.0, 0.7, 0.0));
  run.watch.start_anew();
  EXPECT_EQ(run.look(3, numbers(1.0, 0.8, 0.0)), Termination::not_run);
}

TEST(Watch, LeavesAStateAloneThatMeetsWhatWasAskedFor) {
  LookedAt run({.metrics = {y_itself}, .hold_out = HoldOut{"y", 9}}, {.kkt_tolerance = 1e-3});
  (void)run.look(1, numbers(3.0, 0.5, 0.0));
  (void)run.look(2, numbers(2.0, 0.7, 0.0));
  State<Vec> state = numbers(2.0, 0.7, 0.0);
  Summary summary;
  summary.termination = Termination::kkt_tolerance;
  run.watch.end(state, true, summary);
  EXPECT_EQ(state.x[0], 2.0);
  EXPECT_EQ(summary.message, "");
}

TEST(Watch, OfARunThatGoesOnLooksWhereItWouldHaveLooked) {
  const Monitor<Vec> monitor{.metrics = {y_itself}, .hold_out = HoldOut{"y", 2}, .cadence = {.every = 4}};
  LookedAt before(monitor);
  (void)before.look(1, numbers(3.0, 0.5, 0.0));
  (void)before.look(5, numbers(2.0, 0.7, 0.0));
  LookedAt after(monitor);
  hand_over(before.watch, after.watch);
  EXPECT_FALSE(after.watch.due(8));
  EXPECT_TRUE(after.watch.due(9));
  EXPECT_EQ(after.look(9, numbers(1.0, 0.8, 0.0)), Termination::overfitted);
}

} // namespace
} // namespace duplex::testing
