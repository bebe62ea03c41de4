// Runs that end where it means something: residuals beside their scale, also where they go on.

#include "quadratic_run.hpp"
#include "saved_run.hpp"
#include "support.hpp"

#include <array>
#include <atomic>

namespace duplex::testing {
namespace {

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
  const auto problem = small_quadratic.generate<double>();
  auto state = problem.start();
  EXPECT_EQ(refusal([&] { (void)solve(problem, calm, state, {.kkt_relative_tolerance = 1.0}); }),
            "options: kkt-relative-tolerance = 1, expected >= 0 and < 1");
}

TEST(RelativeKktTolerance, EndsARunAtTheSameStepInAnyUnits) {
  const Options options{.max_iterations = 100'000, .kkt_relative_tolerance = 1e-6};
  const auto plain = small_quadratic.generate<double>();
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
  const auto problem = small_quadratic.generate<double>();
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
  const auto problem = small_quadratic.generate<double>();
  const SavedState saved = saved_after(problem, calm, 50);
  const Saving going_on{.from = &saved};
  auto state = problem.start();
  const auto summary =
      solve(problem, calm, state, {.max_iterations = 100'000, .kkt_relative_tolerance = 1e-6, .saving = &going_on});
  EXPECT_EQ(summary.termination, Termination::kkt_tolerance) << summary.brief();
}

TEST(RelativeKktTolerance, DoesNotTakeWhatBrokeForItsScale) {
  const auto problem = small_quadratic.generate<double>();
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
  const auto problem = small_quadratic.generate<double>();
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
  const auto problem = small_quadratic.generate<double>();
  SavedState saved;
  const Saving keeping{.save = [&](const SavedState &state) { saved = state; }, .every_seconds = infinity};
  auto coarse = problem.start();
  const auto first = solve(problem, Automatic{}, coarse, {.saving = &keeping}); // its own tolerance
  ASSERT_EQ(first.termination, Termination::tolerance_verified);
  const Saving going_on{.from = &saved};
  auto same = problem.start();
  EXPECT_EQ(solve(problem, Automatic{}, same, {.saving = &going_on}).iterations, first.iterations);
  EXPECT_TRUE(same_bits(same, coarse));
  auto by_kkt = problem.start();
  EXPECT_EQ(solve(problem, Automatic{}, by_kkt, {.kkt_tolerance = 1e-11, .saving = &going_on}).termination,
            Termination::kkt_tolerance);
  EXPECT_LE(KktResidual(problem).at(by_kkt.x, by_kkt.y, by_kkt.v).residual(), 1e-11);
  auto finer = problem.start();
  const auto tighter = solve(problem, Automatic{.tolerance = 1e-9}, finer, {.saving = &going_on});
  EXPECT_EQ(tighter.termination, Termination::tolerance_verified);
  EXPECT_GT(tighter.iterations, first.iterations);
  EXPECT_LE(certify(problem, problem.start(), finer).hypergradient,
            1e-9 * *certify(problem, problem.start(), finer).first_hypergradient);
}

TEST(ARunThatGoesOn, StaysWhereItStoodStill) {
  const auto problem = RidgeSettings{}.generate<double>();
  const Rhg slow{.alpha = 0.01, .beta = 0.01, .inner = 3, .upper = {.method = UpperMethod::momentum}};
  SavedState saved;
  const Saving keeping{.save = [&](const SavedState &state) { saved = state; }, .every_seconds = infinity};
  auto first = problem.start();
  const auto stopped = solve(problem, slow, first, {.patience = 2, .saving = &keeping});
  ASSERT_EQ(stopped.termination, Termination::stagnated) << stopped.brief();
  const Saving going_on{.from = &saved};
  auto same = problem.start();
  EXPECT_EQ(solve(problem, slow, same, {.patience = 2, .saving = &going_on}).iterations, stopped.iterations);
  EXPECT_TRUE(same_bits(same, first));
  auto more = problem.start();
  EXPECT_GT(solve(problem, slow, more, {.max_iterations = 50, .patience = 1000, .saving = &going_on}).iterations,
            stopped.iterations);
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
  const auto problem = small_quadratic.generate<double>();
  SavedState saved;
  const Saving keeping{.save = [&](const SavedState &state) { saved = state; }, .every_seconds = infinity};
  auto state = problem.start();
  const auto first = solve(problem, Automatic{.tolerance = 1e-12}, state, {.max_iterations = 9, .saving = &keeping});
  EXPECT_FALSE(first.converged()) << first.brief();
  const Saving going_on{.from = &saved};
  auto rest = problem.start();
  EXPECT_EQ(
      solve(problem, Automatic{.tolerance = 1e-12}, rest, {.kkt_tolerance = 1.0, .saving = &going_on}).termination,
      Termination::kkt_tolerance);
  auto looser = problem.start();
  EXPECT_EQ(solve(problem, Automatic{.tolerance = 1e-2}, looser, {.saving = &going_on}).termination,
            Termination::tolerance_verified);
}

TEST(ARunThatGoesOn, LooksWhereOneThatWasNotInterruptedWouldHave) {
  const auto problem = small_quadratic.generate<double>();
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

} // namespace
} // namespace duplex::testing
