#pragma once
// Dense factorizations, compiled once for float and double: they are what is slow to
// compile in a numerics project, and nothing is gained by compiling them again.

#include <duplex/numerics/linear_status.hpp>

#include <Eigen/Core>

#include <memory>

namespace duplex::dense {

template <class Scalar> using Vector = Eigen::Matrix<Scalar, Eigen::Dynamic, 1>;
template <class Scalar> using Matrix = Eigen::Matrix<Scalar, Eigen::Dynamic, Eigen::Dynamic>;

/// LDLᵀ with pivoting of a symmetric matrix. Copies share the factors.
template <class Scalar> class SymmetricFactor {
public:
  SymmetricFactor() = default;
  explicit SymmetricFactor(const Matrix<Scalar> &matrix);

  /// Smallest and largest pivot: the first is not positive where the matrix is not
  /// positive definite.
  [[nodiscard]] double smallest_pivot() const;
  [[nodiscard]] double largest_pivot() const;
  /// Positive definite, and not merely by rounding.
  [[nodiscard]] bool is_positive_definite() const;

  void solve(const Vector<Scalar> &b, Vector<Scalar> &x) const;
  [[nodiscard]] Matrix<Scalar> solve(const Matrix<Scalar> &b) const;

private:
  struct Factors;
  std::shared_ptr<const Factors> factors_;
};

/// The inverse of a symmetric H by way of S = D^-½HD^-½, D = |diag H|, on which it is judged what H is: the units of
/// the variables do not matter. Copies share the factors.
template <class Scalar> class ScaledInverse {
public:
  ScaledInverse() = default;
  /// The part of `matrix` that is not symmetric is rounding, and is left out. Where no more than `accuracy` of S is
  /// known, none of its eigenvalues is taken to be smaller than that beside the largest, and H is not singular.
  explicit ScaledInverse(const Matrix<Scalar> &matrix, double accuracy = 0.0);

  [[nodiscard]] bool is_there() const { return factors_ != nullptr; }
  /// `converged` where H is positive definite beyond rounding; `singular`, `indefinite` or `not_finite` where it is
  /// not.
  [[nodiscard]] LinearStatus kind() const;
  /// x = H⁻¹b; where H is indefinite, with the moduli of the eigenvalues of S; where it is singular, in its range.
  void apply(const Vector<Scalar> &b, Vector<Scalar> &x) const;
  /// Orthonormal columns that span the null space of a singular H; none where it is not singular.
  [[nodiscard]] Matrix<Scalar> null_space() const;

private:
  struct Factors;
  std::shared_ptr<const Factors> factors_;
};

/// Ascending eigenvalues and orthonormal eigenvectors of a symmetric matrix.
template <class Scalar> struct Spectrum {
  Vector<Scalar> values;
  Matrix<Scalar> vectors;
};

template <class Scalar> [[nodiscard]] Spectrum<Scalar> symmetric_spectrum(const Matrix<Scalar> &matrix);

/// The shortest of the vectors x that minimize ‖Ax − b‖, refined once.
template <class Scalar> [[nodiscard]] Vector<Scalar> least_squares(const Matrix<Scalar> &a, const Vector<Scalar> &b);

/// An orthonormal basis of the columns' space: the Q of a QR factorization.
template <class Scalar> [[nodiscard]] Matrix<Scalar> orthonormal_basis(const Matrix<Scalar> &columns);

extern template class SymmetricFactor<float>;
extern template class SymmetricFactor<double>;
extern template class ScaledInverse<float>;
extern template class ScaledInverse<double>;
extern template Spectrum<float> symmetric_spectrum(const Matrix<float> &matrix);
extern template Spectrum<double> symmetric_spectrum(const Matrix<double> &matrix);
extern template Vector<float> least_squares(const Matrix<float> &a, const Vector<float> &b);
extern template Vector<double> least_squares(const Matrix<double> &a, const Vector<double> &b);
extern template Matrix<float> orthonormal_basis(const Matrix<float> &columns);
extern template Matrix<double> orthonormal_basis(const Matrix<double> &columns);

} // namespace duplex::dense
