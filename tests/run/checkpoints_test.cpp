// When a run is saved, and what of it where a step was left in its middle.

#include "scripted_run.hpp"

#include <duplex/run/checkpoints.hpp>

#include <vector>

namespace duplex::testing {
namespace {

using detail::Checkpoints;
using detail::RunParts;

/// A run that keeps what is saved of it.
struct SavedRun {
  explicit SavedRun(std::int64_t every_steps, MethodTraits traits = {}, double seconds = infinity)
      : saving{.save = [this](const SavedState &state) { all.push_back(state); },
               .every_steps = every_steps,
               .every_seconds = infinity},
        scripted({.max_seconds = seconds, .saving = &saving}, traits), parts(scripted.context, monitor),
        checkpoints(parts) {
    parts.run.meter->clock.start();
  }
  [[nodiscard]] double saved_y() const { return all.back().first<SavedState::Doubles>("y"); }

  std::vector<SavedState> all;
  Saving saving;
  ScriptedRun scripted;
  Monitor<Vec> monitor;
  RunParts<Vec> parts;
  Checkpoints<Vec> checkpoints;
};

TEST(Checkpoints, AreNotWrittenWhereNothingIsToBeSaved) {
  ScriptedRun run;
  const Monitor<Vec> monitor;
  RunParts<Vec> parts(run.context, monitor);
  Checkpoints<Vec> checkpoints(parts);
  EXPECT_FALSE(checkpoints.due(1000));
  checkpoints.before_step();
  checkpoints.save_at_end(true); // which has nobody to tell
}

TEST(Checkpoints, AreDueAtMultiplesOfTheirStepsAndHoldTheState) {
  SavedRun run(5);
  EXPECT_FALSE(run.checkpoints.due(4));
  EXPECT_TRUE(run.checkpoints.due(5));
  run.parts.run.summary.iterations = 5;
  run.scripted.state.y = number(7.0);
  run.checkpoints.save();
  ASSERT_EQ(run.all.size(), 1U);
  EXPECT_EQ(run.saved_y(), 7.0);
  EXPECT_EQ(run.all[0].first<SavedState::Integers>("iterations"), 5);
  EXPECT_EQ(run.all[0].get<std::string>("solver"), "scripted");
}

TEST(Checkpoints, PutYAndVBackWhereAStepWasLeft) {
  SavedRun run(5, {.solves_inside = true}, 100.0);
  run.scripted.state = numbers(1.0, 2.0, 3.0);
  run.checkpoints.before_step();
  run.scripted.state = numbers(1.0, -2.0, -3.0);
  run.checkpoints.put_back();
  EXPECT_TRUE(same_bits(run.scripted.state, numbers(1.0, 2.0, 3.0)));
}

TEST(Checkpoints, AtTheEndAreOfBeforeTheStepThatWasLeft) {
  SavedRun run(5, {.solves_inside = true}, 100.0);
  run.scripted.state.y = number(2.0);
  run.checkpoints.before_step();
  run.scripted.state.y = number(-2.0); // in the middle of the step
  run.checkpoints.save_at_end(true);
  EXPECT_EQ(run.saved_y(), 2.0);
  run.checkpoints.save_at_end(false);
  EXPECT_EQ(run.saved_y(), -2.0);
}

TEST(Checkpoints, KeepNothingBeforeStepsThatCannotBeLeft) {
  SavedRun run(5, {}, 100.0); // its steps hold no inner loops
  run.scripted.state.y = number(2.0);
  run.checkpoints.before_step();
  run.scripted.state.y = number(-2.0);
  run.checkpoints.save_at_end(true);
  EXPECT_EQ(run.saved_y(), -2.0);
}

} // namespace
} // namespace duplex::testing
