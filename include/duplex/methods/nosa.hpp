#pragma once
// Naive One-Step Acceleration (the paper's equation for NOSA; DARTS and others):
//
//   y⁺ = y − β ∇y f(x, y)
//   d  = ∇xF(x, y⁺) − β ∇²xy f(x, y) ∇yF(x, y⁺)        x⁺ = x − α d
//
// Its hidden multiplier β∇yF does not satisfy the KKT conditions, so it converges
// to the wrong point: on the counter-example to z₀/(1 + β). It is here to show that.
// Cost of a step: three gradients and one cross product.

#include <duplex/method.hpp>

#include <cstdint>
#include <string_view>
#include <utility>

namespace duplex {

struct Nosa {
  static constexpr std::string_view name = "nosa";
  static constexpr std::string_view title = "Naive One-Step Acceleration: cheap and, in general, wrong";

  double alpha = 0.1;
  double beta = 0.2;
  UpperRule upper = {};

  template <class Self, class Visit> static void fields(Self &self, Visit &&visit) {
    visit_step_fields(self, visit);
    UpperRule::fields(self.upper, visit);
  }

  [[nodiscard]] MethodTraits traits() const { return {.upper = upper, .repeats = true}; }

  template <SecondOrderProblem P> class Run;
};

template <SecondOrderProblem P> class Nosa::Run final : public MethodRun<VectorOf<P>> {
public:
  using V = VectorOf<P>;

  Run(const Nosa &options, const P &problem, const State<V> &start)
      : options_(options), lower_(problem.lower()), up_(problem.upper()), y_next_(zeros_like(start.y)),
        gradient_(zeros_like(start.y)), direction_(zeros_like(start.x)), cross_(zeros_like(start.x)) {}

  StepReport step(State<V> &s, std::int64_t /*k*/, UpperUpdate<V> & /*upper*/) override {
    lower_.at(s.x, s.y);
    lower_.grad_y(gradient_);
    assign(s.y, y_next_);
    axpy(-options_.beta, gradient_, y_next_);

    up_.at(s.x, y_next_);
    up_.grad_y(s.v);
    scale(options_.beta, s.v);
    implicit_direction(lower_, up_, s.v, direction_, cross_);
    std::swap(s.y, y_next_);
    return {.steps = {.alpha = options_.alpha, .beta = options_.beta}};
  }

  [[nodiscard]] const V &direction() const override { return direction_; }
  [[nodiscard]] const V *lower_point() const override { return &y_next_; } ///< y before the step
  template <class Archive> void archive(Archive & /*members*/) {}          // nothing is carried from step to step

private:
  Nosa options_;
  LowerOf<P> lower_;
  UpperOf<P> up_;
  V y_next_;
  V gradient_;
  V direction_;
  V cross_;
};

} // namespace duplex
