// When a run is saved.

#include "support.hpp"

#include <duplex/run/saving_clock.hpp>

namespace duplex::testing {
namespace {

using detail::SavingClock;

TEST(SavingClock, IsNeverDueWhereNothingIsSaved) {
  SavingClock none(nullptr);
  none.saved(0);
  EXPECT_FALSE(none.due(1000));
  EXPECT_EQ(none.saving(), nullptr);
  const Saving only_read{.every_steps = 1}; // without a function that saves
  SavingClock clock(&only_read);
  clock.saved(0);
  EXPECT_FALSE(clock.due(1));
}

TEST(SavingClock, IsDueAtMultiplesOfItsSteps) {
  const Saving saving{.save = [](const SavedState &) {}, .every_steps = 4, .every_seconds = infinity};
  SavingClock clock(&saving);
  clock.saved(0);
  EXPECT_FALSE(clock.due(3));
  EXPECT_TRUE(clock.due(4));
  EXPECT_FALSE(clock.due(5));
}

TEST(SavingClock, IsDueWhenItsSecondsHaveGoneBySinceTheLastSave) {
  const Saving saving{.save = [](const SavedState &) {}, .every_seconds = 1e-9};
  SavingClock clock(&saving);
  clock.saved(0);
  EXPECT_TRUE(clock.due(1));
  const Saving rarely{.save = [](const SavedState &) {}, .every_seconds = 1e6};
  SavingClock slow(&rarely);
  slow.saved(0);
  EXPECT_FALSE(slow.due(1));
}

} // namespace
} // namespace duplex::testing
