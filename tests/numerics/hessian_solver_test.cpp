// Solves with a Hessian at one point: in any units, singular or not, and known again where it has not changed.

#include "support.hpp"

#include <duplex/numerics/hessian_solver.hpp>

namespace duplex::testing {
namespace {

struct Solving {
  Mat h;
  int products = 0;
  HessianSolver<Vec> solver{[this](const Vec &in, Vec &image) {
    ++products;
    image.noalias() = h * in;
  }};
  Vec out;

  explicit Solving(Mat hessian) : h(std::move(hessian)), out(Vec::Zero(h.rows())) {}
  void begin(bool exactly = false) { solver.begin(out, exactly); }
};

/// Eigenvalues from 1 to `condition`, in a random basis.
Mat rotated(Index n, double condition) {
  const Mat basis = dense::orthonormal_basis<double>(Mat::Random(n, n));
  return basis * log_spaced_spectrum<double>(n, condition, 1.0).asDiagonal() * basis.transpose();
}

TEST(AHessianSolver, SaysThatAProductIsNotFinite) {
  Solving run(Mat::Constant(5, 5, std::nan("")));
  run.begin();
  EXPECT_EQ(run.solver.solve(Vec::Ones(5), run.out, 1e-6), LinearStatus::not_finite);
}

TEST(AHessianSolver, SaysWhatHIs) {
  Mat h = Mat::Identity(40, 40);
  for (const auto &[entry, kind] : {std::pair{1e-3, LinearStatus::converged}, std::pair{0.0, LinearStatus::singular},
                                    std::pair{-1e-3, LinearStatus::indefinite}}) {
    h(7, 7) = entry;
    h(7, 8) = h(8, 7) = 0.0;
    Solving run(h);
    run.begin(true);
    EXPECT_EQ(run.solver.explore(), kind) << entry;
  }
}

TEST(AHessianSolver, DoesNotCallUnitsSingular) {
  const Index n = 60;
  const Vec units = log_spaced_spectrum<double>(n, 1e12, 1e-6);
  Solving run(units.asDiagonal() * rotated(n, 10.0) * units.asDiagonal());
  run.begin();
  const Vec truth = units.cwiseInverse();
  ASSERT_EQ(run.solver.solve(run.h * truth, run.out, 1e-10), LinearStatus::converged);
  EXPECT_EQ(run.solver.explore(), LinearStatus::converged);
  EXPECT_LE((run.out - truth).cwiseQuotient(truth).norm(), 1e-8);
}

TEST(AHessianSolver, SolvesInTheRangeOfASingularH) {
  const Mat half = Mat::Random(20, 12);
  Solving run(half * half.transpose());
  run.begin(true);
  EXPECT_EQ(run.solver.null_space().cols(), 8);
  EXPECT_LE((run.h * run.solver.null_space()).norm(), 1e-12);
  const Vec truth = half * random_vector(12, 3); // orthogonal to the null space
  ASSERT_EQ(run.solver.solve(run.h * truth, run.out, 0.0), LinearStatus::converged);
  EXPECT_LE(relative_error(run.out, truth), 1e-8);
  EXPECT_LE(run.solver.outside(), 1e-10 * (run.h * truth).norm());
}

TEST(AHessianSolver, KnowsAnHAgainThatHasNotChanged) {
  for (const Index n : {Index(20), Index(1100)}) { // assembled, and explored by conjugate gradients
    Solving run(n < 100 ? rotated(n, 10.0) : Mat(log_spaced_spectrum<double>(n, 10.0, 1.0).asDiagonal()));
    run.begin();
    ASSERT_EQ(run.solver.explore(), LinearStatus::converged);
    const double smallest = run.solver.curvatures().smallest;
    run.products = 0;
    run.begin();
    EXPECT_EQ(run.solver.explore(), LinearStatus::converged);
    EXPECT_EQ(run.solver.curvatures().smallest, smallest);
    EXPECT_EQ(run.products, 1) << n;
    run.h(0, 0) *= 1.0 + 1e-15;
    run.begin();
    EXPECT_EQ(run.solver.explore(), LinearStatus::converged);
    EXPECT_GT(run.products, 10) << "another H, if only in its last bit";
  }
}

} // namespace
} // namespace duplex::testing
