#pragma once
// Conjugate gradients for H e = r to a given error of e, not of the residual: what the hypergradient feels is the
// error, which exceeds residual/L by up to the condition number. Knows the lower level from all its solves: the
// curvatures met, and recycled directions.

#include <duplex/core/fields.hpp>
#include <duplex/methods/automatic/error_estimate.hpp>
#include <duplex/methods/automatic/recycled.hpp>
#include <duplex/numerics/conjugate_gradient.hpp>

#include <cmath>
#include <cstdint>

namespace duplex::automatic {

struct InnerTolerance {
  double absolute = 0.0;  ///< on the error's norm
  double relative = 0.0;  ///< or on the error over how far this solve has moved
  double magnitude = 0.0; ///< norm of what the solution is a correction of, or of itself: rounding is relative to it
};

struct InnerReport {
  LinearStatus status = LinearStatus::converged;
  std::int64_t steps = 0;
  double error = 0.0;     ///< estimate of ‖e‖ that is left
  double step_size = 0.0; ///< ‖move‖ / ‖residual at the start‖
};

template <VectorSpace V> class InnerSolver {
public:
  InnerSolver(const V &like, std::size_t memory)
      : recycled_(memory, like), preconditioned_(zeros_like(like)), start_(zeros_like(like)) {}

  /// Moves `solution` and leaves the final residual in `residual`. On a failure both are those of the last good step.
  template <class Product>
  InnerReport solve(const Product &product, V &residual, V &solution, const InnerTolerance &tolerance) {
    InnerReport report;
    const double first_length = norm(residual);
    double length = first_length;
    if (!std::isfinite(length)) {
      report.status = LinearStatus::not_finite;
      return report;
    }
    if (length == 0.0) {
      return report;
    }
    assign(solution, start_);
    if (!h_changes_ && !recycled_.empty()) {
      recycled_.project(residual, solution);
      length = norm(residual);
    }
    estimate_.restart();
    report.error = residual_bound(length);
    const std::int64_t most_steps = 10 * static_cast<std::int64_t>(size(solution)) + 100;
    step_.restart(residual);
    while (!fits(report.error, length, solution, tolerance)) {
      if (report.steps == most_steps) {
        report.status = LinearStatus::step_limit;
        break;
      }
      recycled_.precondition(residual, preconditioned_);
      const double weight = dot(residual, preconditioned_);
      report.status = step_.move(product, preconditioned_, weight, residual, solution);
      if (report.status != LinearStatus::converged) {
        break;
      }
      learn(weight);
      ++report.steps;
      length = norm(residual);
      explored_ = explored_ || ++steps_in_all_ >= steps_that_explore || length <= fall_that_explores * first_length;
      if (!std::isfinite(length)) {
        report.status = LinearStatus::not_finite;
        break;
      }
      report.error = estimate_.error(residual_bound(length));
    }
    recycled_.commit();
    report.step_size = moved(solution) / first_length;
    return report;
  }

  [[nodiscard]] double smallest_curvature() const { return smallest_; }
  [[nodiscard]] double largest_curvature() const { return largest_; }
  /// ‖r‖/σ, with the smallest curvature met so far for σ, once some were met.
  [[nodiscard]] double residual_bound(double length) const { return explored_ ? length / smallest_ : infinity; }
  /// Below this ∇y f at y is noise.
  [[nodiscard]] double rounding_of_gradient(const V &y) const { return 100.0 * precision(y) * largest_ * norm(y); }
  /// H is seen to differ from solve to solve: no residual is solved by old images any more.
  [[nodiscard]] bool h_changes() const { return h_changes_; }
  void note_that_h_changes() { h_changes_ = true; }

  template <class Archive> void archive(Archive &members) {
    members("recycled", recycled_);
    members("smallest", smallest_);
    members("largest", largest_);
    members("explored", explored_);
    members("h changes", h_changes_);
    members("steps in all", steps_in_all_);
  }

private:
  [[nodiscard]] double moved(const V &solution) { return distance(solution, start_, preconditioned_); }

  /// Below this a residual is noise.
  [[nodiscard]] double rounding_of_residual(double magnitude) const {
    return 4.0 * precision(start_) * largest_ * magnitude;
  }

  [[nodiscard]] bool fits(double error, double length, const V &solution, const InnerTolerance &tolerance) {
    return error <= tolerance.absolute || length <= rounding_of_residual(tolerance.magnitude + moved(solution)) ||
           (tolerance.relative > 0.0 && error <= tolerance.relative * moved(solution));
  }

  /// What the step just done says of H and of the error.
  void learn(double weight) {
    const double quotient = step_.quotient();
    smallest_ = smallest_ > 0.0 ? std::min(smallest_, quotient) : quotient;
    largest_ = std::max(largest_, quotient);
    const V &p = step_.direction();
    h_changes_ = h_changes_ || recycled_.staleness(p, step_.image(), step_.curvature()) > std::sqrt(precision(p));
    recycled_.stage(p, step_.image(), step_.curvature(), quotient);
    estimate_.add(step_.length() * weight, 1.0 / quotient);
  }

  static constexpr int steps_that_explore = 4;
  static constexpr double fall_that_explores = 1e-3; ///< of a residual, in fewer steps: all curvatures are alike

  RecycledDirections<V> recycled_;
  ErrorEstimate estimate_;
  ConjugateStep<V> step_;
  V preconditioned_;
  V start_;
  double smallest_ = 0.0;
  double largest_ = 0.0;
  bool explored_ = false;
  bool h_changes_ = false;
  int steps_in_all_ = 0;
};

} // namespace duplex::automatic
