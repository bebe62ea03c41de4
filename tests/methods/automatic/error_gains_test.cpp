// How much d feels the errors of y and v, on moves whose ratios are chosen.

#include "archived.hpp"
#include "support.hpp"

#include <duplex/methods/automatic/error_gains.hpp>

namespace duplex::testing {
namespace {

using automatic::ErrorGains;
using automatic::Estimate;

/// y, v, d and ∇²xy f·v are these numbers everywhere.
Estimate<Vec> estimate_of(double y, double v, double d, double cross) {
  auto estimate = automatic::estimate_at(State<Vec>{Vec::Zero(2), Vec::Constant(2, y), Vec::Constant(2, v)});
  estimate.d.setConstant(d);
  estimate.cross.setConstant(cross);
  return estimate;
}

const State<Vec> zero_state{Vec::Zero(2), Vec::Zero(2), Vec::Zero(2)};

TEST(ErrorGainsOf, ARunThatHasNotMovedAreNotKnown) {
  ErrorGains<Vec> gains(zero_state);
  EXPECT_FALSE(gains.known());
  const auto tolerance = gains.tolerance_of_y(0.0, Vec::Ones(2));
  EXPECT_EQ(tolerance.absolute, 0.0);
  EXPECT_EQ(tolerance.relative, 0.01);
  gains.learn(estimate_of(0.0, 0.0, 1.0, 1.0)); // v = 0 says nothing
  EXPECT_EQ(gains.v(), 0.0);
  gains.learn(estimate_of(0.0, 2.0, 1.0, 6.0));
  EXPECT_DOUBLE_EQ(gains.v(), 3.0);
  EXPECT_FALSE(gains.known());
}

TEST(ErrorGainsOf, AMoveAreItsRatiosAndFade) {
  ErrorGains<Vec> gains(zero_state);
  gains.learn(estimate_of(0.0, 0.0, 0.0, 0.0), estimate_of(1.0, 2.0, 5.0, 8.0));
  EXPECT_TRUE(gains.known());
  EXPECT_DOUBLE_EQ(gains.y(), 5.0);
  EXPECT_DOUBLE_EQ(gains.v(), 4.0);
  gains.learn(estimate_of(0.0, 0.0, 0.0, 0.0), estimate_of(1.0, 0.0, 1.0, 0.0)); // v has not moved
  EXPECT_DOUBLE_EQ(gains.y(), 4.5);
  EXPECT_DOUBLE_EQ(gains.v(), 4.0) << "nothing was learnt of v";
  gains.forget();
  EXPECT_FALSE(gains.known());
  EXPECT_EQ(gains.y() + gains.v(), 0.0);
}

TEST(ErrorGainsOf, AMoveThatLeavesYWhereItIsSayNothingOfY) {
  ErrorGains<Vec> gains(zero_state);
  gains.learn(estimate_of(0.0, 0.0, 0.0, 0.0), estimate_of(1.0, 1.0, 2.0, 2.0));
  gains.learn(estimate_of(1.0, 1.0, 2.0, 2.0), estimate_of(1.0 + 1e-9, 1.0 - 1e-9, 3.0, 3.0)); // x alone has moved d
  EXPECT_DOUBLE_EQ(gains.y(), 2.0);
  EXPECT_DOUBLE_EQ(gains.v(), 2.0);
}

TEST(ErrorGainsOf, ARunSayHowWellYAndVAreToBeSolvedFor) {
  ErrorGains<Vec> gains(zero_state);
  gains.learn(estimate_of(0.0, 0.0, 0.0, 0.0), estimate_of(1.0, 2.0, 5.0, 8.0));
  const Vec y = Vec::Constant(2, 3.0);
  EXPECT_DOUBLE_EQ(gains.tolerance_of_y(10.0, y).absolute, 2.0);
  EXPECT_DOUBLE_EQ(gains.tolerance_of_v(10.0, y).absolute, 2.5);
  EXPECT_DOUBLE_EQ(gains.tolerance_of_y(10.0, y).magnitude, y.norm());
  auto point = estimate_of(0.0, 0.0, 0.0, 0.0);
  point.y_error = 2.0;
  point.v_error = 1.0;
  EXPECT_DOUBLE_EQ(gains.error(point), 14.0);
  ErrorGains<Vec> others(zero_state);
  EXPECT_EQ(others.tolerance_of_y(10.0, y).absolute, 0.0) << "nobody knows whether d feels y";
  EXPECT_EQ(others.tolerance_of_y(10.0, y).relative, 1e-4);
  others.learn(estimate_of(0.0, 0.0, 5.0, 8.0), estimate_of(1.0, 2.0, 5.0, 8.0));
  EXPECT_EQ(others.tolerance_of_y(10.0, y).absolute, infinity) << "d does not feel y";
  ErrorGains<Vec> unmoved(zero_state);
  unmoved.learn(estimate_of(1.0, 1.0, 2.0, 2.0), estimate_of(1.0 + 1e-9, 1.0 - 1e-9, 3.0, 3.0));
  EXPECT_TRUE(unmoved.known());
  EXPECT_EQ(unmoved.tolerance_of_y(10.0, y).absolute, 0.0) << "nobody knows yet: y has not moved";
  EXPECT_EQ(unmoved.tolerance_of_y(10.0, y).relative, 1e-4);

  ErrorGains<Vec> restored(zero_state);
  read_back(written(gains), restored);
  EXPECT_EQ(restored.error(point), gains.error(point));
  EXPECT_TRUE(restored.known());
}

} // namespace
} // namespace duplex::testing
