// Products by differences of gradients, against products in closed form, and what runs on them.

#include "support.hpp"

#include <cmath>

namespace duplex::testing {
namespace {

TEST(ByDifferencesOf, AProblemHasAboutItsProducts) {
  const auto problem = bent();
  const auto differenced = by_differences(problem);
  for (const double scale : {1.0, 1e-6, 1e6}) {
    const Vec x = random_vector(2, 1);
    const Vec y = random_vector(3, 2);
    const Vec v = scale * random_vector(3, 3);
    auto exact = problem.lower();
    auto found = differenced.lower();
    exact.at(x, y);
    found.at(x, y);
    Vec of_exact(3);
    Vec of_found(3);
    exact.hess_yy(v, of_exact);
    found.hess_yy(v, of_found);
    EXPECT_LE(relative_error(of_found, of_exact), 1e-8);
    Vec cross_of_exact(2);
    Vec cross_of_found(2);
    exact.cross_xy(v, cross_of_exact);
    found.cross_xy(v, cross_of_found);
    EXPECT_LE(relative_error(cross_of_found, cross_of_exact), 1e-8);
    found.hess_yy(Vec::Zero(3), of_found);
    EXPECT_EQ(of_found.norm(), 0.0);
    found.grad_y(of_found); // still at (x, y)
    exact.grad_y(of_exact);
    EXPECT_TRUE(same_bits(of_found, of_exact));
  }
}

/// f = ½y² − log y − xy, which exists beyond 0.
struct BesideAnEdge {
  using Vector = Vec;
  struct Lower : Point<Vec> {
    [[nodiscard]] double value() const { return 0.5 * y()[0] * y()[0] - std::log(y()[0]) - x()[0] * y()[0]; }
    void grad_x(Vec &out) const { out = -y(); }
    void grad_y(Vec &out) const { out[0] = y()[0] - 1.0 / y()[0] - x()[0]; }
  };
  struct Upper : Point<Vec> {
    [[nodiscard]] double value() const { return 0.5 * y().squaredNorm(); }
    void grad_x(Vec &out) const { out.setZero(); }
    void grad_y(Vec &out) const { out = y(); }
  };
  [[nodiscard]] Lower lower() const { return {}; }
  [[nodiscard]] Upper upper() const { return {}; }
  [[nodiscard]] Index x_size() const { return 1; }
  [[nodiscard]] Index y_size() const { return 1; }
  [[nodiscard]] Vec x_scale() const { return Vec::Constant(1, 3.0); }
  [[nodiscard]] Vec lower_bound() const { return Vec::Constant(1, -7.0); }
};

TEST(ByDifferencesOf, AProblemStaysInItsDomainAndKeepsWhatItOffers) {
  const auto problem = by_differences(BesideAnEdge{});
  auto lower = problem.lower();
  const Vec x = Vec::Zero(1);
  const Vec y = Vec::Constant(1, 1e-6); // less than the usual step
  lower.at(x, y);
  Vec product(1);
  lower.hess_yy(Vec::Ones(1), product);
  EXPECT_NEAR(product[0], 1e12, 1e10) << "1 + 1/y²";
  EXPECT_EQ(problem.x_scale()[0], 3.0);
  EXPECT_EQ(problem.box().lower()[0], -7.0);
}

TEST(ByDifferencesOf, AProblemPassesTheCheckOfItsDerivatives) {
  EXPECT_FALSE(check(by_differences(bent()), {.tolerance = 1e-5}).is_wrong());
}

TEST(ByDifferencesOf, AProblemIsSolvedByMethodsWithSecondDerivatives) {
  const auto problem = QuadraticSettings{.n = 4, .m = 6}.generate<double>();
  const auto differenced = by_differences(problem);
  auto state = problem.start();
  const auto summary = solve(differenced, Automatic{.tolerance = 1e-4}, state);
  EXPECT_TRUE(summary.converged()) << summary.brief();
  EXPECT_LE(relative_error(state.x, problem.answer()->x), 1e-3);
}

} // namespace
} // namespace duplex::testing
