// What a run saves beside its steps, and what it finds where it goes on.

#include "quadratic_run.hpp"

#include <duplex/run/checkpoints.hpp>

namespace duplex::testing {
namespace {

/// The steps at which a run was saved, and its last state.
struct Saves {
  std::vector<std::int64_t> steps;
  SavedState last;

  [[nodiscard]] Saving saving(bool at_start, const SavedState *from = nullptr) {
    return {.save =
                [this](const SavedState &state) {
                  steps.push_back(state.first<SavedState::Integers>("iterations"));
                  last = state;
                },
            .every_seconds = infinity,
            .at_start = at_start,
            .from = from};
  }
};

Summary run_from(const Saving &saving, Options options, State<Vec> &state) {
  const auto problem = small_quadratic.generate<double>();
  options.saving = &saving;
  state = problem.start();
  return solve(problem, calm, state, options);
}

TEST(SavingAtTheStart, IsDoneByARunThatBeginsAndAsksForIt) {
  State<Vec> state;
  Saves asked;
  (void)run_from(asked.saving(true), {.max_iterations = 3}, state);
  EXPECT_EQ(asked.steps, (std::vector<std::int64_t>{0, 3}));
  Saves not_asked;
  (void)run_from(not_asked.saving(false), {.max_iterations = 3}, state);
  EXPECT_EQ(not_asked.steps, (std::vector<std::int64_t>{3}));
  Saves goes_on;
  (void)run_from(goes_on.saving(true, &asked.last), {.max_iterations = 5}, state);
  EXPECT_EQ(goes_on.steps, (std::vector<std::int64_t>{5}));
}

TEST(SavingAtTheStart, LeavesWhatARunBeginsFrom) {
  SavedState first;
  const Saving only_first{.save =
                              [&](const SavedState &state) {
                                if (state.first<SavedState::Integers>("iterations") == 0) {
                                  first = state;
                                }
                              },
                          .every_seconds = infinity,
                          .at_start = true};
  State<Vec> whole;
  (void)run_from(only_first, {.max_iterations = 7}, whole);
  State<Vec> again;
  EXPECT_EQ(run_from({.from = &first}, {.max_iterations = 7}, again).iterations, 7);
  EXPECT_TRUE(same_bits(again, whole));
}

TEST(ARunThatGoesOn, DoesNoStepWhereItsSecondsAreUsedUp) {
  State<Vec> state;
  Saves saves;
  (void)run_from(saves.saving(false), {.max_iterations = 3}, state);
  saves.last.put("seconds", SavedState::Doubles{5.0});
  const auto used_up = run_from({.from = &saves.last}, {.max_iterations = 9, .max_seconds = 5.0}, state);
  EXPECT_EQ(used_up.termination, Termination::max_seconds);
  EXPECT_EQ(used_up.iterations, 3);
  const auto done = run_from({.from = &saves.last}, {.max_iterations = 3, .max_seconds = 5.0}, state);
  EXPECT_EQ(done.termination, Termination::max_iterations);
  const auto goes_on = run_from({.from = &saves.last}, {.max_iterations = 9, .max_seconds = 1e6}, state);
  EXPECT_EQ(goes_on.iterations, 9);
}

} // namespace
} // namespace duplex::testing
