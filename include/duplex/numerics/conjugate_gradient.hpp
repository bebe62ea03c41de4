#pragma once
// Conjugate gradients for (H + εI) v = b with H given as a product, and a status
// that says what H turned out to be.

#include <duplex/numerics/linear_status.hpp>
#include <duplex/space/space.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

namespace duplex {

struct LinearOptions {
  double tolerance = 1e-10; ///< on ‖b − (H + εI)v‖ / ‖b‖
  std::int64_t max_steps = 1000;
  double damping = 0.0;        ///< ε
  bool keeps_spectrum = false; ///< so that curvatures_met() can be asked afterwards
};

struct LinearResult {
  LinearStatus status = LinearStatus::step_limit;
  std::int64_t steps = 0;
  double relative_residual = 1.0;
};

/// The smallest and the largest of some curvatures.
struct Curvatures {
  double smallest = 0.0;
  double largest = 0.0;
};

/// The extreme eigenvalues of a symmetric tridiagonal matrix.
[[nodiscard]] Curvatures tridiagonal_extremes(const std::vector<double> &diagonal,
                                              const std::vector<double> &off_diagonal);

/// What a curvature pᵀHp says of H, `converged` where it is positive: rounding leaves about ε‖p‖‖Hp‖ where it should be
/// zero, or ε‖p‖²λ, with λ the largest curvature met.
[[nodiscard]] inline LinearStatus curvature_status(double curvature, double p_norm, double image_norm, double largest,
                                                   double precision) {
  const double indistinct = 8.0 * precision * p_norm * (image_norm + largest * p_norm);
  if (curvature > indistinct) {
    return LinearStatus::converged;
  }
  return curvature < -indistinct ? LinearStatus::indefinite : LinearStatus::singular;
}

/// The iteration of Hestenes and Stiefel on H e = r, preconditioned or not: a direction p that is conjugate to those
/// before it, and the move along it that takes the residual there. Each step costs one product.
template <VectorSpace V> class ConjugateStep {
public:
  void restart(const V &like) {
    if (size(image_) != size(like)) { // a product is written into a vector of the right size
      image_ = zeros_like(like);
    }
    weight_ = metric_ = largest_ = 0.0;
  }

  /// Moves e and r. `preconditioned` is Mr, or r itself where there is no preconditioner, and `weight` is rᵀMr. Where
  /// the status is not `converged` it says what H turned out to be, and e and r have stayed.
  template <class Product>
  [[nodiscard]] LinearStatus move(const Product &product, const V &preconditioned, double weight, V &residual,
                                  V &solution) {
    turn(product, preconditioned, weight);
    const double square = dot(direction_, direction_);
    if (!std::isfinite(curvature_) || !std::isfinite(square)) {
      return LinearStatus::not_finite;
    }
    const auto status = curvature_status(curvature_, std::sqrt(square), norm(image_), largest_, precision(direction_));
    if (status == LinearStatus::converged) {
      quotient_ = curvature_ / square;
      largest_ = std::max(largest_, quotient_);
      take(weight, residual, solution);
    }
    return status;
  }

  /// The same where M is about the inverse of H: zero is judged beside pᵀM⁻¹p, so that the units of e's entries do not
  /// matter.
  template <class Product>
  [[nodiscard]] LinearStatus move_by_inverse(const Product &product, const V &preconditioned, double weight,
                                             V &residual, V &solution) {
    constexpr double indistinct = 1e-12; // of pᵀM⁻¹p, below which pᵀHp is no curvature
    turn(product, preconditioned, weight);
    if (!std::isfinite(curvature_) || !std::isfinite(weight)) {
      return LinearStatus::not_finite;
    }
    if (!(curvature_ > indistinct * metric_)) {
      return curvature_ < -indistinct * metric_ ? LinearStatus::indefinite : LinearStatus::singular;
    }
    take(weight, residual, solution);
    return LinearStatus::converged;
  }

  // Of the last move: p, Hp, pᵀHp, pᵀHp/pᵀp, and how many p long it was.
  [[nodiscard]] const V &direction() const { return direction_; }
  [[nodiscard]] const V &image() const { return image_; }
  [[nodiscard]] double curvature() const { return curvature_; }
  [[nodiscard]] double quotient() const { return quotient_; }
  [[nodiscard]] double length() const { return length_; }
  /// pᵀM⁻¹p/pᵀHp of the last move: how much flatter H is than M says.
  [[nodiscard]] double stretch() const { return metric_ / curvature_; }

private:
  /// p becomes conjugate to those before it.
  template <class Product> void turn(const Product &product, const V &preconditioned, double weight) {
    if (weight_ == 0.0) {
      assign(preconditioned, direction_);
      metric_ = weight;
    } else {
      const double ratio = weight / weight_;
      scale(ratio, direction_);
      axpy(1.0, preconditioned, direction_);
      metric_ = weight + ratio * ratio * metric_;
    }
    product(direction_, image_);
    curvature_ = dot(direction_, image_);
  }

  void take(double weight, V &residual, V &solution) {
    length_ = weight / curvature_;
    weight_ = weight;
    axpy(length_, direction_, solution);
    axpy(-length_, image_, residual);
  }

  V direction_;
  V image_;
  double weight_ = 0.0;  ///< rᵀMr of the move before; zero where there was none
  double metric_ = 0.0;  ///< pᵀM⁻¹p
  double largest_ = 0.0; ///< the largest quotient met: the scale against which zero is judged
  double curvature_ = 0.0;
  double quotient_ = 0.0;
  double length_ = 0.0;
};

/// Conjugate gradients to a relative residual, with vectors that are kept between calls.
/// Each step costs one product; a start v ≠ 0 costs one more.
template <VectorSpace V> class ConjugateGradient {
public:
  /// Improves v. On `singular` or `indefinite` v holds the last good iterate.
  template <class Product>
  LinearResult solve(Product &&product, const V &b, V &v, const LinearOptions &options, bool v_is_zero = false) {
    const auto damped = [&](const V &in, V &out) {
      product(in, out);
      if (options.damping != 0.0) {
        axpy(options.damping, in, out);
      }
    };
    const double scale_of_b = norm(b);
    LinearResult result;
    assign(b, residual_);
    if (!v_is_zero) {
      if (size(image_) != size(b)) {
        image_ = zeros_like(b);
      }
      damped(v, image_);
      axpy(-1.0, image_, residual_);
    }
    step_.restart(b);
    diagonal_.clear();
    off_diagonal_.clear();
    double rr = dot(residual_, residual_);
    const auto relative = [&] { return scale_of_b > 0.0 ? std::sqrt(rr) / scale_of_b : std::sqrt(rr); };
    result.relative_residual = relative();
    while (!(result.relative_residual <= options.tolerance)) {
      if (!std::isfinite(result.relative_residual)) {
        result.status = LinearStatus::not_finite;
        return result;
      }
      if (result.steps == options.max_steps) {
        return result;
      }
      const auto judged = step_.move(damped, residual_, rr, residual_, v);
      if (judged != LinearStatus::converged) {
        result.status = judged;
        return result;
      }
      const double rr_before = std::exchange(rr, dot(residual_, residual_));
      if (options.keeps_spectrum) {
        keep_spectrum(step_.length(), rr / rr_before);
      }
      ++result.steps;
      result.relative_residual = relative();
    }
    result.status = LinearStatus::converged;
    return result;
  }

  /// Ritz values of H + εI in the space of the last solve: its extreme eigenvalues, from within, as far as b had a part
  /// in their eigenvectors. Zero where no step was done.
  [[nodiscard]] Curvatures curvatures_met() const { return tridiagonal_extremes(diagonal_, off_diagonal_); }

private:
  /// The entries of Lanczos' matrix that a step of conjugate gradients amounts to.
  void keep_spectrum(double length, double shrinkage) {
    const double before = diagonal_.empty() ? 0.0 : shrinkage_ / length_before_;
    diagonal_.push_back(1.0 / length + before);
    off_diagonal_.push_back(std::sqrt(shrinkage) / length);
    shrinkage_ = shrinkage;
    length_before_ = length;
  }

  ConjugateStep<V> step_;
  V residual_;
  V image_; ///< of the start
  std::vector<double> diagonal_;
  std::vector<double> off_diagonal_; ///< as many; the last couples to a step that was not done
  double shrinkage_ = 0.0;           ///< of ‖r‖² by the last step
  double length_before_ = 0.0;
};

} // namespace duplex
