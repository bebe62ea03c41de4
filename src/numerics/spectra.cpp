// What of dense.hpp needs eigenvalues, which take as long to compile as all the rest of it.

#include <duplex/numerics/conjugate_gradient.hpp>
#include <duplex/numerics/dense.hpp>

#include "numerics/in_double.hpp"

#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>
#include <Eigen/QR>

#include <algorithm>
#include <cmath>
#include <limits>

namespace duplex::dense {

template <class Scalar> struct ScaledInverse<Scalar>::Factors {
  LinearStatus kind = LinearStatus::converged;
  Eigen::VectorXd scale; ///< D^-½
  Eigen::LLT<Doubles> cholesky;
  Eigen::VectorXd
      inverse_values; ///< of S where it is not positive definite: 1/|λ|, zero for what is no more than rounding
  Doubles vectors;
};

namespace {

/// D^-½ with D = |diag H|. Where the diagonal vanishes there is no unit to be seen, and the largest one serves. A small
/// one is a unit like any other: a penalty eˣ makes them differ by a hundred powers of ten, and S no worse for that.
Eigen::VectorXd scale_of(const Doubles &matrix) {
  const Eigen::ArrayXd sizes = matrix.diagonal().cwiseAbs();
  const double largest = sizes.size() > 0 && sizes.maxCoeff() > 0.0 ? sizes.maxCoeff() : 1.0;
  return (sizes > 0.0).select(sizes, largest).sqrt().inverse();
}

} // namespace

template <class Scalar>
ScaledInverse<Scalar>::ScaledInverse(const Matrix<Scalar> &matrix, double accuracy)
    : factors_(std::make_shared<const Factors>([&] {
        Factors made;
        if (!matrix.allFinite()) {
          made.kind = LinearStatus::not_finite;
          return made;
        }
        const auto n = static_cast<double>(matrix.rows());
        const double epsilon = static_cast<double>(Eigen::NumTraits<Scalar>::epsilon());
        Doubles symmetric = in_double(matrix);
        symmetric = (0.5 * (symmetric + symmetric.transpose())).eval();
        made.scale = scale_of(symmetric);
        const double indistinct = 8.0 * n * epsilon;
        Doubles scaled = made.scale.asDiagonal() * symmetric * made.scale.asDiagonal();
        if (!scaled.allFinite()) { // it is indefinite, and its diagonal says nothing of units
          made.scale.setOnes();
          scaled = symmetric;
        }
        made.cholesky.compute(scaled);
        if (made.cholesky.info() == Eigen::Success && made.cholesky.rcond() > std::max(indistinct, accuracy)) {
          return made;
        }
        Eigen::SelfAdjointEigenSolver<Doubles> solver(scaled);
        const auto rounding = [&] { return indistinct * solver.eigenvalues().cwiseAbs().maxCoeff(); };
        const double smallest = solver.eigenvalues()[0];
        made.kind = smallest < -rounding()                    ? LinearStatus::indefinite
                    : accuracy > 0.0 || smallest > rounding() ? LinearStatus::converged
                                                              : LinearStatus::singular;
        if (accuracy > 0.0) {
          const Eigen::VectorXd moduli = solver.eigenvalues().cwiseAbs();
          if (!(moduli.maxCoeff() > 0.0)) {
            made.kind = LinearStatus::not_finite; // no curvature at all has no inverse
            return made;
          }
          made.inverse_values = moduli.cwiseMax(accuracy * moduli.maxCoeff()).cwiseInverse();
          made.vectors = solver.eigenvectors();
          return made;
        }
        if (made.kind == LinearStatus::indefinite) { // its diagonal may vanish, and say nothing of units
          made.scale.setOnes();
          solver.compute(symmetric);
        }
        const Eigen::VectorXd &values = solver.eigenvalues();
        made.inverse_values = (values.array().abs() > rounding()).select(values.cwiseAbs().cwiseInverse(), 0.0);
        made.vectors = solver.eigenvectors();
        return made;
      }())) {}

template <class Scalar> LinearStatus ScaledInverse<Scalar>::kind() const { return factors_->kind; }

template <class Scalar> void ScaledInverse<Scalar>::apply(const Vector<Scalar> &b, Vector<Scalar> &x) const {
  const Factors &f = *factors_;
  if (f.kind == LinearStatus::not_finite) {
    x = Vector<Scalar>::Constant(b.size(), std::numeric_limits<Scalar>::quiet_NaN());
    return;
  }
  const Eigen::VectorXd scaled = f.scale.cwiseProduct(in_double(b));
  const Eigen::VectorXd solution =
      f.vectors.size() == 0
          ? Eigen::VectorXd(f.cholesky.solve(scaled))
          : Eigen::VectorXd(f.vectors * f.inverse_values.cwiseProduct(f.vectors.transpose() * scaled));
  x = f.scale.cwiseProduct(solution).template cast<Scalar>();
}

template <class Scalar> Matrix<Scalar> ScaledInverse<Scalar>::null_space() const {
  const Factors &f = *factors_;
  if (f.kind != LinearStatus::singular) {
    return Matrix<Scalar>(f.scale.size(), 0);
  }
  Doubles flat(f.vectors.rows(), (f.inverse_values.array() == 0.0).count());
  for (Eigen::Index j = 0, column = 0; j < f.vectors.cols(); ++j) {
    if (f.inverse_values[j] == 0.0) {
      flat.col(column++) = f.scale.cwiseProduct(f.vectors.col(j));
    }
  }
  const Eigen::HouseholderQR<Doubles> orthogonal(flat);
  const Doubles basis = orthogonal.householderQ() * Doubles::Identity(flat.rows(), flat.cols());
  return basis.template cast<Scalar>();
}

template <class Scalar> Spectrum<Scalar> symmetric_spectrum(const Matrix<Scalar> &matrix) {
  const Eigen::SelfAdjointEigenSolver<Doubles> solver(in_double(matrix));
  return {solver.eigenvalues().template cast<Scalar>(), solver.eigenvectors().template cast<Scalar>()};
}

template class ScaledInverse<float>;
template class ScaledInverse<double>;
template Spectrum<float> symmetric_spectrum(const Matrix<float> &matrix);
template Spectrum<double> symmetric_spectrum(const Matrix<double> &matrix);

} // namespace duplex::dense

namespace duplex {

Curvatures tridiagonal_extremes(const std::vector<double> &diagonal, const std::vector<double> &off_diagonal) {
  const auto size = static_cast<Eigen::Index>(diagonal.size());
  if (size == 0) {
    return {};
  }
  const Eigen::VectorXd main = Eigen::Map<const Eigen::VectorXd>(diagonal.data(), size);
  const Eigen::VectorXd beside = Eigen::Map<const Eigen::VectorXd>(off_diagonal.data(), size - 1);
  Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver;
  solver.computeFromTridiagonal(main, beside, Eigen::EigenvaluesOnly);
  return {solver.eigenvalues().minCoeff(), solver.eigenvalues().maxCoeff()};
}

} // namespace duplex
