#pragma once
// H e = b with H = ∇²yy f at one point: by conjugate gradients while they cost fewer products than H has columns, and
// from then on by the factors of H, assembled, where y is small enough for that. What an assembled H is, singular or
// not, does not depend on the units of y (assembled_hessian.hpp).

#include <duplex/numerics/assembled_hessian.hpp>
#include <duplex/numerics/conjugate_gradient.hpp>
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
  static constexpr Index direct_limit = 1000;
  static constexpr Index always_direct = 32;

  explicit HessianSolver(Product product) : product_(std::move(product)) {}

  /// H may be another one from now on. `exactly`: assembled at once where y is small enough. What was found of H is
  /// kept where H is still the same to the last bit, so that nothing depends on what was solved before.
  void begin(const V &like, bool exactly) {
    if (size_ != size(like)) {
      size_ = size(like);
      probe_ = image_of_probe_ = random_ = flat_ = image_ = correction_ = zeros_like(like);
      is_known_ = false;
    }
    const bool was_known = is_known_;
    is_known_ = is_known_ && is_the_same();
    has_changed_ = has_changed_ || is_known_ != was_known;
    if (!is_known_) {
      assembled_is_known_ = explored_ = false;
      curvatures_ = {};
    }
    direct_ = false; // factors that are known serve where they would be made
    products_ = 0;
    if (exactly || size_ <= always_direct) {
      make_direct();
    }
  }

  /// out = H⁻¹ b to a relative residual, from zero; where H is assembled, always to rounding. Where it is singular and
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
  /// Whether H was seen to be another one where it began anew.
  [[nodiscard]] bool has_changed() const { return has_changed_; }

  /// Says what H turned out to be, and finds the extreme eigenvalues where it is not assembled: by conjugate gradients
  /// with a random right-hand side, which has a part in every eigenvector, so that none hides; by its factors where H
  /// is assembled.
  [[nodiscard]] LinearStatus explore() {
    if (!direct_ && !explored_) {
      fill_unforeseeably(random_);
      const double found_all = 1e-5 / std::sqrt(static_cast<double>(size_)); // no part of z can be left out
      const LinearStatus status = solve_iteratively(random_, flat_, found_all, true);
      if (status == LinearStatus::converged) {
        curvatures_ = linear_.curvatures_met();
        scale(1.0 / norm(flat_), flat_);
        if (!(curvatures_.smallest > indistinct())) {
          return make_direct() ? kind() : LinearStatus::singular;
        }
        explored_ = true;
        remember();
        return status;
      }
      if (status == LinearStatus::not_finite || !make_direct()) {
        return status;
      }
    }
    return direct_ ? kind() : LinearStatus::converged;
  }
  /// |diag H|, where is_direct().
  [[nodiscard]] const V &sizes() const requires EigenVector<V> { return assembled_.sizes(); }
  /// After explore(), where not is_direct().
  [[nodiscard]] const Curvatures &curvatures() const { return curvatures_; }
  /// A direction of length one, mostly along the smallest curvatures.
  [[nodiscard]] const V &flat_direction() const { return flat_; }

  [[nodiscard]] bool is_direct() const { return direct_; }
  /// Assembles H where y is small enough for that.
  bool make_direct() {
    if constexpr (EigenVector<V>) {
      if (!direct_ && size_ <= direct_limit) {
        if (!assembled_is_known_) {
          assemble();
        }
        direct_ = true;
      }
    }
    return direct_;
  }

  /// out = H⁻¹ b once, without refinement, where is_direct(). Of a singular H, H⁺ b; of an indefinite one |H|⁻¹ b, so
  /// that −out lowers f where b is its gradient.
  void invert(const V &b, V &out) const {
    if constexpr (EigenVector<V>) {
      if (null_space_.cols() == 0) {
        assembled_.invert(b, out);
        return;
      }
      assembled_.invert(V(b - null_space_ * (null_space_.transpose() * b)), out);
      out -= null_space_ * (null_space_.transpose() * out);
    }
  }

  template <class W> using BasisOf = dense::Matrix<typename W::Scalar>;
  using Basis = OnlyForEigen<V, BasisOf>;
  /// Orthonormal columns that span the null space, where is_direct(); none where H is not singular.
  [[nodiscard]] const Basis &null_space() const { return null_space_; }

private:
  /// Keeps a product with random numbers, by which H is known again.
  void remember() {
    std::mt19937_64 generator(12);
    fill_normal(generator, probe_);
    product_(probe_, image_of_probe_);
    is_known_ = true;
  }
  [[nodiscard]] bool is_the_same() {
    product_(probe_, image_);
    if constexpr (EigenVector<V>) {
      return image_ == image_of_probe_;
    } else {
      axpy(-1.0, image_of_probe_, image_);
      return norm(image_) == 0.0;
    }
  }

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

  [[nodiscard]] LinearStatus kind() const {
    if constexpr (EigenVector<V>) {
      return assembled_.kind();
    } else {
      return LinearStatus::step_limit;
    }
  }

  void assemble() requires EigenVector<V> {
    is_known_ = assembled_is_known_ = false;
    assembled_.assemble(product_, random_);
    if (kind() != LinearStatus::not_finite) { // a product may fail once
      remember();
      assembled_is_known_ = true;
    }
    null_space_ = kind() == LinearStatus::singular ? assembled_.null_space() : Basis(size_, 0);
  }

  /// Refined against the residual of a product, as far as that helps.
  [[nodiscard]] LinearStatus solve_directly(const V &b, V &out) {
    if constexpr (EigenVector<V>) {
      constexpr int most_refinements = 3;
      if (kind() == LinearStatus::not_finite || kind() == LinearStatus::indefinite) {
        return kind();
      }
      if (!all_finite(b)) {
        return LinearStatus::not_finite;
      }
      invert(b, out);
      double before = std::numeric_limits<double>::infinity();
      for (int i = 0; i < most_refinements; ++i) {
        product_(out, image_);
        image_ = b - image_;
        image_ -= null_space_ * (null_space_.transpose() * image_);
        const double left = norm(image_);
        if (!(left < 0.5 * before)) {
          break;
        }
        before = left;
        invert(image_, correction_);
        out += correction_;
      }
      outside_ = static_cast<double>((null_space_.transpose() * b).norm());
      return LinearStatus::converged;
    } else {
      return LinearStatus::step_limit;
    }
  }

  Product product_;
  ConjugateGradient<V> linear_;
  Index size_ = 0;
  bool is_known_ = false; ///< something was found of H, which is that of the probe
  bool has_changed_ = false;
  bool assembled_is_known_ = false;
  bool explored_ = false;
  bool direct_ = false;       ///< solves by the factors
  std::int64_t products_ = 0; ///< spent on this H by conjugate gradients
  Curvatures curvatures_;
  double outside_ = 0.0;
  template <class W> using AssembledOf = AssembledHessian<W>;
  OnlyForEigen<V, AssembledOf> assembled_;
  Basis null_space_;
  V probe_;
  V image_of_probe_;
  V flat_;
  V random_;
  V image_;
  V correction_;
};

extern template class HessianSolver<Eigen::VectorXf>;
extern template class HessianSolver<Eigen::VectorXd>;

} // namespace duplex
