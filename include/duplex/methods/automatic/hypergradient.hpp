#pragma once
// The hypergradient at x to an error that is asked for. With ε_y, ε_v the errors of y and v, that of
// d = ∇xF − ∇²xy f·v is about g_y‖ε_y‖ + g_v‖ε_v‖. The gains are measured on the run's own moves,
// g_y = ‖Δd‖/‖Δy‖ and g_v = ‖Δ(∇²xy f·v)‖/‖Δv‖, and conjugate gradients end when their errors fit:
// no constant of the problem is assumed, and no unit matters.

#include <duplex/methods/automatic/estimate.hpp>
#include <duplex/methods/automatic/inner_solver.hpp>
#include <duplex/methods/automatic/texts.hpp>
#include <duplex/problem/aggregate.hpp>
#include <duplex/problem/problem.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace duplex::automatic {

struct InnerWork {
  std::int64_t y_steps = 0;
  std::int64_t v_steps = 0;
  double beta = 0.0; ///< ‖move of y‖ / ‖∇y f‖ of the last evaluation
  double eta = 0.0;  ///< ‖move of v‖ / ‖∇yF − Hv‖

  template <class Archive> void archive(Archive &members) {
    members("y steps", y_steps);
    members("v steps", v_steps);
    members("beta", beta);
    members("eta", eta);
  }
};

