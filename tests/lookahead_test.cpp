// Which steps of a run on a device are looked at, and what is gone back to.

#include "support.hpp"

#include <duplex/run/lookahead.hpp>

namespace duplex::testing {
namespace {

using detail::Lookahead;

TEST(Lookahead, LooksAtEveryStepUntilOneIsKnownToBeGood) {
  Lookahead lookahead;
  EXPECT_TRUE(lookahead.must_look(1));
  lookahead.looked_at(1);
  EXPECT_TRUE(lookahead.must_look(2));
  EXPECT_FALSE(lookahead.left_steps_unseen(5)); // there is nothing to go back to
  (void)lookahead.keep(1);
  EXPECT_FALSE(lookahead.must_look(2));
}

TEST(Lookahead, LooksAtOneOfSixteenStepsAtLeast) {
  Lookahead lookahead;
  lookahead.looked_at(4);
  (void)lookahead.keep(4);
  EXPECT_FALSE(lookahead.must_look(19));
  EXPECT_TRUE(lookahead.must_look(20));
  EXPECT_TRUE(lookahead.left_steps_unseen(20));
  lookahead.looked_at(20);
  EXPECT_FALSE(lookahead.left_steps_unseen(21));
  EXPECT_TRUE(lookahead.left_steps_unseen(22));
}

TEST(Lookahead, KeepsStepsThatDoubleAndWereLookedAt) {
  Lookahead lookahead;
  lookahead.looked_at(5);
  EXPECT_TRUE(lookahead.is_to_be_kept(5));
  lookahead.keep(5).put("x", std::string("of the fifth step"));
  lookahead.looked_at(9);
  EXPECT_FALSE(lookahead.is_to_be_kept(9));
  lookahead.looked_at(10);
  EXPECT_TRUE(lookahead.is_to_be_kept(10));
  EXPECT_FALSE(lookahead.is_to_be_kept(11)); // nobody looked
  EXPECT_EQ(lookahead.good().get<std::string>("x"), "of the fifth step");
  EXPECT_FALSE(lookahead.keep(10).has("x"));
}

TEST(Lookahead, ForgetsWhatWasGoodBeforeARecovery) {
  Lookahead lookahead;
  lookahead.looked_at(64);
  (void)lookahead.keep(64);
  lookahead.start_anew(70);
  EXPECT_TRUE(lookahead.must_look(71));
  lookahead.looked_at(71);
  EXPECT_TRUE(lookahead.is_to_be_kept(71));
}

} // namespace
} // namespace duplex::testing
