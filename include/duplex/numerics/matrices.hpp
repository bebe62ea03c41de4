#pragma once
// Symmetric positive-definite matrices as a problem wants them: a product, a
// solve where one is cheap, and the pair product of the fused step.

#include <duplex/core/error.hpp>
#include <duplex/core/fields.hpp>
#include <duplex/numerics/dense.hpp>
#include <duplex/space/space.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace duplex {

/// What the user's own matrix must offer. A const `solve(b, out)` makes closed
/// forms available; an operator without one is served by conjugate gradients.
template <class M, class V>
concept SymmetricOperator = std::copyable<M> && requires(const M &matrix, const V &in, V &out) {
  { matrix.size() } -> std::convertible_to<Index>;
  matrix.apply(in, out);
};

template <class M, class V>
concept SolvableOperator = SymmetricOperator<M, V> && requires(const M &matrix, const V &in, V &out) {
  matrix.solve(in, out);
};

class IdentityMatrix {
public:
  explicit IdentityMatrix(Index n) : n_(n) {}
  [[nodiscard]] Index size() const { return n_; }
  template <EigenVector V> void apply(const V &in, V &out) const { out = in; }
  template <EigenVector V> void solve(const V &in, V &out) const { out = in; }

  /// The product of rows `first` and following, for a piece of a vector.
  template <class Piece> [[nodiscard]] const Piece &rows(Index /*first*/, const Piece &piece) const { return piece; }
  /// None is stored.
  [[nodiscard]] static std::nullptr_t diagonal(Index /*first*/) { return nullptr; }

private:
  Index n_;
};

template <class Scalar> class DiagonalSpd {
public:
  using Vector = Eigen::Matrix<Scalar, Eigen::Dynamic, 1>;

  /// Throws InvalidInput unless every entry is positive and finite.
  explicit DiagonalSpd(Vector diagonal) : diagonal_(std::move(diagonal)) {
    for (Index i = 0; i < diagonal_.size(); ++i) {
      if (!(diagonal_[i] > 0) || !std::isfinite(diagonal_[i])) {
        throw InvalidInput("matrix: diagonal entry " + std::to_string(i + 1) + " is " +
                           number_text(static_cast<double>(diagonal_[i])) + ", expected a positive finite number");
      }
    }
  }
  [[nodiscard]] Index size() const { return diagonal_.size(); }
  void apply(const Vector &in, Vector &out) const { out = diagonal_.cwiseProduct(in); }
  void solve(const Vector &in, Vector &out) const { out = in.cwiseQuotient(diagonal_); }

  /// The product of rows `first` and following, for a piece of a vector.
  template <class Piece> [[nodiscard]] auto rows(Index first, const Piece &piece) const {
    return diagonal_.segment(first, piece.size()).cwiseProduct(piece);
  }
  /// From entry `first` on.
  [[nodiscard]] const Scalar *diagonal(Index first) const { return diagonal_.data() + first; }

private:
  Vector diagonal_;
};

/// A dense symmetric positive-definite matrix. Copies share the entries.
template <class Scalar> class DenseSpd {
public:
  using Vector = Eigen::Matrix<Scalar, Eigen::Dynamic, 1>;
  using Matrix = Eigen::Matrix<Scalar, Eigen::Dynamic, Eigen::Dynamic>;

  /// Throws InvalidInput, naming the entry, unless the matrix is square, finite,
  /// symmetric (to rounding) and positive definite.
  explicit DenseSpd(Matrix entries);

  /// Q diag(eigenvalues) Qᵀ with Q a product of three random reflections: dense,
  /// with known spectrum, and with an inverse that costs O(n).
  [[nodiscard]] static DenseSpd with_spectrum(const Vector &eigenvalues, std::uint64_t seed);

  [[nodiscard]] Index size() const { return data_->entries.rows(); }
  [[nodiscard]] const Matrix &entries() const { return data_->entries; }

  void apply(const Vector &in, Vector &out) const {
    out.resize(size());
    multiply(in.data(), nullptr, out.data(), nullptr);
  }

  /// [Au, Aw] in one pass.
  void apply_pair(const Vector &u, const Vector &w, Vector &au, Vector &aw) const {
    au.resize(size());
    aw.resize(size());
    multiply(u.data(), w.data(), au.data(), aw.data());
  }

  void solve(const Vector &in, Vector &out) const;

private:
  struct Data {
    Matrix entries;
    std::optional<dense::SymmetricFactor<Scalar>> factor; ///< of a matrix that was given
    Vector eigenvalues;
    std::vector<Vector> reflectors;
  };

  explicit DenseSpd(std::shared_ptr<const Data> data) : data_(std::move(data)) {}

  void multiply(const Scalar *u, const Scalar *w, Scalar *au, Scalar *aw) const;

  static void reflect(const Vector &w, Vector &x) { x -= (Scalar(2) * w.dot(x)) * w; }

  static void require_symmetric(Matrix &entries);

  std::shared_ptr<const Data> data_;
};

extern template class DenseSpd<float>;
extern template class DenseSpd<double>;

/// n numbers from `smallest` to `smallest`·`condition`, equally spaced in logarithm.
template <class Scalar>
[[nodiscard]] Eigen::Matrix<Scalar, Eigen::Dynamic, 1> log_spaced_spectrum(Index n, double condition, double smallest) {
  Eigen::Matrix<Scalar, Eigen::Dynamic, 1> spectrum(n);
  for (Index i = 0; i < n; ++i) {
    const double part = n > 1 ? static_cast<double>(i) / static_cast<double>(n - 1) : 0.0;
    spectrum[i] = static_cast<Scalar>(smallest * std::pow(condition, part));
  }
  return spectrum;
}

} // namespace duplex
