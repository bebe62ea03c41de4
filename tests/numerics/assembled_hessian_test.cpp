// H assembled from products, and its inverse in any units.

#include "support.hpp"

#include <duplex/numerics/assembled_hessian.hpp>

#include <limits>

namespace duplex::testing {
namespace {

/// Q diag(values) Qᵀ with a random Q.
Mat with_spectrum(const Vec &values, std::uint64_t seed) {
  const Index n = values.size();
  Mat random(n, n);
  for (Index j = 0; j < n; ++j) {
    random.col(j) = random_vector(n, seed + static_cast<std::uint64_t>(j));
  }
  const Mat q = dense::orthonormal_basis(random);
  return q * values.asDiagonal() * q.transpose();
}

AssembledHessian<Vec> assembled(const Mat &matrix) {
  AssembledHessian<Vec> hessian;
  hessian.assemble([&](const Vec &in, Vec &out) { out = matrix * in; }, Vec::Zero(matrix.rows()));
  return hessian;
}

TEST(AnAssembledHessian, SaysThatAProductIsNotFinite) {
  Mat matrix = Mat::Identity(3, 3);
  matrix(1, 2) = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(assembled(matrix).kind(), LinearStatus::not_finite);
}

TEST(AnAssembledHessian, IsNotThereBeforeItIsAssembledAndAfterItIsForgotten) {
  AssembledHessian<Vec> hessian;
  EXPECT_FALSE(hessian.is_there());
  hessian = assembled(Mat::Identity(2, 2));
  EXPECT_TRUE(hessian.is_there());
  hessian.forget();
  EXPECT_FALSE(hessian.is_there());
}

TEST(AnAssembledHessian, SolvesWhatIsPositiveDefiniteInAnyUnits) {
  const Mat matrix = with_spectrum(log_spaced_spectrum<double>(40, 1e4, 1.0), 1);
  for (const double spread : {1.0, 1e2, 1e4}) {
    const Vec units = log_spaced_spectrum<double>(40, spread * spread, 1.0 / spread);
    const Mat scaled = units.asDiagonal() * matrix * units.asDiagonal();
    const auto hessian = assembled(scaled);
    ASSERT_EQ(hessian.kind(), LinearStatus::converged) << spread;
    const Vec truth = random_vector(40, 9).cwiseQuotient(units);
    Vec found;
    hessian.invert(scaled * truth, found);
    EXPECT_LE((found - truth).cwiseProduct(units).norm(), 1e-9 * truth.cwiseProduct(units).norm()) << spread;
  }
}

TEST(AnAssembledHessian, KnowsUnitsThatDifferByAHundredPowersOfTen) {
  const Mat matrix = with_spectrum(log_spaced_spectrum<double>(6, 1e2, 1.0), 2);
  const Vec units = (Vec(6) << 1e-140, 1e-30, 1.0, 1e10, 1e40, 1e100).finished();
  const Mat scaled = units.asDiagonal() * matrix * units.asDiagonal();
  const auto hessian = assembled(scaled);
  ASSERT_EQ(hessian.kind(), LinearStatus::converged);
  EXPECT_EQ(hessian.null_space().cols(), 0);
  EXPECT_EQ(hessian.sizes(), scaled.diagonal());
  const Vec truth = random_vector(6, 9).cwiseQuotient(units);
  Vec found;
  hessian.invert(scaled * truth, found);
  EXPECT_LE((found - truth).cwiseProduct(units).norm(), 1e-12 * truth.cwiseProduct(units).norm());
}

TEST(AnAssembledHessian, WhoseDiagonalSaysNothingOfTheRestIsIndefinite) {
  Mat matrix = Mat::Identity(3, 3);
  matrix(0, 0) = matrix(1, 1) = 1e-300;
  matrix(0, 1) = matrix(1, 0) = 1e9;
  EXPECT_EQ(assembled(matrix).kind(), LinearStatus::indefinite);
}

TEST(AnAssembledHessian, OfASingularMatrixSolvesInItsRangeAndTellsItsNullSpace) {
  Vec values = Vec::LinSpaced(12, -3.0, 8.0).cwiseMax(0.0);
  const Index flat = (values.array() == 0.0).count();
  const Mat matrix = with_spectrum(values, 3);
  const auto hessian = assembled(matrix);
  ASSERT_EQ(hessian.kind(), LinearStatus::singular);
  const Mat null_space = hessian.null_space();
  ASSERT_EQ(null_space.cols(), flat);
  EXPECT_LE((matrix * null_space).norm(), 1e-12);
  EXPECT_LE((null_space.transpose() * null_space - Mat::Identity(flat, flat)).norm(), 1e-12);
  const Vec right = matrix * random_vector(12, 500);
  Vec found;
  hessian.invert(right, found);
  EXPECT_LE((matrix * found - right).norm(), 1e-10 * right.norm());
}

TEST(AnAssembledHessian, OfAnIndefiniteMatrixGivesADirectionOfDescent) {
  Vec values = Vec::LinSpaced(10, -1.0, 4.0);
  const Mat matrix = with_spectrum(values, 4);
  const auto hessian = assembled(matrix);
  ASSERT_EQ(hessian.kind(), LinearStatus::indefinite);
  EXPECT_EQ(hessian.null_space().cols(), 0);
  const Vec gradient = random_vector(10, 6);
  Vec step;
  hessian.invert(gradient, step);
  EXPECT_GT(gradient.dot(step), 0.0);
}

TEST(AnAssembledHessian, InFloatsIsAsGoodAsFloats) {
  using Floats = Eigen::VectorXf;
  const Eigen::MatrixXf matrix = with_spectrum(Vec::LinSpaced(8, 1.0, 20.0), 7).cast<float>();
  AssembledHessian<Floats> hessian;
  hessian.assemble([&](const Floats &in, Floats &out) { out = matrix * in; }, Floats::Zero(8));
  const Floats truth = random_vector<Floats>(8, 2);
  Floats found;
  hessian.invert(matrix * truth, found);
  EXPECT_LE((found - truth).norm(), 1e-5F * truth.norm());
}

} // namespace
} // namespace duplex::testing
