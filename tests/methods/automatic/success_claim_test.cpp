// What a run claims, beside which reference, and what it makes of a refutation.

#include "archived.hpp"
#include "support.hpp"

#include <duplex/methods/automatic/success_claim.hpp>

namespace duplex::testing {
namespace {

using automatic::SuccessClaim;

TEST(AClaim, BesideNothingIsNearOnlyAtZero) {
  const SuccessClaim claim(1e-3);
  EXPECT_FALSE(claim.is_near(1e-300));
  EXPECT_TRUE(claim.is_near(0.0));
}

TEST(AClaim, IsMadeWithAMarginBelowTheToleranceTimesTheReference) {
  SuccessClaim claim(1e-3);
  claim.begin(10.0);
  EXPECT_FALSE(claim.is_near(0.0091));
  EXPECT_TRUE(claim.is_near(0.0089));
  EXPECT_DOUBLE_EQ(claim.goal(), 0.009);
  claim.set_error_of_reference(2.0);
  EXPECT_DOUBLE_EQ(claim.goal(), 0.0072) << "the reference may be smaller than it was measured";
  claim.set_error_of_reference(100.0);
  EXPECT_DOUBLE_EQ(claim.goal(), 0.0045) << "but not by more than a half";
}

TEST(AClaim, IsBesideTheLargestReferenceOfAllLowerLevels) {
  SuccessClaim claim(1e-3);
  claim.begin(10.0);
  claim.begin(0.1);
  EXPECT_EQ(claim.reference(), 10.0);
  claim.forget_reference();
  claim.begin(0.1);
  EXPECT_EQ(claim.reference(), 0.1);
}

TEST(AClaim, NeedsASharpReferenceOnce) {
  SuccessClaim claim(1e-3);
  EXPECT_TRUE(claim.needs_sharp_reference());
  EXPECT_FALSE(claim.needs_sharp_reference());
  claim.forget_reference();
  EXPECT_TRUE(claim.needs_sharp_reference());
}

TEST(AClaim, ThatIsNotRefutedMakesTheToleranceTighterWhereTheRunGoesOn) {
  SuccessClaim claim(1e-3);
  claim.go_on();
  EXPECT_EQ(claim.tolerance(), 1e-3);
  EXPECT_EQ(claim.claimed_tolerance(), 0.0);
  claim.make();
  EXPECT_EQ(claim.claimed_tolerance(), 1e-3);
  claim.go_on();
  EXPECT_DOUBLE_EQ(claim.tolerance(), 1e-4);
  EXPECT_FALSE(claim.is_made());
  claim.make();
  claim.withdraw();
  claim.go_on();
  EXPECT_DOUBLE_EQ(claim.tolerance(), 1e-4);
}

TEST(AClaim, ThatIsRefutedTakesTheMeasuredReference) {
  SuccessClaim claim(1e-3);
  claim.begin(10.0);
  EXPECT_TRUE(claim.learn({.tolerance = 1e-3, .first = {.norm = 4.0, .error = 1.0}, .slope = {.norm = 1.0}}));
  EXPECT_EQ(claim.reference(), 4.0);
  EXPECT_DOUBLE_EQ(claim.goal(), 0.9 * 1e-3 * 3.0);
  EXPECT_FALSE(claim.needs_sharp_reference());
  EXPECT_FALSE(claim.learn({.tolerance = 1e-3, .first = {.norm = 4.0}, .slope = {.norm = 0.004, .error = 0.01}}))
      << "rounding hides the truth";
}

TEST(AClaim, ThatIsRestoredIsTheSameUnlessAnotherToleranceIsAskedFor) {
  SuccessClaim claim(1e-3);
  claim.begin(10.0);
  claim.make();
  SuccessClaim same(1e-3);
  read_back(written(claim), same);
  EXPECT_TRUE(same.is_made());
  EXPECT_EQ(same.goal(), claim.goal());
  SuccessClaim tighter(1e-6);
  read_back(written(claim), tighter);
  EXPECT_FALSE(tighter.is_made());
  EXPECT_EQ(tighter.tolerance(), 1e-6);
  EXPECT_EQ(tighter.reference(), 10.0);
}

} // namespace
} // namespace duplex::testing
