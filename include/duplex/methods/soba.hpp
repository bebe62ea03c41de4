#pragma once
// Stochastic Bilevel Algorithm (SOBA; Dagréou, Ablin, Vaiter and Moreau, 2022). All variables move at once, from one
// point and on one sample, by steps that shrink as (k + 1)^−p:
//
//   y⁺ = y − β ∇y f(x, y)     v⁺ = v − η (∇²yy f v − ∇yF)(x, y)     x⁺ = x − α d,   d = (∇xF − ∇²xy f v)(x, y)
//
// On a problem that is the same at every step it is gradient descent on all three blocks; on samples it ends in a noise
// of the size of its steps.
// Cost of a step: three gradients, one Hessian product, one cross product. Memory: four vectors.

#include <duplex/method.hpp>
#include <duplex/methods/joint/joint_step.hpp>

#include <cstdint>
#include <string_view>

namespace duplex {

struct Soba {
  static constexpr std::string_view name = "soba";
  static constexpr std::string_view title = "All three variables at once, on one sample, by steps that shrink";

  double alpha = 0.1;
  double beta = 0.2;
  double eta = 0.2;
  double decay = 0.5;
  UpperRule upper = {};

  template <class Self, class Visit> static void fields(Self &self, Visit &&visit) {
    visit_joint_step_fields(self, visit);
    visit_decay_field(self, visit);
    UpperRule::fields(self.upper, visit);
  }

  [[nodiscard]] MethodTraits traits() const { return {.upper = upper}; }

  template <SecondOrderProblem P> class Run;
};

template <SecondOrderProblem P> class Soba::Run final : public MethodRun<VectorOf<P>> {
public:
  using V = VectorOf<P>;

  Run(const Soba &options, const P &problem, const State<V> &start)
      : options_(options), joint_(problem, start), direction_(zeros_like(start.x)) {}

  StepReport step(State<V> &s, std::int64_t k, UpperUpdate<V> & /*upper*/) override {
    const StepSizes steps = joint_steps_at(options_, k);
    joint_.measure(s, direction_);
    joint_.move(steps, s);
    return {.steps = steps};
  }

  [[nodiscard]] const V &direction() const override { return direction_; }
  template <class Archive> void archive(Archive & /*members*/) {} // nothing is carried from step to step

private:
  Soba options_;
  JointStep<P> joint_;
  V direction_;
};

} // namespace duplex
