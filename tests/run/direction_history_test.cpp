// What ‖d‖ has been says whether a run diverges, stands still, or may stop.

#include "support.hpp"

#include <duplex/run/direction_history.hpp>

namespace duplex::testing {
namespace {

using detail::DirectionHistory;

constexpr double undefined_number = std::numeric_limits<double>::quiet_NaN();

TEST(DirectionHistory, CallsNoDirectionGoodThatIsNotFinite) {
  DirectionHistory history({});
  history.see(undefined_number);
  EXPECT_FALSE(history.is_good(undefined_number));
  EXPECT_FALSE(history.is_good(infinity));
  EXPECT_FALSE(history.is_too_large(infinity)); // which is another reason
  EXPECT_EQ(history.first(), 0.0);
}

TEST(DirectionHistory, JudgesDivergenceByTheFirstFiniteDirection) {
  DirectionHistory history({.divergence_factor = 100.0});
  history.see(undefined_number);
  EXPECT_TRUE(history.is_good(1e9)); // nothing is known yet
  history.see(3.0);
  history.see(1e6);
  EXPECT_EQ(history.first(), 3.0);
  EXPECT_TRUE(history.is_good(300.0));
  EXPECT_TRUE(history.is_too_large(300.1));
  DirectionHistory small({.divergence_factor = 100.0});
  small.see(1e-9);
  EXPECT_TRUE(small.is_good(99.0)); // a start near a solution does not make every move a divergence
}

TEST(DirectionHistory, MeetsNoToleranceAtTheFirstStepNorAtATentativeOne) {
  DirectionHistory history({.direction_tolerance = 1e-3});
  EXPECT_FALSE(history.meets_tolerance(1, 0.0, false));
  EXPECT_FALSE(history.meets_tolerance(2, 0.0, true));
  EXPECT_FALSE(history.meets_tolerance(2, 2e-3, false));
  EXPECT_FALSE(history.meets_tolerance(2, undefined_number, false));
  EXPECT_TRUE(history.meets_tolerance(2, 1e-3, false));
  history.start_anew(5);
  EXPECT_FALSE(history.meets_tolerance(6, 0.0, false));
  EXPECT_FALSE(DirectionHistory({}).meets_tolerance(2, 0.0, false)); // none was asked for
}

TEST(DirectionHistory, StandsStillWhereTheSmallestDirectionIsOld) {
  DirectionHistory history({.patience = 3});
  history.see(8.0);
  history.learn(1, 8.0, false);
  history.learn(2, 4.0, false);
  history.learn(3, 5.0, false);
  history.learn(4, 4.0, false); // as small as before is no progress
  EXPECT_FALSE(history.stands_still(4));
  EXPECT_TRUE(history.stands_still(5));
  history.learn(5, 9.0, true); // a tentative step is given the benefit of the doubt
  EXPECT_FALSE(history.stands_still(7));
  EXPECT_EQ(history.smallest(), 4.0);
  EXPECT_FALSE(DirectionHistory({.patience = 0}).stands_still(1'000'000));
}

TEST(DirectionHistory, HasNoDigitsLeftWhereTheSmallestIsAllButNothingBesideTheFirst) {
  DirectionHistory history({});
  history.see(10.0);
  history.learn(1, 10.0, false);
  history.learn(2, 1e-5, false);
  EXPECT_TRUE(history.has_digits_left());
  history.learn(3, 9e-7, false);
  EXPECT_FALSE(history.has_digits_left());
}

TEST(DirectionHistory, StartsAnewButForItsFirstDirection) {
  DirectionHistory history({.divergence_factor = 10.0, .patience = 2});
  history.see(2.0);
  history.learn(1, 2.0, false);
  history.learn(2, 1.0, false);
  history.start_anew(7);
  EXPECT_EQ(history.smallest(), infinity);
  EXPECT_TRUE(history.is_first(8));
  EXPECT_FALSE(history.is_first(9));
  EXPECT_FALSE(history.stands_still(8));
  EXPECT_TRUE(history.is_too_large(20.1));
}

TEST(DirectionHistory, IsTheSameAfterItWasSaved) {
  DirectionHistory history({.patience = 3});
  history.see(8.0);
  history.learn(1, 8.0, false);
  history.learn(2, 4.0, false);
  SavedState saved;
  StateWriter writer(saved);
  writer("directions", history);
  DirectionHistory read({.patience = 3});
  StateReader reader(saved);
  reader("directions", read);
  EXPECT_EQ(read.first(), 8.0);
  EXPECT_EQ(read.smallest(), 4.0);
  EXPECT_FALSE(read.stands_still(4));
  EXPECT_TRUE(read.stands_still(5));
}

} // namespace
} // namespace duplex::testing
