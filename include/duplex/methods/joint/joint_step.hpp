#pragma once
// One step of y and v from one point, with d there, for methods that move all variables at once:
//
//   g = ∇y f(x, y)       r = ∇²yy f(x, y) v − ∇yF(x, y)       d = ∇xF(x, y) − ∇²xy f(x, y) v
//   y⁺ = y − β g         v⁺ = v − η r

#include <duplex/problem/problem.hpp>
#include <duplex/step/step_sizes.hpp>
#include <duplex/step/upper_rule.hpp>

#include <cmath>
#include <cstdint>
#include <utility>

namespace duplex {

/// By the problem's levels, or by others of the same vectors.
template <SecondOrderProblem P, class Lower = LowerOf<P>, class Upper = UpperOf<P>> class JointStep {
public:
  using V = VectorOf<P>;

  JointStep(const P &problem, const State<V> &start) : JointStep(problem.lower(), problem.upper(), start) {}
  JointStep(Lower lower, Upper upper, const State<V> &start)
      : lower_(std::move(lower)), upper_(std::move(upper)), gradient_(zeros_like(start.y)),
        residual_(zeros_like(start.y)), cross_(zeros_like(start.x)) {}

  /// Takes g and r at the state, and d there.
  void measure(const State<V> &s, V &d) {
    lower_.at(s.x, s.y);
    upper_.at(s.x, s.y);
    upper_.grad_y(gradient_);
    both_products(lower_, s.v, residual_, cross_);
    axpy(-1.0, gradient_, residual_);
    lower_.grad_y(gradient_);
    upper_.grad_x(d);
    axpy(-1.0, cross_, d);
  }

  void move(const StepSizes &steps, State<V> &s) const {
    axpy(-steps.beta, gradient_, s.y);
    axpy(-steps.eta, residual_, s.v);
  }

  [[nodiscard]] const V &gradient() const { return gradient_; } ///< g
  [[nodiscard]] const V &residual() const { return residual_; } ///< r

private:
  Lower lower_;
  Upper upper_;
  V gradient_;
  V residual_;
  V cross_;
};

/// The step sizes of such a method, for its own fields().
template <class Self, class Visit> void visit_joint_step_fields(Self &self, Visit &&visit) {
  visit_step_fields(self, visit);
  visit("eta", self.eta, finite_positive, "multiplier step size", Role::multiplier_step);
}

/// The option by which they shrink as (k + 1)^−decay.
template <class Self, class Visit> void visit_decay_field(Self &self, Visit &&visit) {
  visit("decay", self.decay, finite_non_negative, "p, by which all steps shrink as (k+1)^-p (0: constant steps)");
}

template <class Options> [[nodiscard]] StepSizes joint_steps_at(const Options &options, std::int64_t k) {
  const double share = options.decay > 0.0 ? std::pow(static_cast<double>(k + 1), -options.decay) : 1.0;
  return {.alpha = share * options.alpha, .beta = share * options.beta, .eta = share * options.eta};
}

} // namespace duplex
