#pragma once
// H e = r by conjugate gradients with the inverse M that the problem offers for a preconditioner. Each step is by a
// product with H, so that e and r belong together whatever M is. The error is ‖Mr‖, times pᵀM⁻¹p/pᵀHp where H turns
// out to be flatter than M says: a solve takes at least one step, which shows that.
//
// M is given up for good where it is seen to be none (not finite, not positive, not symmetric enough to converge), and
// where it has cost more steps than it takes to do without it.

#include <duplex/methods/automatic/inner_tolerance.hpp>
#include <duplex/numerics/conjugate_gradient.hpp>
#include <duplex/space/space.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

namespace duplex::automatic {

template <VectorSpace V> class OfferedSolver {
public:
  explicit OfferedSolver(const V &y)
      : preconditioned_(zeros_like(y)), start_(zeros_like(y)), first_residual_(zeros_like(y)), moved_(zeros_like(y)) {}

  /// Whether M is still believed in.
  [[nodiscard]] bool is_used() const { return !given_up_; }
  /// Whether M is as good as exact of late.
  [[nodiscard]] bool is_quick() const { return is_used() && quick_in_a_row_ >= solves_to_believe; }
  /// The largest curvature pᵀHp/pᵀp that the last solve has met.
  [[nodiscard]] double largest_curvature() const { return largest_; }

  /// Moves `solution` and leaves the final residual in `residual`. `step_limit` where M is given up: both belong
  /// together then too, and are no worse than at the start.
  template <class Product, class Inverse>
  InnerReport solve(const Product &product, const Inverse &inverse, V &residual, V &solution,
                    const InnerTolerance &tolerance) {
    InnerReport report;
    const double first_length = norm(residual);
    if (first_length == 0.0) {
      return report;
    }
    assign(solution, start_);
    assign(residual, first_residual_);
    step_.restart(residual);
    largest_ = 0.0;
    stretch_ = 1.0;
    const std::int64_t most_steps = static_cast<std::int64_t>(size(solution)) / 2 + least_patience;
    measure(inverse, residual);
    // A flat M may not see what is left of r: at least half of it must be gone.
    while (report.steps == 0 || norm(residual) > 0.5 * first_length || !fits(residual, solution, tolerance)) {
      if (report.steps == most_steps || !step(product, residual, solution)) {
        give_up(first_length, residual, solution);
        report.status = LinearStatus::step_limit;
        break;
      }
      ++report.steps;
      const double before = error_;
      measure(inverse, residual);
      if (report.steps > usual_steps && error_ <= rounding(solution, tolerance) && !(error_ <= 0.5 * before)) {
        break; // what is left is rounding
      }
    }
    quick_in_a_row_ = report.steps <= usual_steps ? quick_in_a_row_ + 1 : 0;
    excess_ += std::max<std::int64_t>(0, report.steps - usual_steps);
    given_up_ = given_up_ || excess_ > excess_that_gives_up * static_cast<std::int64_t>(size(solution));
    report.error = error_;
    report.step_size = distance(solution, start_, moved_) / first_length;
    return report;
  }

  /// The error of a solution that leaves this residual, by what the last solve has shown of M.
  template <class Inverse> [[nodiscard]] double error_of(const Inverse &inverse, const V &residual) {
    measure(inverse, residual);
    if (!std::isfinite(error_)) {
      given_up_ = true;
      return std::numeric_limits<double>::infinity();
    }
    return error_;
  }

  template <class Archive> void archive(Archive &members) {
    members("given up", given_up_);
    members("excess", excess_);
    members("quick in a row", quick_in_a_row_);
    members("stretch", stretch_);
    members("largest curvature", largest_);
  }

private:
  static constexpr std::int64_t least_patience = 20; ///< steps of a solve, before half of as many as y has entries
  static constexpr std::int64_t usual_steps = 2;     ///< of a solve with an exact M
  static constexpr int solves_to_believe = 4;
  static constexpr std::int64_t excess_that_gives_up = 4; ///< steps for each entry of y, in all solves

  template <class Inverse> void measure(const Inverse &inverse, const V &residual) {
    set_zero(preconditioned_);
    inverse(residual, preconditioned_);
    error_ = stretch_ * norm(preconditioned_);
  }

  /// One step of preconditioned conjugate gradients. False where M, or H, does not let it be one.
  template <class Product> [[nodiscard]] bool step(const Product &product, V &residual, V &solution) {
    const double weight = dot(residual, preconditioned_);
    if (!(weight > 0.0) || !std::isfinite(weight) ||
        step_.move_by_inverse(product, preconditioned_, weight, residual, solution) != LinearStatus::converged) {
      return false;
    }
    stretch_ = std::max(stretch_, step_.stretch());
    largest_ = std::max(largest_, step_.curvature() / dot(step_.direction(), step_.direction()));
    return std::isfinite(norm(residual));
  }

  void give_up(double first_length, V &residual, V &solution) {
    given_up_ = true;
    if (!(norm(residual) <= first_length)) {
      assign(start_, solution);
      assign(first_residual_, residual);
    }
  }

  [[nodiscard]] double rounding(const V &solution, const InnerTolerance &tolerance) {
    return 4.0 * precision(solution) * (tolerance.magnitude + distance(solution, start_, moved_));
  }
  [[nodiscard]] bool fits(const V &residual, const V &solution, const InnerTolerance &tolerance) {
    return error_ <= tolerance.absolute || norm(residual) == 0.0 ||
           error_ <= tolerance.relative * distance(solution, start_, moved_) || error_ <= rounding(solution, tolerance);
  }

  V preconditioned_; ///< Mr
  ConjugateStep<V> step_;
  V start_;
  V first_residual_;
  V moved_;
  double stretch_ = 1.0; ///< how much flatter H is than M says
  double error_ = 0.0;
  double largest_ = 0.0;
  bool given_up_ = false;
  int quick_in_a_row_ = 0;  ///< solves
  std::int64_t excess_ = 0; ///< steps that an exact M would have saved
};

} // namespace duplex::automatic
