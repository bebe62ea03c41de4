// Steps that shrink with the gradients seen, against sums worked out by hand.

#include "support.hpp"

#include "archived.hpp"

#include <duplex/step/accumulated_step.hpp>

namespace duplex::testing {
namespace {

TEST(AccumulatedStep, IsTheFirstOneBeforeAnyGradient) {
  EXPECT_DOUBLE_EQ(AccumulatedStep(0.2).now(), 0.2);
  EXPECT_DOUBLE_EQ(AccumulatedStep(0.2).along(0.0), 0.2);
}

TEST(AccumulatedStep, IsInverseToTheNormOfAllGradients) {
  AccumulatedStep step(0.25);
  EXPECT_DOUBLE_EQ(step.along(9.0), 0.2);          // 4² + 3² = 5²
  EXPECT_DOUBLE_EQ(step.along(144.0), 1.0 / 13.0); // 5² + 12² = 13²
  EXPECT_DOUBLE_EQ(step.now(), 1.0 / 13.0);
}

TEST(AccumulatedStep, GoesOnToTheSameBits) {
  AccumulatedStep step(0.7);
  (void)step.along(1.0 / 3.0);
  const SavedState saved = written(step);
  AccumulatedStep again(0.1);
  read_back(saved, again);
  EXPECT_EQ(again.along(0.1), step.along(0.1));
}

} // namespace
} // namespace duplex::testing
