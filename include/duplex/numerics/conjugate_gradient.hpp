#pragma once
// Conjugate gradients for (H + εI) v = b with H given as a product, and a status
// that says what H turned out to be.

#include <duplex/space/space.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <string_view>
#include <vector>

namespace duplex {

enum class LinearStatus : std::uint8_t {
  converged,  ///< the relative residual is at most the tolerance
  step_limit, ///< not yet, after the allowed number of steps
  singular,   ///< a direction of zero curvature: H is singular and b is not in its range
  indefinite, ///< a direction of negative curvature
  not_finite, ///< NaN or infinity in b, in v or in a product
};

constexpr std::array<std::string_view, 5> linear_status_names{"converged", "step limit", "singular", "indefinite",
                                                              "not finite"};
constexpr const auto &names_of(LinearStatus /*unused*/) { return linear_status_names; }

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

/// The method of Hestenes and Stiefel with vectors that are kept between calls.
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
    if (size(image_) != size(b)) { // a product is written into a vector of the right size
      image_ = zeros_like(b);
    }
    diagonal_.clear();
    off_diagonal_.clear();
    if (!v_is_zero) {
      damped(v, image_);
      axpy(-1.0, image_, residual_);
    }
    double rr = dot(residual_, residual_);
    assign(residual_, direction_);
    const auto relative = [&] { return scale_of_b > 0.0 ? std::sqrt(rr) / scale_of_b : std::sqrt(rr); };
    result.relative_residual = relative();
    double largest = 0.0; // the largest curvature met: the scale against which zero is judged
    while (!(result.relative_residual <= options.tolerance)) {
      if (!std::isfinite(result.relative_residual)) {
        result.status = LinearStatus::not_finite;
        return result;
      }
      if (result.steps == options.max_steps) {
        return result;
      }
      damped(direction_, image_);
      const double curvature = dot(direction_, image_);
      const double direction_norm = norm(direction_);
      const auto judged = curvature_status(curvature, direction_norm, norm(image_), largest, precision(b));
      if (judged != LinearStatus::converged) {
        result.status = judged;
        return result;
      }
      largest = std::max(largest, curvature / (direction_norm * direction_norm));
      const double step = rr / curvature;
      axpy(step, direction_, v);
      axpy(-step, image_, residual_);
      const double rr_next = dot(residual_, residual_);
      if (options.keeps_spectrum) { // of Lanczos' method, whose matrix these are
        const double before = diagonal_.empty() ? 0.0 : shrinkage_ / step_before_;
        diagonal_.push_back(1.0 / step + before);
        shrinkage_ = rr_next / rr;
        step_before_ = step;
        off_diagonal_.push_back(std::sqrt(shrinkage_) / step);
      }
      scale(rr_next / rr, direction_);
      axpy(1.0, residual_, direction_);
      rr = rr_next;
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
  V residual_;
  V direction_;
  V image_;
  std::vector<double> diagonal_;
  std::vector<double> off_diagonal_; ///< as many; the last couples to a step that was not done
  double shrinkage_ = 0.0;           ///< of ‖r‖² by the last step
  double step_before_ = 0.0;
};

} // namespace duplex
