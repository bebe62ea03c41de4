#pragma once
// The lower level solved for y by Newton's method, each step by conjugate gradients, with a backtracking line search on
// f where a step misses. Whether ∇y f is what the linear model says is looked at ever more rarely while it is, which
// costs one gradient each time; once it is not, f is not quadratic in y and every step is looked at.

#include <duplex/core/random.hpp>
#include <duplex/methods/automatic/inner_solver.hpp>
#include <duplex/numerics/line_search.hpp>
#include <duplex/space/last_bits.hpp>
#include <duplex/space/space.hpp>

#include <algorithm>
#include <cmath>
#include <utility>

namespace duplex::automatic {

template <VectorSpace V> class LowerSolver {
public:
  explicit LowerSolver(const V &y)
      : gradient_(zeros_like(y)), next_gradient_(zeros_like(y)), residual_(zeros_like(y)), y_before_(zeros_like(y)),
        correction_(zeros_like(y)), y_first_(zeros_like(y)), moved_(zeros_like(y)) {}

  /// Whether f was seen not to be quadratic in y.
  [[nodiscard]] bool is_curved() const { return curved_; }
  /// The linear model is checked at the next step again, since the lower level is another one from now on.
  void check_anew() { check_interval_ = until_check_ = 1; }

  /// Moves y towards the minimizer of f(x, ·) and tells the error that is left, with the steps of all linear solves and
  /// the step size ‖move of y‖ / ‖∇y f‖ of the last. `gradient_left` is ∇y f at the new y, as far as it is known.
  template <class Lower>
  InnerReport solve(Lower &lower, InnerSolver<V> &inner, const V &x, V &y, const InnerTolerance &wanted,
                    V &gradient_left) {
    InnerReport total;
    double error = infinity;
    assign(y, y_first_);
    lower.at(x, y);
    lower.grad_y(gradient_);
    for (int newton = 0; newton < most_newton_steps; ++newton) {
      const double length = norm(gradient_);
      assign(y, y_before_);
      const InnerReport linear = solve_linear_model(lower, inner, x, y, wanted);
      total = {linear.status, total.steps + linear.steps, linear.error, linear.step_size};
      assign(residual_, gradient_left);
      scale(-1.0, gradient_left);
      if (linear.status == LinearStatus::not_finite || linear.status == LinearStatus::singular) {
        return total;
      }
      const bool convex = linear.status != LinearStatus::indefinite;
      if (!convex && linear.steps == 0) {
        take_descent_step(lower);
      }
      axpy(1.0, correction_, y);
      if (convex && !curved_ && (length == 0.0 || --until_check_ > 0)) { // no step has asked the linear model anything
        return total;
      }
      lower.at(x, y);
      lower.grad_y(next_gradient_);
      axpy(1.0, next_gradient_, residual_); // what the linear model missed
      const double missed = norm(residual_);
      const double rounding = inner.rounding_of_gradient(y);
      const double allowed = std::max(wanted.absolute, wanted.relative * distance(y, y_first_, moved_));
      if (convex && !curved_ && std::isfinite(lower.value())) {
        const double left = inner.error_of(hessian_at<V>(lower), residual_);
        if (missed <= rounding || left <= 0.5 * allowed) {
          total.error += left;
          assign(next_gradient_, gradient_left);
          check_more_rarely_after(distance(y, y_first_, moved_), norm(y));
          return total;
        }
      }
      curved_ = true;
      inner.note_that_h_changes();
      const bool falls_short = !convex || !(missed <= 0.5 * length);
      if ((falls_short || !std::isfinite(lower.value())) && !shorten_until_lower(lower, x, y)) { // ∇y f may exist there
        total.status = LinearStatus::not_finite;
        return total;
      }
      std::swap(gradient_, next_gradient_);
      assign(gradient_, gradient_left);
      total.error = inner.error_of(hessian_at<V>(lower), gradient_);
      const double error_before = std::exchange(error, total.error);
      const bool at_rest = !(error <= 0.5 * error_before) && error <= all_but_rounding * norm(y);
      const bool is_borne_out = norm(gradient_) <= 0.5 * length || !inner.is_direct();
      if (convex && (norm(gradient_) <= rounding || (is_borne_out && (total.error <= allowed || at_rest)) ||
                     ((total.error <= allowed || at_rest) && is_noise(lower, x, y)))) {
        return total;
      }
    }
    return total;
  }

  template <class Archive> void archive(Archive &members) {
    members("curved", curved_);
    members("check interval", check_interval_);
    members("until check", until_check_);
  }

private:
  static constexpr int most_newton_steps = 200;
  static constexpr double all_but_rounding = 1e-9; ///< of ‖y‖: a Newton step this short that helps nothing is rounding
  static constexpr int most_checks_apart = 16;

  /// correction_ solves H e = −∇y f, and residual_ is what is left of it. Where another Newton step follows anyway, a
  /// tenth is good enough.
  template <class Lower>
  InnerReport solve_linear_model(Lower &lower, InnerSolver<V> &inner, const V &x, const V &y,
                                 const InnerTolerance &wanted) {
    constexpr double forcing = 0.1;
    InnerTolerance asked = wanted;
    if (curved_) {
      asked.relative = std::max(asked.relative, forcing);
    }
    // A Newton step may be short because f bends so much where y is, as θ y log y does near y = 0, and y*(x) be far:
    // only a step that does to ∇y f what it should shows that it is not. Where H is assembled it costs next to nothing.
    if (curved_ && inner.is_direct()) {
      asked.absolute = asked.magnitude = 0.0;
    }
    assign(gradient_, residual_);
    scale(-1.0, residual_);
    set_zero(correction_); // y stays where the products are taken
    return inner.solve(hessian_at<V>(lower), x, y, residual_, correction_, asked);
  }

  /// Whether ∇y f at y, which is gradient_, is no more than what rounding leaves of it.
  template <class Lower> [[nodiscard]] bool is_noise(Lower &lower, const V &x, const V &y) {
    constexpr double of_noise = 16.0;
    SplitMix64 generator(10);
    change_last_bits(y, generator, moved_);
    lower.at(x, moved_);
    lower.grad_y(residual_);
    lower.at(x, y);
    return norm(gradient_) <= of_noise * distance(residual_, gradient_, moved_);
  }

  /// A short move shows little of what f is like elsewhere.
  void check_more_rarely_after(double move, double length) {
    constexpr double far = 1e-2;
    if (move > far * length) {
      check_interval_ = std::min(2 * check_interval_, most_checks_apart);
    }
    until_check_ = check_interval_;
  }

  /// Where the first direction has negative curvature: a step of gradient descent of the length that the curvature
  /// says.
  template <class Lower> void take_descent_step(Lower &lower) {
    lower.hess_yy(gradient_, next_gradient_);
    const double curvature = std::abs(dot(gradient_, next_gradient_));
    if (curvature > 0.0) {
      assign(gradient_, correction_);
      scale(-dot(gradient_, gradient_) / curvature, correction_);
    }
  }

  /// Halves the move of y until f falls, or until f exists where it did not before, and leaves the gradient there in
  /// next_gradient_; false where f exists nowhere along it.
  template <class Lower> [[nodiscard]] bool shorten_until_lower(Lower &lower, const V &x, V &y) {
    constexpr int most_attempts = 30;
    lower.at(x, y_before_);
    const bool is_outside = !std::isfinite(lower.value()); // as where x has moved the domain of f away from y
    const double before = is_outside ? infinity : lower.value();
    assign(y, residual_); // becomes the move of y
    axpy(-1.0, y_before_, residual_);
    const double slope = dot(gradient_, residual_);
    const double rounding = 10.0 * precision(y) * std::abs(before);
    const auto move_by = [&](double t) {
      assign(y_before_, y);
      axpy(t, residual_, y);
    };
    const double t = backtrack(most_attempts, [&](double length) {
      if (length < 1.0) {
        move_by(length);
      }
      lower.at(x, y);
      const double value = lower.value();
      if (is_outside) {
        return std::isfinite(value) ? TrialStep::accepted : TrialStep::rejected;
      }
      return judged(before, value, length * slope, rounding);
    });
    if (t == 0.0) {
      move_by(is_outside ? 0.0 : std::ldexp(1.0, -most_attempts));
    }
    lower.at(x, y);
    lower.grad_y(next_gradient_);
    return std::isfinite(lower.value());
  }

  V gradient_;      ///< ∇y f at y_before_
  V next_gradient_; ///< ∇y f at y
  V residual_;
  V y_before_; ///< y before the Newton step
  V correction_;
  V y_first_; ///< y before all of them
  V moved_;
  bool curved_ = false;
  int check_interval_ = 1; ///< Newton steps from one check of the linear model to the next
  int until_check_ = 1;
};

} // namespace duplex::automatic
