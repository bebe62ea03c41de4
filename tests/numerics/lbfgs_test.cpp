// minimize_lbfgs against functions whose minimum is known.

#include "support.hpp"

#include <duplex/numerics/lbfgs.hpp>

namespace duplex::testing {
namespace {

TEST(Lbfgs, StaysAtAMinimum) {
  Vec x = Vec::Zero(3);
  const auto result = minimize_lbfgs(
      [](const Vec &at, Vec &gradient) {
        gradient = at;
        return 0.5 * at.squaredNorm();
      },
      x);
  EXPECT_TRUE(result.converged);
  EXPECT_EQ(result.evaluations, 1);
  EXPECT_EQ(x.norm(), 0.0);
}

TEST(Lbfgs, FindsTheMinimumOfAQuadratic) {
  const Vec a = log_spaced_spectrum<double>(30, 100.0, 1.0);
  Vec x = Vec::Zero(30);
  const auto result = minimize_lbfgs(
      [&](const Vec &at, Vec &gradient) {
        gradient = a.cwiseProduct(at) - Vec::Ones(30);
        return 0.5 * at.dot(a.cwiseProduct(at)) - at.sum();
      },
      x, {.max_iterations = 500, .gradient_tolerance = 1e-10, .value_tolerance = 0.0});
  EXPECT_TRUE(result.converged);
  const double smallest = -0.5 * a.cwiseInverse().sum();
  EXPECT_NEAR(result.value, smallest, 1e-6 * std::abs(smallest)); // the search allows for the rounding of floats
  EXPECT_LE((x - a.cwiseInverse()).norm(), 1e-3);
}

TEST(Lbfgs, FollowsTheValleyOfRosenbrock) {
  Vec x(2);
  x << -1.2, 1.0;
  const auto result = minimize_lbfgs(
      [](const Vec &at, Vec &gradient) {
        const double off = at[1] - at[0] * at[0];
        gradient = Vec(Eigen::Vector2d(-400.0 * at[0] * off - 2.0 * (1.0 - at[0]), 200.0 * off));
        return 100.0 * off * off + (1.0 - at[0]) * (1.0 - at[0]);
      },
      x, {.max_iterations = 200, .gradient_tolerance = 1e-9, .value_tolerance = 0.0});
  EXPECT_TRUE(result.converged) << result.iterations;
  EXPECT_LE((x - Vec::Ones(2)).norm(), 1e-6);
}

TEST(Lbfgs, StopsAtTheLastGoodPointWhereAValueIsNotFinite) {
  Vec x = Vec::Constant(1, 0.5);
  (void)minimize_lbfgs(
      [](const Vec &at, Vec &gradient) {
        gradient = Vec::Constant(1, 1.0);
        return at[0] < 0.0 ? std::nan("") : at[0];
      },
      x, {.max_iterations = 50, .value_tolerance = 0.0});
  EXPECT_GE(x[0], 0.0);
  EXPECT_LE(x[0], 0.5);
}

} // namespace
} // namespace duplex::testing
