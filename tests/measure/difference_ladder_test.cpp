// Slopes by differences over many steps: their errors cover the truth, near edges, kinks and explosions too.

#include "measure/difference_ladder.hpp"

#include "support.hpp"

#include <cmath>
#include <limits>

namespace duplex::testing {
namespace {

using detail::Numbers;
using detail::Room;

constexpr Room everywhere{.below = infinity, .above = infinity};
constexpr double epsilon = std::numeric_limits<double>::epsilon();

template <class Function> detail::Curve curve_of(const Function &function) {
  return [function](double t) {
    const double value = function(t);
    return std::isfinite(value) ? Numbers{value} : Numbers();
  };
}

template <class Function> detail::Slopes slope_at_zero(const Function &function, Room room = everywhere) {
  const auto curve = curve_of(function);
  const Numbers noise = detail::noise_of(curve, {function(0.0)}, room, epsilon, 6);
  return detail::slopes_of(curve, {function(0.0)}, noise, {0.0}, room, {.precision = epsilon, .all = true});
}

template <class Function> void expect_slope(double slope, double error, const Function &function) {
  const auto found = slope_at_zero(function);
  EXPECT_LE(std::abs(found.value[0] - slope), detail::ladder_safety * found.error[0]);
  EXPECT_LE(found.error[0], error);
}

TEST(SlopesByDifferences, AreNotThereWhereNothingIsFiniteBesideThePoint) {
  const auto found = slope_at_zero([](double t) { return t == 0.0 ? 0.0 : std::nan(""); });
  EXPECT_FALSE(found.any);
  EXPECT_FALSE(std::isfinite(found.error[0]));
}

TEST(SlopesByDifferences, CoverAKinkAtThePointByTheirError) {
  const auto found = slope_at_zero([](double t) { return std::abs(t) + 2.0 * t; });
  EXPECT_GE(found.error[0], 0.9); // both 1 and 3 are slopes
}

TEST(SlopesByDifferences, AreRightToTheirErrorForFunctionsOfManyKinds) {
  expect_slope(1.0, 1e-10, [](double t) { return std::exp(t); });
  expect_slope(4.0, 1e-9, [](double t) { return std::pow(1.0 + t, 4.0); });
  expect_slope(1e3, 1e-3, [](double t) { return std::sin(1e3 * t); });
  expect_slope(0.0, 1e-12, [](double t) { return std::max(0.0, t - 0.01); });
  expect_slope(1.0, 1e-8, [](double t) { return 1e4 + t; });
}

TEST(SlopesByDifferences, AreTakenToOneSideAtTheEdgeOfADomain) {
  expect_slope(1.5, 1e-6, [](double t) { return t < 0.0 ? std::nan("") : std::pow(1.0 + t, 1.5); });
}

TEST(SlopesByDifferences, KeepToTheRoomThatTheyHave) {
  double farthest = 0.0;
  (void)slope_at_zero(
      [&](double t) {
        farthest = std::max(farthest, std::abs(t));
        return std::exp(t);
      },
      {.below = 1e-3, .above = 1e-3});
  EXPECT_LE(farthest, 1e-3);
}

TEST(NoiseOfACurve, IsThatOfNumbersThatAreRoundedWithinToTheFactorThatErrorsAreTrustedTo) {
  const auto in_float = curve_of([](double t) { return static_cast<double>(static_cast<float>(std::sin(1.0 + t))); });
  const double noise = detail::noise_of(in_float, in_float(0.0), everywhere, epsilon, 6)[0];
  constexpr double of_rounding = 1.7e-8; // the rms, for floats from ½ to 1
  EXPECT_GT(noise, of_rounding / detail::ladder_safety);
  EXPECT_LT(noise, of_rounding * detail::ladder_safety);
}

} // namespace
} // namespace duplex::testing
