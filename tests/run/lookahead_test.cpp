// Which steps of a run on a device are looked at, and what is gone back to.

#include "support.hpp"

#include <duplex/run/lookahead.hpp>

namespace duplex::testing {
namespace {

using detail::Lookahead;

/// What a run remembers, in one number.
struct Remembered {
  double number = 0.0;
  template <class Archive> void archive(Archive &members) { members("number", number); }
};

TEST(Lookahead, LooksAtEveryStepUntilOneIsKnownToBeGood) {
  Lookahead lookahead;
  Remembered run;
  EXPECT_TRUE(lookahead.must_look(1));
  lookahead.looked_at(1);
  EXPECT_TRUE(lookahead.must_look(2));
  EXPECT_FALSE(lookahead.left_steps_unseen(5)); // there is nothing to go back to
  lookahead.keep_if_due(1, run);
  EXPECT_FALSE(lookahead.must_look(2));
}

TEST(Lookahead, LooksAtOneOfSixteenStepsAtLeast) {
  Lookahead lookahead;
  Remembered run;
  lookahead.looked_at(4);
  lookahead.keep_if_due(4, run);
  EXPECT_FALSE(lookahead.must_look(19));
  EXPECT_TRUE(lookahead.must_look(20));
  EXPECT_TRUE(lookahead.left_steps_unseen(20));
  lookahead.looked_at(20);
  EXPECT_FALSE(lookahead.left_steps_unseen(21));
  EXPECT_TRUE(lookahead.left_steps_unseen(22));
}

TEST(Lookahead, GoesBackToStepsThatDoubleAndWereLookedAt) {
  Lookahead lookahead;
  const auto back_after = [&](std::int64_t step, bool looked) {
    Remembered run{static_cast<double>(step)};
    if (looked) {
      lookahead.looked_at(step);
    }
    lookahead.keep_if_due(step, run);
    lookahead.go_back(run);
    return run.number;
  };
  EXPECT_EQ(back_after(5, true), 5.0);
  EXPECT_EQ(back_after(9, true), 5.0);
  EXPECT_EQ(back_after(10, false), 5.0); // nobody looked
  EXPECT_EQ(back_after(11, true), 11.0);
}

TEST(Lookahead, ForgetsWhatWasGoodBeforeARecovery) {
  Lookahead lookahead;
  Remembered run;
  lookahead.looked_at(64);
  lookahead.keep_if_due(64, run);
  lookahead.start_anew(70);
  EXPECT_TRUE(lookahead.must_look(71));
  lookahead.looked_at(71);
  lookahead.keep_if_due(71, run);
  EXPECT_FALSE(lookahead.must_look(72));
}

} // namespace
} // namespace duplex::testing