template <SecondOrderProblem P> class Hypergradient {
public:
  using V = VectorOf<P>;

  Hypergradient(const P &problem, const State<V> &start, std::size_t memory)
      : lower_(problem), upper_(problem.upper()), memory_(memory), inner_(start.y, memory),
        gradient_(zeros_like(start.y)), next_gradient_(zeros_like(start.y)), residual_(zeros_like(start.y)),
        y_before_(zeros_like(start.y)), correction_(zeros_like(start.y)), slope_(zeros_like(start.y)),
        x_scratch_(zeros_like(start.x)) {}

  /// Improves y and v until d's error is at most `level`; without a level, until both are right to a per cent of
  /// their own moves. The status is that of the linear solves.
  [[nodiscard]] LinearStatus evaluate(Estimate<V> &point, double level) {
    State<V> &s = point.at;
    const LinearStatus status =
        settle_lower(s, tolerance(level, y_gain_, norm(s.y)), point.y_error, point.lower_gradient);
    if (status != LinearStatus::converged) {
      return status;
    }
    lower_.at(s.x, s.y);
    upper_.at(s.x, s.y);
    upper_.grad_y(slope_);
    lower_.hess_yy(s.v, residual_);
    scale(-1.0, residual_);
    axpy(1.0, slope_, residual_);
    const auto report = inner_.solve(product(), residual_, s.v, tolerance(level, v_gain_, norm(s.v)));
    work_.v_steps += report.steps;
    work_.eta = report.step_size;
    point.v_error = report.error;
    if (report.status != LinearStatus::converged) {
      return report.status;
    }
    implicit_direction(lower_, upper_, s.v, point.d, point.cross);
    set_value(point);
    return std::isfinite(norm(point.d)) ? LinearStatus::converged : LinearStatus::not_finite;
  }

  /// Takes ψ = μF + (1 − μ)f for the lower level; what was learned of another is forgotten.
  void aggregate(double mu) {
    mu_ = mu;
    lower_.weigh(mu, 1.0);
    inner_ = InnerSolver<V>(gradient_, memory_);
    knows_gains_ = false;
    y_gain_ = v_gain_ = 0.0;
    check_interval_ = until_check_ = 1;
  }
  [[nodiscard]] double mu() const { return mu_; }
  /// ‖∇yF‖ at the last point whose v was solved for.
  [[nodiscard]] double upper_slope() const { return norm(slope_); }
  /// Below this a lower gradient is noise.
  [[nodiscard]] double rounding_of_gradient(const State<V> &at) const {
    return 100.0 * precision(at.y) * inner_.largest_curvature() * norm(at.y);
  }

  /// The value at a point whose y, v and lower gradient are known otherwise.
  void measure_value(Estimate<V> &point) {
    upper_.at(point.at.x, point.at.y);
    set_value(point);
  }

  /// The gain of v from the first point alone.
  void learn(const Estimate<V> &first) {
    const double length = norm(first.at.v);
    v_gain_ = length > 0.0 ? norm(first.cross) / length : 0.0;
  }

  /// Both gains from a move: the largest of late.
  void learn(const Estimate<V> &from, const Estimate<V> &to) {
    constexpr double forgetting = 0.9;
    const double y_move = distance(to.at.y, from.at.y, residual_);
    const double v_move = distance(to.at.v, from.at.v, residual_);
    knows_gains_ = true;
    y_gain_ *= forgetting;
    v_gain_ *= forgetting;
    if (y_move > 0.0) {
      y_gain_ = std::max(y_gain_, distance(to.d, from.d, x_scratch_) / y_move);
    }
    if (v_move > 0.0) {
      v_gain_ = std::max(v_gain_, distance(to.cross, from.cross, x_scratch_) / v_move);
    }
  }

  [[nodiscard]] double error(const Estimate<V> &point) const {
    return y_gain_ * point.y_error + v_gain_ * point.v_error;
  }

  [[nodiscard]] bool knows_gains() const { return knows_gains_; }
  [[nodiscard]] const InnerWork &work() const { return work_; }

  void report(Findings &found) const {
    found.mu = mu_;
    found.smallest_curvature = inner_.smallest_curvature();
    found.largest_curvature = inner_.largest_curvature();
    found.lower_is_curved = curved_;
    found.lower_hessian_changes = inner_.h_changes();
    found.y_steps = work_.y_steps;
    found.v_steps = work_.v_steps;
    found.y_gain = y_gain_;
    found.v_gain = v_gain_;
  }

  template <class Archive> void archive(Archive &members) {
    members("mu", mu_);
    lower_.weigh(mu_, 1.0);
    members("inner", inner_);
    members("y gain", y_gain_);
    members("v gain", v_gain_);
    members("knows gains", knows_gains_);
    members("curved", curved_);
    members("check interval", check_interval_);
    members("until check", until_check_);
    members("work", work_);
  }

private:
  void set_value(Estimate<V> &point) {
    const double value = upper_.value();
    const double correction = dot(point.at.v, point.lower_gradient);
    point.value = value - correction;
    point.value_noise = 0.5 * std::abs(correction) + 100.0 * precision(point.d) * std::abs(value);
  }

  [[nodiscard]] auto product() {
    return [this](const V &in, V &out) { lower_.hess_yy(in, out); };
  }

  [[nodiscard]] static InnerTolerance tolerance(double level, double gain, double magnitude) {
    constexpr double first_accuracy = 0.01;
    if (!(level > 0.0)) {
      return {.absolute = 0.0, .relative = first_accuracy, .magnitude = magnitude};
    }
    return {.absolute = gain > 0.0 ? level / gain : infinity, .relative = 0.0, .magnitude = magnitude};
  }

  /// y by Newton's method with conjugate gradients. Whether the gradient is what the linear model says is looked at
  /// ever more rarely while it is (one gradient each time); once it is not, after every step.
  [[nodiscard]] LinearStatus settle_lower(State<V> &s, const InnerTolerance &wanted, double &error, V &gradient_left) {
    constexpr int most_newton_steps = 30;
    constexpr double forcing = 0.1;
    lower_.at(s.x, s.y);
    lower_.grad_y(gradient_);
    double way = 0.0;
    LinearStatus status = LinearStatus::converged;
    for (int newton = 0; newton < most_newton_steps; ++newton) {
      InnerTolerance asked = wanted;
      if (curved_) {
        asked.relative = std::max(asked.relative, forcing);
      }
      const double length = norm(gradient_);
      assign(s.y, y_before_);
      assign(gradient_, residual_);
      scale(-1.0, residual_);
      set_zero(correction_); // y stays where the products are taken
      const auto report = inner_.solve(product(), residual_, correction_, asked);
      status = report.status;
      work_.y_steps += report.steps;
      work_.beta = report.step_size;
      error = report.error;
      assign(residual_, gradient_left);
      scale(-1.0, gradient_left);
      if (status == LinearStatus::not_finite || status == LinearStatus::singular) {
        return status;
      }
      const bool convex = status != LinearStatus::indefinite;
      if (!convex && report.steps == 0) {
        set_descent();
      }
      axpy(1.0, correction_, s.y);
      if (convex && !curved_ && --until_check_ > 0) {
        return status;
      }
      lower_.at(s.x, s.y);
      lower_.grad_y(next_gradient_);
      axpy(1.0, next_gradient_, residual_); // what the linear model missed
      const double missed = norm(residual_);
      const double rounding = rounding_of_gradient(s);
      way += report.step_size * length;
      const double allowed = std::max(wanted.absolute, wanted.relative * way);
      if (convex && !curved_ && (missed <= rounding || inner_.residual_bound(missed) <= 0.5 * allowed)) {
        error += inner_.residual_bound(missed);
        check_interval_ = std::min(2 * check_interval_, most_checks_apart);
        until_check_ = check_interval_;
        assign(next_gradient_, gradient_left);
        return status;
      }
      curved_ = true;
      inner_.note_that_h_changes();
      if (!convex || !(missed <= 0.5 * length)) {
        shorten_until_lower(s);
      }
      std::swap(gradient_, next_gradient_);
      assign(gradient_, gradient_left);
      error = inner_.residual_bound(norm(gradient_));
      if (convex && (error <= allowed || norm(gradient_) <= rounding)) {
        return status;
      }
    }
    return status;
  }

  /// Where the first direction has negative curvature: a step of gradient descent of the length that the curvature
  /// says.
  void set_descent() {
    lower_.hess_yy(gradient_, next_gradient_);
    const double curvature = std::abs(dot(gradient_, next_gradient_));
    if (curvature > 0.0) {
      assign(gradient_, correction_);
      scale(-dot(gradient_, gradient_) / curvature, correction_);
    }
  }

  /// Halves the move of y until f falls (Armijo), and leaves the gradient there.
  void shorten_until_lower(State<V> &s) {
    constexpr int halvings = 30;
    constexpr double sufficient = 1e-4;
    lower_.at(s.x, y_before_);
    const double before = lower_.value();
    assign(s.y, residual_);
    axpy(-1.0, y_before_, residual_);
    double slope = dot(gradient_, residual_);
    const double rounding = 10.0 * precision(s.y) * std::abs(before);
    for (int attempt = 0; attempt < halvings; ++attempt) {
      lower_.at(s.x, s.y);
      const double now = lower_.value();
      if (std::isfinite(now) && now <= before + sufficient * slope + rounding) {
        break;
      }
      scale(0.5, residual_);
      slope *= 0.5;
      assign(y_before_, s.y);
      axpy(1.0, residual_, s.y);
    }
    lower_.at(s.x, s.y);
    lower_.grad_y(next_gradient_);
  }

  static constexpr int most_checks_apart = 16;

  AggregatedLower<P> lower_;
  UpperOf<P> upper_;
  std::size_t memory_;
  double mu_ = 0.0;
  InnerSolver<V> inner_;
  V gradient_;
  V next_gradient_;
  V residual_;
  V y_before_;
  V correction_;
  V slope_; ///< ∇yF
  V x_scratch_;
  double y_gain_ = 0.0;
  double v_gain_ = 0.0;
  bool knows_gains_ = false;
  bool curved_ = false; ///< f is not quadratic in y, as far as was seen
  int check_interval_ = 1;
  int until_check_ = 1;
  InnerWork work_;
};

} // namespace duplex::automatic
