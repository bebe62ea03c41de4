#pragma once
// The double-loop tuning-free method (D-TFBO; Yang, Ban, Huang, Ma and Ji, 2025). Three loops of gradient descent, one
// within the others, by steps that are inverse to the norms of the gradients so far:
//
//   while ‖g‖² > ε for g = ∇y f(x, y):               b² ← b² + ‖g‖²,   y ← y − g/b
//   while ‖r‖² > ε for r = ∇²yy f(x, y) v − ∇yF(x, y): c² ← c² + ‖r‖²,   v ← v − r/c
//   d = ∇xF(x, y) − ∇²xy f(x, y) v,                    a² ← a² + ‖d‖²,   x⁺ = x − d/a
//
// y and v start where they ended before; a starts at 1/α, once, and b and c at 1/β and 1/η in every step, or once.
// Cost of a step with P steps of y and Q of v: at most P + 3 gradients, Q + 1 Hessian products, one cross product.
// Memory: four vectors.

#include <duplex/method.hpp>
#include <duplex/step/accumulated_step.hpp>

#include <cmath>
#include <cstdint>
#include <string_view>

namespace duplex {

struct DTfbo {
  static constexpr std::string_view name = "d-tfbo";
  static constexpr std::string_view title = "Tuning-free, inner loops: steps that shrink with the gradients seen";

  double alpha = 1.0;
  double beta = 1.0;
  double eta = 1.0;
  double epsilon = 1e-12;
  std::int64_t inner = 1000;
  bool cold_steps = true;
  UpperRule upper = {};

  template <class Self, class Visit> static void fields(Self &self, Visit &&visit) {
    visit_first_step_fields(self, visit);
    visit("epsilon", self.epsilon, finite_non_negative, "squared norm of a gradient at which an inner loop ends");
    visit("inner", self.inner, at_least_one, "most steps of an inner loop");
    visit("cold-steps", self.cold_steps, any_number, "begin every inner loop with the first steps");
    UpperRule::fields(self.upper, visit);
  }

  [[nodiscard]] MethodTraits traits() const { return {.upper = upper, .solves_inside = true}; }

  template <SecondOrderProblem P> class Run;
};

template <SecondOrderProblem P> class DTfbo::Run final : public MethodRun<VectorOf<P>> {
public:
  using V = VectorOf<P>;

  Run(const DTfbo &options, const P &problem, const State<V> &start)
      : options_(options), lower_(problem.lower()), up_(problem.upper()), upper_step_(options.alpha),
        lower_step_(options.beta), multiplier_step_(options.eta), slope_(zeros_like(start.y)),
        gradient_(zeros_like(start.y)), direction_(zeros_like(start.x)), cross_(zeros_like(start.x)) {}

  StepReport step(State<V> &s, std::int64_t /*k*/, UpperUpdate<V> & /*upper*/) override {
    if (options_.cold_steps) {
      lower_step_ = AccumulatedStep(options_.beta);
      multiplier_step_ = AccumulatedStep(options_.eta);
    }
    if (!solves_lower_level(s)) {
      return {.failure = no_lower_step, .not_finite = true};
    }
    if (!solves_for_multiplier(s)) {
      return {.failure = no_multiplier_step, .not_finite = true};
    }
    implicit_direction(lower_, up_, s.v, direction_, cross_);
    return {.steps = {.alpha = upper_step_.along(dot(direction_, direction_)),
                      .beta = lower_step_.now(),
                      .eta = multiplier_step_.now()}};
  }

  [[nodiscard]] const V &direction() const override { return direction_; }
  template <class Archive> void archive(Archive &members) {
    members("upper step", upper_step_);
    members("lower step", lower_step_);
    members("multiplier step", multiplier_step_);
  }

private:
  /// Leaves the evaluation at y. False, here and below, where a gradient is not finite.
  [[nodiscard]] bool solves_lower_level(State<V> &s) {
    lower_.at(s.x, s.y);
    return descends(
        lower_step_, [&] { lower_.grad_y(gradient_); },
        [&](double step) {
          axpy(-step, gradient_, s.y);
          lower_.at(s.x, s.y);
        });
  }

  [[nodiscard]] bool solves_for_multiplier(State<V> &s) {
    up_.at(s.x, s.y);
    up_.grad_y(slope_);
    return descends(
        multiplier_step_,
        [&] {
          lower_.hess_yy(s.v, gradient_);
          axpy(-1.0, slope_, gradient_);
        },
        [&](double step) { axpy(-step, gradient_, s.v); });
  }

  template <class Differentiate, class Move>
  [[nodiscard]] bool descends(AccumulatedStep &step, const Differentiate &differentiate, const Move &move) {
    for (std::int64_t t = 0; t < options_.inner; ++t) {
      differentiate();
      const double squared = dot(gradient_, gradient_);
      if (!std::isfinite(squared)) {
        return false;
      }
      if (squared <= options_.epsilon) {
        return true;
      }
      move(step.along(squared));
    }
    return true;
  }

  DTfbo options_;
  LowerOf<P> lower_;
  UpperOf<P> up_;
  AccumulatedStep upper_step_;
  AccumulatedStep lower_step_;
  AccumulatedStep multiplier_step_;
  V slope_; ///< ∇yF
  V gradient_;
  V direction_;
  V cross_;
};

} // namespace duplex
