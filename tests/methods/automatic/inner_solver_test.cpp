// Solves to an error: by conjugate gradients with recycled directions, and with H assembled where that pays.

#include "archived.hpp"
#include "support.hpp"

#include <duplex/methods/automatic/inner_solver.hpp>

namespace duplex::testing {
namespace {

using automatic::InnerSolver;
using automatic::InnerTolerance;

/// H = diag(values), with products that are counted.
struct InnerSolving {
  Vec values;
  int products = 0;
  Vec x = Vec::Zero(1);
  Vec y;
  InnerSolver<Vec> inner;
  Vec solution;

  InnerSolving(const Vec &diagonal, std::size_t memory)
      : values(diagonal), y(Vec::Zero(diagonal.size())), inner(x, y, memory), solution(y) {}

  void at(const Vec & /*x*/, const Vec & /*y*/) {}
  void hess_yy(const Vec &in, Vec &out) {
    ++products;
    out = values.cwiseProduct(in);
  }
  automatic::InnerReport solve(const Vec &right, const InnerTolerance &tolerance) {
    products = 0;
    solution.setZero();
    Vec residual = right;
    return inner.solve([this](const Vec &in, Vec &out) { hess_yy(in, out); }, x, y, residual, solution, tolerance);
  }
  [[nodiscard]] double error(const Vec &right) const { return (solution - right.cwiseQuotient(values)).norm(); }
};

TEST(AnInnerSolver, SaysWhatIsNotFinite) {
  InnerSolving run(Vec::Ones(3), 10);
  EXPECT_EQ(run.solve(Vec::Constant(3, std::nan("")), {.relative = 0.1}).status, LinearStatus::not_finite);
  run.values[1] = std::nan("");
  EXPECT_EQ(run.solve(Vec::Ones(3), {.relative = 0.1}).status, LinearStatus::not_finite);
}

TEST(AnInnerSolver, SaysThatHIsSingularOrIndefiniteAfterItHasAssembledIt) {
  InnerSolving singular(Vec::LinSpaced(6, 0.0, 5.0), 10);
  EXPECT_EQ(singular.solve(Vec::Ones(6), {.relative = 1e-6}).status, LinearStatus::singular);
  EXPECT_TRUE(singular.inner.is_direct());
  InnerSolving indefinite(Vec::LinSpaced(6, -1.0, 5.0), 10);
  EXPECT_EQ(indefinite.solve(Vec::Ones(6), {.relative = 1e-6}).status, LinearStatus::indefinite);
}

TEST(AnInnerSolver, EstimatesItsOwnError) {
  const Vec spectrum = log_spaced_spectrum<double>(200, 1000.0, 1.0);
  for (const double wanted : {1e-2, 1e-4, 1e-6}) {
    InnerSolving run(spectrum, 40);
    const Vec right = random_vector(200, 3);
    const auto report = run.solve(right, {.relative = wanted});
    ASSERT_EQ(report.status, LinearStatus::converged);
    EXPECT_LE(run.error(right), 3.0 * report.error);
    EXPECT_GE(run.error(right), 1e-2 * report.error);
    EXPECT_FALSE(run.inner.is_direct());
  }
}

TEST(AnInnerSolver, SolvesForNothingWhatItHasMet) {
  InnerSolving run(log_spaced_spectrum<double>(20, 10.0, 1.0), 40);
  for (const std::uint64_t seed : {1, 2, 3}) {
    const Vec right = random_vector(20, seed);
    (void)run.solve(right, {.absolute = 1e-6});
    EXPECT_LE(run.error(right), 1e-6);
    EXPECT_LE(run.products, seed == 1 ? 20 : 4);
  }
  EXPECT_FALSE(run.inner.h_changes());
}

TEST(AnInnerSolver, SeesThatTheHessianHasChanged) {
  InnerSolving run(log_spaced_spectrum<double>(50, 10.0, 1.0), 10);
  for (const std::uint64_t seed : {1, 2}) {
    (void)run.solve(random_vector(50, seed), {.absolute = 1e-6});
    run.values.array() += Eigen::ArrayXd::LinSpaced(50, 0.0, 1.0);
  }
  EXPECT_TRUE(run.inner.h_changes());
}

TEST(AnInnerSolver, AssemblesHOnceConjugateGradientsHaveCostAsMuch) {
  InnerSolving run(log_spaced_spectrum<double>(30, 1e8, 1e-4), 0);
  int products = 0;
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    const Vec right = random_vector(30, seed);
    ASSERT_EQ(run.solve(right, {.relative = 1e-8}).status, LinearStatus::converged);
    EXPECT_LE(run.error(right), 1e-6 * run.solution.norm());
    products += run.products;
  }
  EXPECT_EQ(run.inner.assemblies(), 1);
  EXPECT_LE(products, 30 + 2 + 30 + 40);
}

TEST(AnInnerSolver, ForgetsWhatItHasLearntWhereHIsAnother) {
  InnerSolving run(log_spaced_spectrum<double>(40, 10.0, 1.0), 10);
  (void)run.solve(random_vector(40, 1), {.relative = 1e-3});
  const auto before = run.inner.knowledge();
  run.values.array() *= Eigen::ArrayXd::LinSpaced(40, 1e5, 1e6);
  (void)run.solve(random_vector(40, 2), {.relative = 1e-3});
  ASSERT_TRUE(run.inner.h_changes());
  EXPECT_GT(run.inner.largest_curvature(), 1e5);
  run.inner.go_back_to(before);
  EXPECT_EQ(run.inner.largest_curvature(), before.largest);
  EXPECT_EQ(run.inner.smallest_curvature(), before.smallest);
  EXPECT_FALSE(run.inner.h_changes());
}

TEST(AnInnerSolver, ThatIsRestoredGivesTheSameBits) {
  InnerSolving run(log_spaced_spectrum<double>(30, 1e8, 1e-4), 5);
  for (std::uint64_t seed = 0; seed < 6; ++seed) {
    (void)run.solve(random_vector(30, seed), {.relative = 1e-8});
  }
  ASSERT_TRUE(run.inner.is_direct());
  InnerSolving other(run.values, 5);
  read_back(written(run.inner), other.inner);
  other.inner.restore(other);
  for (std::uint64_t seed = 10; seed < 40; ++seed) {
    (void)run.solve(random_vector(30, seed), {.relative = 1e-8});
    (void)other.solve(random_vector(30, seed), {.relative = 1e-8});
    ASSERT_TRUE(same_bits(run.solution, other.solution)) << seed;
  }
}

} // namespace
} // namespace duplex::testing
