#include <duplex/numerics/dense.hpp>

#include "numerics/in_double.hpp"

#include <Eigen/Cholesky>
#include <Eigen/QR>

namespace duplex::dense {

template <class Scalar> struct SymmetricFactor<Scalar>::Factors { Eigen::LDLT<Doubles> ldlt; };

template <class Scalar>
SymmetricFactor<Scalar>::SymmetricFactor(const Matrix<Scalar> &matrix)
    : factors_(std::make_shared<const Factors>(Factors{Eigen::LDLT<Doubles>(in_double(matrix))})) {}

template <class Scalar> double SymmetricFactor<Scalar>::smallest_pivot() const {
  return factors_->ldlt.vectorD().minCoeff();
}

template <class Scalar> double SymmetricFactor<Scalar>::largest_pivot() const {
  return factors_->ldlt.vectorD().cwiseAbs().maxCoeff();
}

template <class Scalar> bool SymmetricFactor<Scalar>::is_positive_definite() const {
  const double rounding = 4.0 * static_cast<double>(factors_->ldlt.rows()) *
                          static_cast<double>(Eigen::NumTraits<Scalar>::epsilon()) * largest_pivot();
  return smallest_pivot() > rounding;
}

template <class Scalar> void SymmetricFactor<Scalar>::solve(const Vector<Scalar> &b, Vector<Scalar> &x) const {
  x = factors_->ldlt.solve(in_double(b)).template cast<Scalar>();
}

template <class Scalar> Matrix<Scalar> SymmetricFactor<Scalar>::solve(const Matrix<Scalar> &b) const {
  return factors_->ldlt.solve(in_double(b)).template cast<Scalar>();
}

template <class Scalar> Vector<Scalar> least_squares(const Matrix<Scalar> &a, const Vector<Scalar> &b) {
  const Doubles matrix = in_double(a);
  const Vector<double> wanted = in_double(b);
  const Eigen::CompleteOrthogonalDecomposition<Doubles> solver(matrix);
  const Vector<double> first = solver.solve(wanted);
  return (first + solver.solve(wanted - matrix * first)).template cast<Scalar>();
}

template <class Scalar> Matrix<Scalar> orthonormal_basis(const Matrix<Scalar> &columns) {
  const Doubles basis = Eigen::HouseholderQR<Doubles>(in_double(columns)).householderQ();
  return basis.template cast<Scalar>();
}

template class SymmetricFactor<float>;
template class SymmetricFactor<double>;
template Vector<float> least_squares(const Matrix<float> &a, const Vector<float> &b);
template Vector<double> least_squares(const Matrix<double> &a, const Vector<double> &b);
template Matrix<float> orthonormal_basis(const Matrix<float> &columns);
template Matrix<double> orthonormal_basis(const Matrix<double> &columns);

} // namespace duplex::dense
