#pragma once
// H e = b with H = ∇²yy f at one point: by conjugate gradients while they cost fewer products than H has columns, and
// from then on by its eigenvectors where y is small enough to have them.

#include <duplex/numerics/conjugate_gradient.hpp>
#include <duplex/numerics/dense.hpp>
#include <duplex/space/space.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <random>
#include <utility>

namespace duplex {

template <VectorSpace V> class HessianSolver {
public:
  using Product = std::function<void(const V &in, V &out)>;

  /// Up to so many variables H is assembled where that is cheaper; up to `always_direct` it always is.
  static constexpr Index direct_limit = 256;
  static constexpr Index always_direct = 32;

  explicit HessianSolver(Product product) : product_(std::move(product)) {}

  /// H is another one from now on. `exactly`: assembled at once where y is small enough.
  void begin(const V &like, bool exactly) {
    if (size_ != size(like)) {
      size_ = size(like);
      random_ = flat_ = image_ = correction_ = zeros_like(like);
    }
    direct_ = false;
    products_ = 0;
    kind_ = LinearStatus::converged;
    curvatures_ = {};
    null_dimensions_ = 0;
    if (exactly || size_ <= always_direct) {
      make_direct();
    }
  }

  /// out = H⁻¹ b to a relative residual, from zero; by eigenvectors always to rounding. Where H is singular and
  /// assembled out solves what of b is in its range, and outside() is the length of the rest.
  [[nodiscard]] LinearStatus solve(const V &b, V &out, double tolerance) {
    outside_ = 0.0;
    if (!direct_) {
      const LinearStatus status = solve_iteratively(b, out, tolerance, false);
      if (status == LinearStatus::converged || status == LinearStatus::not_finite || !make_direct()) {
        return status;
      }
    }
    return solve_directly(b, out);
  }

  [[nodiscard]] double outside() const { return outside_; }

  /// Finds the extreme eigenvalues, and says what H turned out to be: by conjugate gradients with a random right-hand
  /// side, which has a part in every eigenvector, so that none hides; by all eigenvalues where H is assembled.
  [[nodiscard]] LinearStatus explore() {
    if (!direct_) {
      fill_unforeseeably(random_);
      const double found_all = 1e-5 / std::sqrt(static_cast<double>(size_)); // no part of z can be left out
      const LinearStatus status = solve_iteratively(random_, flat_, found_all, true);
      if (status == LinearStatus::converged) {
        curvatures_ = linear_.curvatures_met();
        scale(1.0 / norm(flat_), flat_);
        return curvatures_.smallest > indistinct() ? status : (make_direct() ? kind_ : LinearStatus::singular);
      }
      if (status == LinearStatus::not_finite || !make_direct()) {
        return status;
      }
    }
    return kind_;
  }
  /// After explore(), or where is_direct().
  [[nodiscard]] const Curvatures &curvatures() const { return curvatures_; }
  /// A direction of length one, mostly along the smallest curvatures.
  [[nodiscard]] const V &flat_direction() const { return flat_; }

  [[nodiscard]] bool is_direct() const { return direct_; }
  /// Assembles H where y is small enough for that.
  bool make_direct() {
    if constexpr (EigenVector<V>) {
      if (!direct_ && size_ <= direct_limit) {
        assemble();
      }
    }
    return direct_;
  }

  /// out = H⁻¹ b once, without refinement, where is_direct(); of a singular H, in its range.
  void invert(const V &b, V &out) const {
    if constexpr (EigenVector<V>) {
      const Index regular = size_ - null_dimensions_;
      const auto vectors = spectrum_.vectors.rightCols(regular);
      out = vectors * (vectors.transpose() * b).cwiseQuotient(spectrum_.values.tail(regular));
    }
  }

  /// out = |H|⁻¹ b where is_direct(): with the moduli of the eigenvalues, so that −out lowers f where b is its
  /// gradient.
  void invert_moduli(const V &b, V &out) const {
    if constexpr (EigenVector<V>) {
      const auto least = static_cast<typename V::Scalar>(std::max(indistinct(), std::numeric_limits<double>::min()));
      out = spectrum_.vectors *
            (spectrum_.vectors.transpose() * b).cwiseQuotient(spectrum_.values.cwiseAbs().cwiseMax(least));
    }
  }

  template <class W> using SpectrumOf = dense::Spectrum<typename W::Scalar>;
  using Spectrum = OnlyForEigen<V, SpectrumOf>;
  /// Ascending, where is_direct().
  [[nodiscard]] const Spectrum &spectrum() const { return spectrum_; }
  /// How many of its eigenvalues cannot be told from zero, where is_direct().
  [[nodiscard]] Index null_dimensions() const { return null_dimensions_; }

private:
  /// A right-hand side that depends on every entry of H, so that no H can be made to hide a direction from it: drawn
  /// by the angle between a random z and Hz, which is the same in any units.
  void fill_unforeseeably(V &out) {
    constexpr double digits = 1e9; // that rounding leaves alone
    std::mt19937_64 first(5);
    fill_normal(first, out);
    product_(out, image_);
    const double cosine = dot(out, image_) / (norm(out) * norm(image_));
    std::mt19937_64 second(std::isfinite(cosine) ? static_cast<std::uint64_t>(std::llround(digits * (2.0 + cosine)))
                                                 : 5);
    fill_normal(second, out);
  }

  /// What rounding alone may leave of an eigenvalue that is zero.
  [[nodiscard]] double indistinct() const {
    return 8.0 * precision(flat_) * static_cast<double>(size_) * curvatures_.largest;
  }

  [[nodiscard]] LinearStatus solve_iteratively(const V &b, V &out, double tolerance, bool keeps_spectrum) {
    constexpr std::int64_t patience = 10; // times the steps that conjugate gradients need without rounding
    const std::int64_t allowed = EigenVector<V> && size_ <= direct_limit
                                     ? std::max<std::int64_t>(0, size_ - products_)
                                     : patience * static_cast<std::int64_t>(size_) + 100;
    set_zero(out);
    const auto solved = linear_.solve(
        product_, b, out, {.tolerance = tolerance, .max_steps = allowed, .keeps_spectrum = keeps_spectrum}, true);
    products_ += solved.steps;
    return solved.status;
  }

  void assemble() requires EigenVector<V> {
    using Matrix = dense::Matrix<typename V::Scalar>;
    Matrix hessian(size_, size_);
    V unit = V::Zero(size_);
    V column = V::Zero(size_);
    for (Index j = 0; j < size_; ++j) {
      unit[j] = 1;
      product_(unit, column);
      hessian.col(j) = column;
      unit[j] = 0;
    }
    direct_ = true;
    if (!hessian.allFinite()) {
      kind_ = LinearStatus::not_finite;
      return;
    }
    const Matrix symmetric = (hessian + hessian.transpose()) / 2;
    spectrum_ = dense::symmetric_spectrum<typename V::Scalar>(symmetric);
    const auto &values = spectrum_.values;
    curvatures_ = {static_cast<double>(values[0]),
                   std::max(std::abs(static_cast<double>(values[0])), static_cast<double>(values[size_ - 1]))};
    null_dimensions_ = 0;
    while (null_dimensions_ < size_ && static_cast<double>(values[null_dimensions_]) <= indistinct()) {
      ++null_dimensions_;
    }
    kind_ = curvatures_.smallest < -indistinct() ? LinearStatus::indefinite
            : null_dimensions_ > 0               ? LinearStatus::singular
                                                 : LinearStatus::converged;
    flat_ = spectrum_.vectors.col(0);
  }

  /// Refined against the residual of a product, as far as that helps.
  [[nodiscard]] LinearStatus solve_directly(const V &b, V &out) {
    if constexpr (EigenVector<V>) {
      constexpr int most_refinements = 3;
      if (kind_ == LinearStatus::not_finite || kind_ == LinearStatus::indefinite) {
        return kind_;
      }
      if (!all_finite(b)) {
        return LinearStatus::not_finite;
      }
      const auto range = spectrum_.vectors.rightCols(size_ - null_dimensions_);
      invert(b, out);
      double before = std::numeric_limits<double>::infinity();
      for (int i = 0; i < most_refinements; ++i) {
        product_(out, image_);
        image_ = b - image_;
        const double left = static_cast<double>((range.transpose() * image_).norm());
        if (!(left < 0.5 * before)) {
          break;
        }
        before = left;
        invert(image_, correction_);
        out += correction_;
      }
      outside_ = static_cast<double>((spectrum_.vectors.leftCols(null_dimensions_).transpose() * b).norm());
      return LinearStatus::converged;
    } else {
      return LinearStatus::step_limit;
    }
  }

  Product product_;
  ConjugateGradient<V> linear_;
  Index size_ = 0;
  bool direct_ = false;
  std::int64_t products_ = 0; ///< spent on this H by conjugate gradients
  LinearStatus kind_ = LinearStatus::converged;
  Curvatures curvatures_;
  Index null_dimensions_ = 0;
  double outside_ = 0.0;
  Spectrum spectrum_;
  V flat_;
  V random_;
  V image_;
  V correction_;
};

extern template class HessianSolver<Eigen::VectorXf>;
extern template class HessianSolver<Eigen::VectorXd>;

} // namespace duplex
