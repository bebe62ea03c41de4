#pragma once
// H assembled from its columns, and its inverse: by Cholesky's factors where it is positive definite, by its
// eigenvectors where it is not. Both are those of the scaled matrix S = D^-½HD^-½, D = |diag H|, so that the units of
// the variables do not matter: what counts as zero is judged on S. Where H is indefinite its diagonal says nothing of
// units, and the eigenvectors are its own.

#include <duplex/numerics/conjugate_gradient.hpp>
#include <duplex/numerics/dense.hpp>
#include <duplex/space/space.hpp>

namespace duplex {

template <EigenVector V> class AssembledHessian {
public:
  using Scalar = typename V::Scalar;

  /// Up to so many variables: the factors take half a second there and 32 MB.
  static constexpr Index largest = 2000;

  /// One product for each variable. `product(in, out)` is out = H in.
  template <class Product> void assemble(const Product &product, const V &like) {
    const Index n = like.size();
    dense::Matrix<Scalar> columns(n, n);
    V unit = V::Zero(n);
    V column = V::Zero(n);
    for (Index j = 0; j < n; ++j) {
      unit[j] = 1;
      product(unit, column);
      columns.col(j) = column;
      unit[j] = 0;
    }
    sizes_ = columns.diagonal().cwiseAbs();
    inverse_ = dense::ScaledInverse<Scalar>(columns);
  }

  [[nodiscard]] bool is_there() const { return inverse_.is_there(); }
  void forget() { inverse_ = {}; }

  /// `converged` where H is positive definite beyond rounding; otherwise what it is.
  [[nodiscard]] LinearStatus kind() const { return inverse_.kind(); }
  /// |diag H|
  [[nodiscard]] const V &sizes() const { return sizes_; }
  /// out = H⁻¹ b; where H is indefinite, with the moduli of its eigenvalues; where it is singular, in its range.
  void invert(const V &b, V &out) const { inverse_.apply(b, out); }
  /// Columns that span the null space of a singular H, orthonormal.
  [[nodiscard]] dense::Matrix<Scalar> null_space() const { return inverse_.null_space(); }

private:
  dense::ScaledInverse<Scalar> inverse_;
  V sizes_;
};

} // namespace duplex
