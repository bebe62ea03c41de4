#pragma once
// Which step is longer than gradient descent bears, looked up off the run's clock and outside its counters. Where the
// run has kept a good state the steps are judged there, not where they have thrown it.

#include <duplex/core/text.hpp>
#include <duplex/measure/curvature.hpp>
#include <duplex/problem/problem_view.hpp>
#include <duplex/run/finding.hpp>

#include <algorithm>
#include <cmath>
#include <exception>
#include <string>
#include <string_view>

namespace duplex {

namespace detail {

/// A step of y or v that is not below a bound over λ_max(∇²yy f).
struct LongStep {
  std::string_view variable = {};
  Role role = Role::none;
  std::string name = {}; ///< the name of the option
  double step = 0.0;
  double curvature = 0.0;

  [[nodiscard]] bool found() const { return role != Role::none; }
  [[nodiscard]] std::string text(const std::string &how) const {
    return "the steps of " + std::string(variable) + " are " + how + ", " + name + " = " + short_number(step) +
           " with 2/λ = " + short_number(2.0 / curvature) + " for the lower level's curvature λ";
  }
};

inline constexpr double stable = 2.0; ///< gradient descent converges with steps below this over λ

template <VectorSpace V>
[[nodiscard]] LongStep long_step_at(const ProblemView<V> &problem, const StepOptions &options, const StepSizes &steps,
                                    const V &x, const V &y, double bound) {
  double curvature = 0.0;
  try {
    curvature = (1.0 - steps.mu) * largest_curvature(problem, x, y);
  } catch (const std::exception &) { // a loss that refuses this point: growth alone must tell
  }
  if (steps.beta * curvature >= bound) {
    return {"y", Role::lower_step, options.name(Role::lower_step), steps.beta, curvature};
  }
  if (steps.eta * curvature >= bound && !options.has(Role::multiplier_cap)) {
    return {"v", options.multiplier(), options.name(options.multiplier()), steps.eta, curvature};
  }
  return {};
}

/// Gradient descent on f with x held.
template <VectorSpace V> class DescentWithXHeld {
public:
  DescentWithXHeld(const ProblemView<V> &problem, const V &x, const V &y, double beta)
      : lower_(problem.lower()), x_(&x), beta_(beta), y_(y), gradient_(zeros_like(y)) {}

  /// Whether y stays where `sound` holds in some steps, the moves of which do not grow. False where a loss refuses.
  template <class Sound> [[nodiscard]] bool stays(const Sound &sound) {
    constexpr int some_steps = 64;
    constexpr double much_larger = 10.0;
    try {
      double largest = std::sqrt(precision(y_)) * norm(y_); // moves that are nothing beside y
      for (int i = 0; i < some_steps; ++i) {
        const double move = step();
        if (i == 0) {
          largest = much_larger * std::max(largest, move);
        }
        if (!(move <= largest) || !all_finite(y_) || !sound(*x_, y_)) {
          return false;
        }
      }
      return true;
    } catch (const std::exception &) {
      return false;
    }
  }

private:
  /// Does one step, and returns its length.
  double step() {
    lower_.at(*x_, y_);
    lower_.grad_y(gradient_);
    axpy(-beta_, gradient_, y_);
    return beta_ * norm(gradient_);
  }

  AnyLower<V> lower_;
  const V *x_;
  double beta_;
  V y_;
  V gradient_;
};

} // namespace detail

/// Whom to blame for a y that ran away although its steps are right by the curvature where it was good: y where it does
/// so with x held as well, or where a tenth of its steps would do at the new x; otherwise x.
template <VectorSpace V>
[[nodiscard]] Finding who_moved_y(const ProblemView<V> &problem, const StepOptions &options, const RunPoint<V> &run) {
  const auto stays = [&](const V &x, double beta) {
    return detail::DescentWithXHeld<V>(problem, x, run.good->y, beta).stays([](const V &, const V &) { return true; });
  };
  const double beta = run.steps.beta;
  if (!stays(run.good->x, beta)) {
    return blaming(options, Role::lower_step, "y does not stay even where x does");
  }
  if (all_finite(run.state->x) && !stays(run.state->x, beta) && stays(run.state->x, step_cut * beta)) {
    return as_a_guess(blaming(options, Role::lower_step, "y does not stay where x went"));
  }
  return as_a_guess(blaming(options, Role::upper_step, "y cannot follow x"));
}

/// Blames the steps of y or v where they are longer than gradient descent bears, which is where β or η is not below
/// 2/λ_max(∇²yy f); or those of x, where they took x or y to such a point.
template <VectorSpace V>
[[nodiscard]] Finding find_too_long_step(const ProblemView<V> &problem, const StepOptions &options,
                                         const RunPoint<V> &run) {
  constexpr double hardly_stable = 1.5;
  const auto at = [&](const V &x, const V &y, double bound = detail::stable) {
    return detail::long_step_at(problem, options, run.steps, x, y, bound);
  };
  if (run.good == nullptr) {
    const auto found = at(run.state->x, run.state->y);
    return found.found() && std::isfinite(found.curvature) ? blaming(options, found.role, found.text("too long"))
                                                           : Finding{};
  }
  if (const auto found = at(run.good->x, run.good->y); found.found()) {
    auto cause = blaming(options, found.role, found.text("too long"));
    // A series with a much smaller step would be another one; y and v may yet come to where λ is larger.
    cause.right_step = found.role == Role::series_step ? 1.0 / found.curvature
                                                       : std::min(step_cut * found.step, 0.5 / found.curvature);
    return cause;
  }
  if (const auto found = at(run.state->x, run.good->y); found.found()) {
    if (const auto hardly = at(run.good->x, run.good->y, hardly_stable); hardly.found()) {
      return blaming(options, hardly.role, hardly.text("too long where x went, and hardly short enough before"));
    }
    if (step_cut * found.step * found.curvature < detail::stable) { // x may well belong there
      return blaming(options, found.role, found.text("too long where x went"));
    }
    return as_a_guess(blaming(options, Role::upper_step,
                              "x ran to where the lower level's curvature is " +
                                  (std::isfinite(found.curvature) ? short_number(found.curvature) : "not finite") +
                                  ", too large for " + found.name + " = " + short_number(found.step)));
  }
  return all_finite(run.state->y) && at(run.state->x, run.state->y).found() ? who_moved_y(problem, options, run)
                                                                            : Finding{};
}

} // namespace duplex
