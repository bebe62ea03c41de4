#pragma once
// The hypergradient d = ∇xF − ∇²xy f·v at x to an error that is asked for: y and v are moved by conjugate gradients
// until their errors, times how much d feels them (error_gains.hpp), fit.

#include <duplex/methods/automatic/error_gains.hpp>
#include <duplex/methods/automatic/estimate.hpp>
#include <duplex/methods/automatic/inner_solver.hpp>
#include <duplex/methods/automatic/lower_solver.hpp>
#include <duplex/methods/automatic/selected_response.hpp>
#include <duplex/methods/automatic/texts.hpp>
#include <duplex/problem/aggregate.hpp>
#include <duplex/problem/problem.hpp>
#include <duplex/space/archive.hpp>

#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>

namespace duplex::automatic {

/// What the inner solves of a run have cost, and the steps that they amount to.
struct InnerWork {
  std::int64_t y_steps = 0;
  std::int64_t v_steps = 0;
  double beta = 0.0; ///< ‖move of y‖ / ‖∇y f‖ of the last evaluation
  double eta = 0.0;  ///< ‖move of v‖ / ‖∇yF − Hv‖ of the last evaluation

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
      : lower_(problem), upper_(problem.upper()), offers_aggregation_(offers_aggregation(problem)), memory_(memory),
        inner_(start.x, start.y, memory), newton_(start.y), gains_(start), residual_(zeros_like(start.y)),
        slope_(zeros_like(start.y)), like_x_(zeros_like(start.x)), selected_(start.x, start.y) {}

  /// Improves y and v until d's error is at most `level`; without a level, until both are right to a per cent of
  /// their own moves. The status is that of the linear solves.
  [[nodiscard]] LinearStatus evaluate(Estimate<V> &point, double level) {
    LinearStatus status = selects_ ? select(point) : solve_both(point, level);
    if (status == LinearStatus::singular && !selects_ && can_select()) {
      selects_ = true;
      status = select(point);
    }
    return status == LinearStatus::converged ? measure_direction(point) : status;
  }
  /// d at a point whose y and v are as exact as rounding lets them be.
  [[nodiscard]] LinearStatus evaluate_exact(Estimate<V> &point) {
    lower_.at(point.at.x, point.at.y);
    lower_.grad_y(point.lower_gradient);
    upper_.at(point.at.x, point.at.y);
    upper_.grad_y(slope_);
    point.y_error = point.v_error = 0.0;
    return measure_direction(point);
  }

  /// H is assembled where the next solve is, since no solve has shown yet what it is like.
  void assemble_next() { inner_.want_direct(); }

  /// Takes ψ = μF + (1 − μ)f for the lower level; what was learned of another is forgotten.
  void aggregate(double mu) {
    mu_ = mu;
    selects_ = false;
    lower_.weigh(mu, 1.0);
    inner_ = InnerSolver<V>(like_x_, residual_, memory_);
    newton_.check_anew();
    gains_.forget();
  }
  [[nodiscard]] double mu() const { return mu_; }
  /// ‖∇yF‖ at the last point whose v was solved for.
  [[nodiscard]] double upper_slope() const { return norm(slope_); }
  /// Below this a lower gradient is noise.
  [[nodiscard]] double rounding_of_gradient(const V &y) const { return inner_.rounding_of_gradient(y); }

  /// The value at a point whose y, v and lower gradient are known otherwise.
  void measure_value(Estimate<V> &point) {
    upper_.at(point.at.x, point.at.y);
    set_value(point);
  }

  [[nodiscard]] ErrorGains<V> &gains() { return gains_; }
  /// The error of d at a point.
  [[nodiscard]] double error(const Estimate<V> &point) const { return gains_.error(point); }
  [[nodiscard]] const InnerWork &work() const { return work_; }

  /// Whether the lower level was seen not to be quadratic in y: then y is not affine in x, and may have a domain.
  [[nodiscard]] bool is_curved() const { return newton_.is_curved(); }
  /// Whether H is assembled, so that it is known what it is.
  [[nodiscard]] bool is_direct() const { return selects_ || inner_.is_direct(); }
  /// Whether d can be had to many digits at little cost.
  [[nodiscard]] bool is_quick() const { return selects_ || inner_.is_quick(); }

  /// What the inner solves have learnt. What was learnt at a point that is not taken is forgotten.
  struct Knowledge {
    typename InnerSolver<V>::Knowledge inner;
    typename ErrorGains<V>::Knowledge gains;
    bool selects = false;
  };
  [[nodiscard]] Knowledge knowledge() const { return {inner_.knowledge(), gains_.knowledge(), selects_}; }
  void go_back_to(const Knowledge &before) {
    selects_ = before.selects;
    inner_.go_back_to(before.inner);
    gains_.go_back_to(before.gains);
  }

