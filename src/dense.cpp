#include <duplex/dense.hpp>

#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>
#include <Eigen/QR>

namespace duplex::dense {

template <class Scalar> struct SymmetricFactor<Scalar>::Factors { Eigen::LDLT<Matrix<Scalar>> ldlt; };

template <class Scalar>
SymmetricFactor<Scalar>::SymmetricFactor(const Matrix<Scalar> &matrix)
    : factors_(std::make_shared<const Factors>(Factors{Eigen::LDLT<Matrix<Scalar>>(matrix)})) {}

template <class Scalar> double SymmetricFactor<Scalar>::smallest_pivot() const {
  return static_cast<double>(factors_->ldlt.vectorD().minCoeff());
}

template <class Scalar> double SymmetricFactor<Scalar>::largest_pivot() const {
  return static_cast<double>(factors_->ldlt.vectorD().cwiseAbs().maxCoeff());
}

template <class Scalar> bool SymmetricFactor<Scalar>::is_positive_definite() const {
  const double rounding = 4.0 * static_cast<double>(factors_->ldlt.rows()) *
                          static_cast<double>(Eigen::NumTraits<Scalar>::epsilon()) * largest_pivot();
  return smallest_pivot() > rounding;
}

template <class Scalar> void SymmetricFactor<Scalar>::solve(const Vector<Scalar> &b, Vector<Scalar> &x) const {
  x = factors_->ldlt.solve(b);
}

template <class Scalar> Matrix<Scalar> SymmetricFactor<Scalar>::solve(const Matrix<Scalar> &b) const {
  return factors_->ldlt.solve(b);
}

template <class Scalar> Spectrum<Scalar> symmetric_spectrum(const Matrix<Scalar> &matrix) {
  const Eigen::SelfAdjointEigenSolver<Matrix<Scalar>> solver(matrix);
  return {solver.eigenvalues(), solver.eigenvectors()};
}

template <class Scalar> Vector<Scalar> least_squares(const Matrix<Scalar> &a, const Vector<Scalar> &b) {
  const Eigen::CompleteOrthogonalDecomposition<Matrix<Scalar>> solver(a);
  const Vector<Scalar> first = solver.solve(b);
  return first + solver.solve(b - a * first);
}

template <class Scalar> Matrix<Scalar> orthonormal_basis(const Matrix<Scalar> &columns) {
  return Eigen::HouseholderQR<Matrix<Scalar>>(columns).householderQ();
}

template class SymmetricFactor<float>;
template class SymmetricFactor<double>;
template Spectrum<float> symmetric_spectrum(const Matrix<float> &matrix);
template Spectrum<double> symmetric_spectrum(const Matrix<double> &matrix);
template Vector<float> least_squares(const Matrix<float> &a, const Vector<float> &b);
template Vector<double> least_squares(const Matrix<double> &a, const Vector<double> &b);
template Matrix<float> orthonormal_basis(const Matrix<float> &columns);
template Matrix<double> orthonormal_basis(const Matrix<double> &columns);

} // namespace duplex::dense
