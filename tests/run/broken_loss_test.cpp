// What is said of a loss that is not finite.

#include "scripted_run.hpp"

#include <duplex/run/broken_loss.hpp>

#include <stdexcept>

namespace duplex::testing {
namespace {

using detail::broken_loss;
using detail::broken_lower_level;
using detail::broken_upper_level;

bool everywhere(double /*x*/, double /*y*/) { return true; }
bool refuses(double /*x*/, double /*y*/) { throw std::runtime_error("log of a negative number"); }

TEST(BrokenLoss, IsOneThatIsNaNOrWhoseGradientIsNotFinite) {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(broken_loss("f", 1.0, true), "");
  EXPECT_EQ(broken_loss("f", infinity, true), ""); // which stops no method
  EXPECT_EQ(broken_loss("f", nan, true), "the loss f is NaN");
  EXPECT_EQ(broken_loss("F", infinity, false), "the loss F is infinite");
  EXPECT_EQ(broken_loss("F", 1.0, false), "the gradient of F is not finite");
}

TEST(BrokenLoss, IsNamedWithItsLevel) {
  const TwoSquares whole;
  const TwoSquares lower(1.0, everywhere);
  const TwoSquares upper(1.0, {}, everywhere);
  const Vec x = number(1.0);
  const Vec y = number(2.0);
  EXPECT_EQ(broken_lower_level(ProblemView<Vec>(whole), x, y), "");
  EXPECT_EQ(broken_upper_level(ProblemView<Vec>(whole), x, y), "");
  EXPECT_EQ(broken_lower_level(ProblemView<Vec>(lower), x, y), "lower level: the loss f is NaN");
  EXPECT_EQ(broken_upper_level(ProblemView<Vec>(lower), x, y), "");
  EXPECT_EQ(broken_upper_level(ProblemView<Vec>(upper), x, y), "upper level: the loss F is NaN");
}

TEST(BrokenLoss, MayBeRefusedByTheProblemItself) {
  const TwoSquares lower(1.0, refuses);
  EXPECT_EQ(broken_lower_level(ProblemView<Vec>(lower), number(1.0), number(2.0)),
            "lower level: its loss is refused (log of a negative number)");
}

TEST(BrokenLoss, IsSeenInSecondDerivativesAlone) {
  const TwoSquares steep(infinity, {});
  const Vec same = number(0.0);
  EXPECT_CONTAINS(broken_lower_level(ProblemView<Vec>(steep), same, same), "lower level: ");
}

} // namespace
} // namespace duplex::testing