  void report(Findings &found) const {
    found.mu = mu_;
    found.smallest_curvature = inner_.smallest_curvature();
    found.largest_curvature = inner_.largest_curvature();
    found.lower_is_curved = newton_.is_curved();
    found.lower_hessian_changes = inner_.h_changes();
    found.y_steps = work_.y_steps;
    found.v_steps = work_.v_steps;
    found.y_gain = gains_.y();
    found.v_gain = gains_.v();
  }

  template <class Archive> void archive(Archive &members) {
    members("mu", mu_);
    lower_.weigh(mu_, 1.0);
    members("inner", inner_);
    members("selects", selects_);
    if (selects_) {
      members("selected", selected_);
    }
    if constexpr (!std::same_as<Archive, StateWriter>) {
      restore();
    }
    members("newton", newton_);
    members("gains", gains_);
    members("work", work_);
  }

private:
  /// After archive() has read: what was assembled, as it was.
  void restore() {
    inner_.restore(lower_);
    if (selects_) {
      selected_.restore(lower_, upper_);
    }
  }

  [[nodiscard]] LinearStatus solve_both(Estimate<V> &point, double level) {
    const LinearStatus status = solve_lower(point, level);
    return status == LinearStatus::converged ? solve_multiplier(point, level) : status;
  }

  /// Whether the upper level can choose among many lower minimizers: it needs second derivatives, and H assembled.
  [[nodiscard]] bool can_select() const { return mu_ == 0.0 && offers_aggregation_ && selected_.is_possible(); }
  [[nodiscard]] LinearStatus select(Estimate<V> &point) {
    const LinearStatus status = selected_.solve(lower_, upper_, point);
    selects_ = status != LinearStatus::singular; // then neither level chooses
    if (status == LinearStatus::converged) {
      upper_.at(point.at.x, point.at.y);
      upper_.grad_y(slope_);
    }
    return status;
  }

  [[nodiscard]] LinearStatus solve_lower(Estimate<V> &point, double level) {
    State<V> &s = point.at;
    const auto report =
        newton_.solve(lower_, inner_, s.x, s.y, gains_.tolerance_of_y(level, s.y), point.lower_gradient);
    work_.y_steps += report.steps;
    work_.beta = report.step_size;
    point.y_error = report.error;
    return report.status;
  }

  /// ∇²yy f·v = ∇yF from v as it is.
  [[nodiscard]] LinearStatus solve_multiplier(Estimate<V> &point, double level) {
    State<V> &s = point.at;
    lower_.at(s.x, s.y);
    upper_.at(s.x, s.y);
    upper_.grad_y(slope_);
    if (inner_.is_free()) {
      set_zero(s.v);
      assign(slope_, residual_);
    } else {
      lower_.hess_yy(s.v, residual_);
      scale(-1.0, residual_);
      axpy(1.0, slope_, residual_);
    }
    const auto report =
        inner_.solve(hessian_at<V>(lower_), s.x, s.y, residual_, s.v, gains_.tolerance_of_v(level, s.v));
    work_.v_steps += report.steps;
    work_.eta = report.step_size;
    point.v_error = report.error;
    return report.status;
  }

  [[nodiscard]] LinearStatus measure_direction(Estimate<V> &point) {
    implicit_direction(lower_, upper_, point.at.v, point.d, point.cross);
    set_value(point);
    return std::isfinite(norm(point.d)) ? LinearStatus::converged : LinearStatus::not_finite;
  }

  void set_value(Estimate<V> &point) {
    const double value = upper_.value();
    const double correction = dot(point.at.v, point.lower_gradient);
    point.value = value - correction;
    point.value_noise = 0.5 * std::abs(correction) + 100.0 * precision(point.d) * std::abs(value);
  }

  AggregatedLower<P> lower_;
  UpperOf<P> upper_;
  bool offers_aggregation_;
  std::size_t memory_; ///< directions that the inner solver recycles
  double mu_ = 0.0;
  InnerSolver<V> inner_;
  LowerSolver<V> newton_;
  ErrorGains<V> gains_;
  V residual_;
  V slope_; ///< ∇yF
  V like_x_;
  bool selects_ = false; ///< the lower level has many minimizers, and the upper one chooses
  SelectedResponse<V> selected_;
  InnerWork work_;
};

} // namespace duplex::automatic
