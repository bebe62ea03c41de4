#pragma once
// Conjugate gradients for H e = r to a given error of e, not of the residual: what the hypergradient feels is the
// error, which exceeds residual/L by up to the condition number. Knows the lower level from all its solves: the
// curvatures met, and recycled directions. Where y is small H is assembled once conjugate gradients have cost as many
// products as that, and where they fail (direct_solver.hpp). An inverse that the problem offers comes before all that
// (offered_solver.hpp).

#include <duplex/core/fields.hpp>
#include <duplex/methods/automatic/direct_solver.hpp>
#include <duplex/methods/automatic/error_estimate.hpp>
#include <duplex/methods/automatic/hessian_at.hpp>
#include <duplex/methods/automatic/inner_tolerance.hpp>
#include <duplex/methods/automatic/offered_solver.hpp>
#include <duplex/methods/automatic/recycled.hpp>
#include <duplex/numerics/conjugate_gradient.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>

namespace duplex::automatic {

template <VectorSpace V> class InnerSolver {
public:
  InnerSolver(const V &x, const V &y, std::size_t memory)
      : offered_(y), direct_(x, y), recycled_(memory, y), preconditioned_(zeros_like(y)), start_(zeros_like(y)) {}

  /// Moves `solution` and leaves the final residual in `residual`; `product` is that with H at (x, y). On a failure
  /// both are those of the last good step.
  template <class Product>
  InnerReport solve(const Product &product, const V &x, const V &y, V &residual, V &solution,
                    const InnerTolerance &tolerance) {
    if (!std::isfinite(norm(residual))) {
      return {.status = LinearStatus::not_finite};
    }
    if (is_direct() || direct_.is_wanted()) {
      return direct_.solve(product, x, y, residual, solution, tolerance);
    }
    std::int64_t in_vain = 0;
    if (uses_offer(product)) {
      const InnerReport report = solve_by_offer(product, residual, solution, tolerance);
      if (report.status == LinearStatus::converged) {
        return report;
      }
      in_vain = report.steps;
    }
    InnerReport report = solve_iteratively(product, residual, solution, tolerance);
    report.steps += in_vain;
    if (report.status == LinearStatus::converged || report.status == LinearStatus::not_finite ||
        !direct_.is_possible()) {
      return report;
    }
    direct_.want();
    const auto rest = direct_.solve(product, x, y, residual, solution, tolerance);
    return {rest.status, report.steps + rest.steps, rest.error, std::max(report.step_size, rest.step_size)};
  }

  [[nodiscard]] double smallest_curvature() const { return smallest_; }
  [[nodiscard]] double largest_curvature() const { return largest_; }
  /// The error of a solution that leaves this residual: ‖H⁻¹r‖ where H is assembled, otherwise ‖r‖/σ with the smallest
  /// curvature met so far for σ, once some were met.
  template <class Product> [[nodiscard]] double error_of(const Product &product, const V &residual) {
    if constexpr (requires { product.invert(residual, preconditioned_); }) {
      if (!is_direct() && uses_offer(product)) {
        return offered_.error_of([&](const V &in, V &out) { product.invert(in, out); }, residual);
      }
    }
    return is_direct() ? direct_.error_of(residual) : residual_bound(norm(residual));
  }
  /// Below this ∇y f at y is noise.
  [[nodiscard]] double rounding_of_gradient(const V &y) const {
    return is_direct() ? direct_.rounding_of_gradient(y) : 100.0 * precision(y) * largest_ * norm(y);
  }
  /// H is seen to differ from solve to solve: no residual is solved by old images any more.
  [[nodiscard]] bool h_changes() const { return h_changes_; }
  void note_that_h_changes() {
    h_changes_ = true;
    direct_.note_that_h_changes();
  }
  void want_direct() { direct_.want(); } ///< at the next solve, where that is possible
  /// Whether H is assembled.
  [[nodiscard]] bool is_direct() const { return direct_.is_ready(); }
  /// Whether a solve to many digits costs little.
  [[nodiscard]] bool is_quick() const { return is_direct() || offered_.is_quick(); }
  /// Whether the next solve will cost no product: then it may as well begin from zero.
  [[nodiscard]] bool is_free() const { return direct_.is_believed(); }
  [[nodiscard]] std::int64_t assemblies() const { return direct_.assemblies(); }

  /// What the solves have learnt of H. A trial that is rejected has learnt it where the run does not go.
  struct Knowledge {
    double smallest = 0.0;
    double largest = 0.0;
    bool explored = false;
    bool h_changes = false;
    std::int64_t assemblies = 0;
    bool direct = false; ///< H was assembled, or was to be
  };
  [[nodiscard]] Knowledge knowledge() const {
    return {smallest_, largest_, explored_, h_changes_, assemblies(), is_direct() || direct_.is_wanted()};
  }
  /// Forgets what was learnt since. What H is like elsewhere says nothing of it here where it changes.
  void go_back_to(const Knowledge &before) {
    constexpr double far = 10.0; // curvatures that are so far from those before are those of another H
    const bool is_another = largest_ > far * before.largest || far * smallest_ < before.smallest;
    largest_ = offered_.largest_curvature() > 0.0 ? before.largest : largest_; // which see no change of H
    if (!h_changes_ && !is_another) {
      return;
    }
    smallest_ = before.smallest;
    largest_ = before.largest;
    explored_ = before.explored;
    h_changes_ = before.h_changes;
    recycled_.forget();
    if (assemblies() != before.assemblies) {
      direct_.forget();
      if (before.direct) {
        direct_.want();
      }
    }
  }

  template <class Archive> void archive(Archive &members) {
    members("recycled", recycled_);
    members("smallest", smallest_);
    members("largest", largest_);
    members("explored", explored_);
    members("h changes", h_changes_);
    members("steps in all", steps_in_all_);
    members("excess", excess_);
    members("direct", direct_);
    members("offered", offered_);
  }
  /// After archive() has read: H as it was, where it was assembled. `lower` is moved to where that was.
  template <class Lower> void restore(Lower &lower) { direct_.restore(lower); }

private:
  template <class Product> [[nodiscard]] bool uses_offer(const Product &product) const {
    if constexpr (requires { product.offers_inverse(); }) {
      return offered_.is_used() && product.offers_inverse();
    } else {
      return false;
    }
  }
  template <class Product>
  InnerReport solve_by_offer(const Product &product, V &residual, V &solution, const InnerTolerance &tolerance) {
    InnerReport report{.status = LinearStatus::step_limit};
    if constexpr (requires { product.invert(residual, solution); }) {
      report = offered_.solve(
          product, [&](const V &in, V &out) { product.invert(in, out); }, residual, solution, tolerance);
      largest_ = std::max(largest_, offered_.largest_curvature());
    }
    return report;
  }

  /// Stops with `step_limit` once the steps of all solves have cost as many products as assembling H would, where that
  /// is possible.
  template <class Product>
  InnerReport solve_iteratively(const Product &product, V &residual, V &solution, const InnerTolerance &tolerance) {
    InnerReport report;
    const double first_length = norm(residual);
    double length = first_length;
    if (length == 0.0) {
      return report;
    }
    assign(solution, start_);
    if (!h_changes_ && !recycled_.empty()) {
      recycled_.project(residual, solution);
      length = norm(residual);
    }
    estimate_.restart();
    // What H was like elsewhere says nothing of rounding here, once a step is to tell what it is like.
    const double largest_elsewhere = std::exchange(largest_, h_changes_ ? 0.0 : largest_);
    report.error = residual_bound(length);
    const auto dimensions = static_cast<std::int64_t>(size(solution));
    const std::int64_t most_steps =
        direct_.is_possible() ? std::max<std::int64_t>(0, dimensions - excess_) + usual_steps : 10 * dimensions + 100;
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
    largest_ = report.steps > 0 ? largest_ : largest_elsewhere;
    recycled_.commit();
    excess_ += std::max<std::int64_t>(0, report.steps - usual_steps);
    report.step_size = moved(solution) / first_length;
    return report;
  }

  [[nodiscard]] double residual_bound(double length) const { return explored_ ? length / smallest_ : infinity; }
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
  static constexpr std::int64_t usual_steps = 2;     ///< of a solve, that nothing would save
  static constexpr double fall_that_explores = 1e-3; ///< of a residual, in fewer steps: all curvatures are alike

  OfferedSolver<V> offered_;
  DirectSolver<V> direct_;
  RecycledDirections<V> recycled_;
  ErrorEstimate estimate_;
  ConjugateStep<V> step_;
  V preconditioned_;
  V start_;
  double smallest_ = 0.0;
  double largest_ = 0.0;
  bool explored_ = false;
  bool h_changes_ = false;
  std::int64_t steps_in_all_ = 0;
  std::int64_t excess_ = 0; ///< steps that would have been saved if H had been assembled
};

} // namespace duplex::automatic
