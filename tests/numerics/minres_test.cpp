// MINRES against factorizations of matrices that are not definite.

#include "support.hpp"

#include <duplex/numerics/dense.hpp>
#include <duplex/numerics/minres.hpp>

namespace duplex::testing {
namespace {

constexpr auto always = [](const Vec & /*x*/) { return true; };

std::int64_t solve_by_minres(const Mat &k, const Vec &b, Vec &x, std::int64_t most_steps) {
  return minres([&](const Vec &in, Vec &out) { out.noalias() = k * in; }, b, x, most_steps, always);
}

TEST(Minres, LeavesZeroWhereTheRightHandSideIs) {
  Vec x = Vec::Ones(3);
  EXPECT_EQ(solve_by_minres(Mat::Identity(3, 3), Vec::Zero(3), x, 10), 0);
  EXPECT_EQ(x, Vec::Zero(3));
}

TEST(Minres, SolvesASystemThatIsNotDefinite) {
  const Index n = 30;
  const Vec numbers = random_vector(n * n, 1);
  const Mat root = Eigen::Map<const Mat>(numbers.data(), n, n);
  const Mat k = root + root.transpose();
  const Vec truth = random_vector(n, 2);
  Vec x = Vec::Zero(n);
  (void)solve_by_minres(k, k * truth, x, 200);
  EXPECT_LE(relative_error(x, truth), 1e-8);
}

TEST(Minres, EndsAfterAStepForEachDistinctEigenvalue) {
  const Vec spectrum = (Vec(6) << -1.0, -1.0, 2.0, 2.0, 3.0, 3.0).finished();
  Vec x = Vec::Zero(6);
  EXPECT_EQ(solve_by_minres(spectrum.asDiagonal(), Vec::Ones(6), x, 100), 3);
  EXPECT_LE(relative_error(x, spectrum.cwiseInverse()), 1e-14);
}

TEST(Minres, HasTheShortestResidualOfItsKrylovSpace) {
  const Vec spectrum = Vec::LinSpaced(8, -3.0, 4.5);
  const Mat k = spectrum.asDiagonal();
  const Vec b = random_vector(8, 3);
  Mat krylov(8, 3);
  krylov.col(0) = b;
  krylov.col(1) = k * b;
  krylov.col(2) = k * k * b;
  const Mat images = k * krylov;
  const Vec best = krylov * dense::least_squares<double>(images, b);
  Vec x = Vec::Zero(8);
  EXPECT_EQ(solve_by_minres(k, b, x, 3), 3);
  EXPECT_LE(relative_error(x, best), 1e-10);
}

} // namespace
} // namespace duplex::testing
