// Which mu comes next where the lower Hessian is singular.

#include "archived.hpp"
#include "support.hpp"

#include <duplex/methods/automatic/mu_continuation.hpp>

namespace duplex::testing {
namespace {

using automatic::MuContinuation;

TEST(ContinuationInMu, DoesNotBeginWithoutSecondDerivativesOrTwice) {
  EXPECT_FALSE(MuContinuation(false).can_begin(0.0));
  EXPECT_FALSE(MuContinuation(true).can_begin(0.5));
  EXPECT_TRUE(MuContinuation(true).can_begin(0.0));
}

TEST(ContinuationInMu, GoesFromOneHalfToTheToleranceByTenths) {
  MuContinuation continuation(true);
  double mu = continuation.begin();
  EXPECT_EQ(mu, 0.5);
  int solutions = 1;
  for (; !MuContinuation::is_over(mu, 1e-3); ++solutions) {
    const double next = MuContinuation::next(mu, 1e-3);
    EXPECT_DOUBLE_EQ(next, std::max(0.1 * mu, 1e-3));
    mu = next;
  }
  EXPECT_EQ(mu, 1e-3);
  EXPECT_EQ(solutions, 4); // 0.5, 0.05, 0.005, 0.001
}

TEST(ContinuationInMu, SeesThatALowerLevelHasNoMinimizerWhereItsGradientDoesNotVanishWithMu) {
  MuContinuation continuation(true);
  EXPECT_TRUE(continuation.lower_level_is_met(0.0, 1e9, 0.0)) << "there is nothing to see without mu";
  (void)continuation.begin();
  EXPECT_TRUE(continuation.lower_level_is_met(0.5, 1.0, 0.0)) << "the first one is compared with nothing";
  EXPECT_TRUE(continuation.lower_level_is_met(0.05, 1.0, 0.0)); // 1/19 of before
  EXPECT_FALSE(continuation.lower_level_is_met(0.005, 10.0, 0.0)) << "the upper slope grows as mu falls";
  EXPECT_TRUE(continuation.lower_level_is_met(0.0005, 100.0, 0.06)) << "what rounding leaves is no gradient";
}

TEST(ContinuationInMu, TakesASmallerMuAfterARefutationUntilThereIsNone) {
  MuContinuation continuation(true);
  EXPECT_EQ(continuation.take_asked(), 0.0);
  EXPECT_TRUE(continuation.ask_for_smaller(1e-5));
  EXPECT_DOUBLE_EQ(continuation.take_asked(), 1e-6);
  EXPECT_EQ(continuation.take_asked(), 0.0) << "it is asked for once";
  EXPECT_FALSE(continuation.ask_for_smaller(5e-11));
}

TEST(ContinuationInMu, RemembersASuspicionThroughASavedState) {
  MuContinuation continuation(true);
  continuation.suspect();
  MuContinuation restored(true);
  read_back(written(continuation), restored);
  EXPECT_TRUE(restored.take_suspicion());
  EXPECT_FALSE(restored.take_suspicion());
}

} // namespace
} // namespace duplex::testing
