// The lower level solved for y, against minimizers in closed form.

#include "archived.hpp"
#include "support.hpp"

#include <duplex/methods/automatic/lower_solver.hpp>

namespace duplex::testing {
namespace {

using automatic::InnerSolver;
using automatic::LowerSolver;

/// f = Σ c(eʸ − xy) with y* = log x, where Newton's method overshoots from far below; counts what it costs.
struct Exponentials : Point<Vec> {
  double sign = 1.0;
  int gradients = 0;
  int products = 0;
  [[nodiscard]] double value() const { return sign * (y().array().exp() - x().array() * y().array()).sum(); }
  void grad_y(Vec &out) {
    ++gradients;
    out = sign * (y().array().exp() - x().array());
  }
  void hess_yy(const Vec &v, Vec &out) {
    ++products;
    out = sign * y().array().exp() * v.array();
  }
};

/// f = ½yᵀAy − xᵀy with y* = A⁻¹x.
struct QuadraticLower : Point<Vec> {
  Vec spectrum;
  int gradients = 0;
  [[nodiscard]] double value() const { return 0.5 * y().dot(spectrum.cwiseProduct(y())) - x().dot(y()); }
  void grad_y(Vec &out) {
    ++gradients;
    out = spectrum.cwiseProduct(y()) - x();
  }
  void hess_yy(const Vec &v, Vec &out) const { out = spectrum.cwiseProduct(v); }
};

TEST(ALowerSolver, SaysThatAGradientIsNotFinite) {
  Exponentials lower;
  const Vec x = Vec::Constant(2, std::nan(""));
  Vec y = Vec::Zero(2);
  Vec left = Vec::Zero(2);
  InnerSolver<Vec> inner(y, y, 10);
  LowerSolver<Vec> solver(y);
  EXPECT_EQ(solver.solve(lower, inner, x, y, {.relative = 0.01}, left).status, LinearStatus::not_finite);
  EXPECT_EQ(y.norm(), 0.0);
}

/// f = Σ ½y² − xy + θ y log y: near y = 0 a Newton step is next to nothing, however far y* is.
struct Entropies : Point<Vec> {
  static constexpr double theta = 0.1;
  [[nodiscard]] double value() const {
    return (0.5 * y().array().square() - x().array() * y().array() + theta * y().array() * y().array().log()).sum();
  }
  void grad_y(Vec &out) const { out = y().array() - x().array() + theta * (1.0 + y().array().log()); }
  void hess_yy(const Vec &v, Vec &out) const { out = (1.0 + theta / y().array()) * v.array(); }
};

TEST(ALowerSolver, ComesBackFromTheEdgeOfADomainWhereHIsAssembled) {
  for (const double entry : {1e-3, 1e-8, 1e-16, 1e-30}) {
    Entropies lower;
    const Vec x = Vec::LinSpaced(3, 0.5, 1.5);
    Vec y = (Vec(3) << 0.3, entry, 0.8).finished();
    Vec left = Vec::Zero(3);
    InnerSolver<Vec> inner(y, y, 10);
    LowerSolver<Vec> solver(y);
    for (int solve = 0; solve < 3; ++solve) { // the first ones find out that f is curved, and assemble H
      ASSERT_EQ(solver.solve(lower, inner, x, y, {.absolute = 1e-8}, left).status, LinearStatus::converged);
    }
    lower.at(x, y);
    lower.grad_y(left);
    EXPECT_LE(left.cwiseAbs().maxCoeff(), 1e-6) << entry << ": " << y.transpose();
  }
}

/// f = ½(y − 5)² − log(y − x), which exists beyond x.
struct BarrierAtX : Point<Vec> {
  int values = 0;
  [[nodiscard]] double value() {
    ++values;
    return 0.5 * std::pow(y()[0] - 5.0, 2) - std::log(y()[0] - x()[0]);
  }
  void grad_y(Vec &out) const { out[0] = y()[0] - 5.0 - 1.0 / (y()[0] - x()[0]); }
  void hess_yy(const Vec &v, Vec &out) const { out[0] = v[0] * (1.0 + std::pow(y()[0] - x()[0], -2)); }
};

TEST(ALowerSolver, WhereXHasMovedTheDomainAwayComesBackIntoItOrSaysThatItCannot) {
  const auto solve_from_below = [](double x, Vec &y) {
    BarrierAtX lower;
    Vec left = Vec::Zero(1);
    InnerSolver<Vec> inner(y, y, 10);
    const auto report = LowerSolver<Vec>(y).solve(lower, inner, Vec(Vec::Constant(1, x)), y, {.absolute = 1e-9}, left);
    EXPECT_LE(lower.values, 200);
    return report.status;
  };
  Vec y = Vec::Zero(1);
  EXPECT_EQ(solve_from_below(1.0, y), LinearStatus::converged);
  EXPECT_NEAR((y[0] - 5.0) * (y[0] - 1.0), 1.0, 1e-7);
  y[0] = 4.0;
  EXPECT_EQ(solve_from_below(4.9, y), LinearStatus::not_finite);
  EXPECT_EQ(y[0], 4.0);
}

TEST(ALowerSolver, SaysThatTheHessianIsSingular) {
  QuadraticLower lower;
  lower.spectrum = Vec::Zero(2);
  const Vec x = Vec::Ones(2);
  Vec y = Vec::Zero(2);
  Vec left = Vec::Zero(2);
  InnerSolver<Vec> inner(y, y, 10);
  EXPECT_EQ(LowerSolver<Vec>(y).solve(lower, inner, x, y, {.relative = 0.01}, left).status, LinearStatus::singular);
}

TEST(ALowerSolver, ThatBeginsAtAMinimizerStillFindsOutThatTheLowerLevelIsCurved) {
  Exponentials lower;
  Vec x = Vec::Ones(3);
  Vec y = Vec::Zero(3); // log x
  Vec left = Vec::Zero(3);
  InnerSolver<Vec> inner(y, y, 10);
  LowerSolver<Vec> solver(y);
  ASSERT_EQ(solver.solve(lower, inner, x, y, {.relative = 0.01}, left).status, LinearStatus::converged);
  EXPECT_EQ(y.norm(), 0.0);
  x.setConstant(4.0);
  ASSERT_EQ(solver.solve(lower, inner, x, y, {.absolute = 1e-6}, left).status, LinearStatus::converged);
  EXPECT_TRUE(solver.is_curved());
  EXPECT_LE((y.array() - std::log(4.0)).matrix().norm(), 1e-5);
}

TEST(ALowerSolver, OnAQuadraticLowerLevelChecksItsModelEverMoreRarely) {
  QuadraticLower lower;
  lower.spectrum = log_spaced_spectrum<double>(12, 30.0, 1.0);
  Vec y = Vec::Zero(12);
  Vec left = Vec::Zero(12);
  InnerSolver<Vec> inner(y, y, 40);
  LowerSolver<Vec> solver(y);
  for (std::uint64_t k = 0; k < 40; ++k) {
    const Vec x = random_vector(12, k);
    const auto report = solver.solve(lower, inner, x, y, {.absolute = 1e-8}, left);
    ASSERT_EQ(report.status, LinearStatus::converged);
    const double error = (y - x.cwiseQuotient(lower.spectrum)).norm();
    EXPECT_LE(error, 1e-7);
    EXPECT_LE((left - (lower.spectrum.cwiseProduct(y) - x)).norm(), 1e-9) << "what is left of the gradient";
  }
  EXPECT_FALSE(solver.is_curved());
  EXPECT_LE(lower.gradients, 40 + 7) << "one a solve, and one for each check: after 1, 2, 4, 8, 16, 16 solves";
  const int before = lower.gradients;
  solver.check_anew();
  const Vec x = random_vector(12, 99);
  (void)solver.solve(lower, inner, x, y, {.absolute = 1e-8}, left);
  EXPECT_EQ(lower.gradients, before + 2);
}

TEST(ALowerSolver, FindsTheMinimizerOfWhatIsNotQuadraticWhereverItStarts) {
  const Vec x = Vec::LinSpaced(4, 0.5, 3.0);
  for (const double start : {-6.0, 0.0, 4.0}) {
    Exponentials lower;
    Vec y = Vec::Constant(4, start);
    Vec left = Vec::Zero(4);
    InnerSolver<Vec> inner(y, y, 10);
    LowerSolver<Vec> solver(y);
    const auto report = solver.solve(lower, inner, x, y, {.absolute = 1e-9}, left);
    EXPECT_EQ(report.status, LinearStatus::converged);
    EXPECT_TRUE(solver.is_curved());
    EXPECT_TRUE(inner.h_changes()) << "which no recycled image survives";
    EXPECT_LE((y.array() - x.array().log()).matrix().norm(), 1e-8) << start;
    EXPECT_LE(report.steps, lower.products) << "some of which assemble H";
  }
}

TEST(ALowerSolver, LowersWhatIsConcaveAndSaysThatItIs) {
  Exponentials lower;
  lower.sign = -1.0;
  const Vec x = Vec::Ones(1);
  Vec y = Vec::Constant(1, 0.5);
  Vec left = Vec::Zero(1);
  InnerSolver<Vec> inner(y, y, 10);
  lower.at(x, y);
  const double before = lower.value();
  EXPECT_EQ(LowerSolver<Vec>(y).solve(lower, inner, x, y, {.relative = 0.01}, left).status, LinearStatus::indefinite);
  lower.at(x, y);
  EXPECT_LT(lower.value(), before);
}

TEST(ALowerSolver, ThatIsRestoredChecksWhenTheOtherOneDoes) {
  QuadraticLower lower;
  lower.spectrum = Vec::LinSpaced(5, 1.0, 2.0);
  Vec y = Vec::Zero(5);
  Vec left = Vec::Zero(5);
  InnerSolver<Vec> inner(y, y, 10);
  LowerSolver<Vec> solver(y);
  for (std::uint64_t k = 0; k < 5; ++k) {
    const Vec x = random_vector(5, k);
    (void)solver.solve(lower, inner, x, y, {.absolute = 1e-8}, left);
  }
  LowerSolver<Vec> restored(y);
  read_back(written(solver), restored);
  InnerSolver<Vec> same_inner(y, y, 10);
  read_back(written(inner), same_inner);
  for (std::uint64_t k = 5; k < 12; ++k) {
    const Vec x = random_vector(5, k);
    Vec same = y;
    const int before = lower.gradients;
    (void)solver.solve(lower, inner, x, y, {.absolute = 1e-8}, left);
    const int middle = lower.gradients;
    (void)restored.solve(lower, same_inner, x, same, {.absolute = 1e-8}, left);
    EXPECT_EQ(lower.gradients - middle, middle - before);
    EXPECT_TRUE(same_bits(y, same));
  }
}

} // namespace
} // namespace duplex::testing
