// Whether a step agrees with what d says of it, and how far x may move at once.

#include "archived.hpp"
#include "support.hpp"

#include <duplex/methods/automatic/trust_region.hpp>

namespace duplex::testing {
namespace {

using automatic::agrees;
using automatic::Estimate;
using automatic::TrustRegion;

Estimate<Vec> with_value(double value, double noise = 0.0) {
  Estimate<Vec> point;
  point.value = value;
  point.value_noise = noise;
  return point;
}

TEST(AStep, AgreesWhereTheValueChangesByWhatBothSlopesSay) {
  EXPECT_TRUE(agrees(with_value(3.0), with_value(1.0), -2.0, 0.5));
  EXPECT_TRUE(agrees(with_value(3.0), with_value(1.0), -3.9, 0.5));
  EXPECT_FALSE(agrees(with_value(3.0), with_value(1.0), -4.1, 0.5));
  EXPECT_FALSE(agrees(with_value(3.0), with_value(1.0), -0.9, 0.5));
  EXPECT_FALSE(agrees(with_value(3.0), with_value(3.5), -0.5, 0.5)) << "it rose where it was to fall";
}

TEST(AStep, DisagreesWhereAValueIsNotFinite) {
  EXPECT_FALSE(agrees(with_value(1.0), with_value(std::nan("")), -1.0, 0.5));
  EXPECT_FALSE(agrees(with_value(1.0), with_value(-infinity), -1.0, 0.5));
}

TEST(AStep, AgreesWithinWhatIsKnownOfTheValues) {
  EXPECT_FALSE(agrees(with_value(1.0), with_value(1.0), -0.1, 0.5));
  EXPECT_TRUE(agrees(with_value(1.0, 0.05), with_value(1.0, 0.05), -0.1, 0.5));
}

TEST(ATrustRegion, AllowsAnythingUntilAStepWasRejected) {
  TrustRegion region;
  EXPECT_EQ(region.share_of(1e300), 1.0);
  region.learn(5.0, false, true);
  EXPECT_EQ(region.share_of(1e300), 1.0);
  region.learn(2.0, true, true);
  EXPECT_DOUBLE_EQ(region.share_of(12.0), 0.5);
  EXPECT_EQ(region.share_of(1.0), 1.0);
}

TEST(ATrustRegion, GrowsByStepsThatFillItAndAgreeWell) {
  TrustRegion region;
  region.learn(1.0, true, false);
  const double first = region.share_of(30.0);
  region.learn(3.0, false, false);
  region.learn(0.5, false, true);
  EXPECT_DOUBLE_EQ(region.share_of(30.0), first);
  region.learn(3.0, false, true);
  EXPECT_DOUBLE_EQ(region.share_of(30.0), 3.0 * first);
  region.forget();
  EXPECT_EQ(region.share_of(30.0), 1.0);
}

TEST(ATrustRegion, ThatIsRestoredAllowsTheSame) {
  TrustRegion region;
  region.learn(1.0, true, false);
  TrustRegion other;
  read_back(written(region), other);
  EXPECT_EQ(region.share_of(77.0), other.share_of(77.0));
}

} // namespace
} // namespace duplex::testing
