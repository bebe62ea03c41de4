#pragma once
// The single-loop tuning-free method (S-TFBO; Yang, Ban, Huang, Ma and Ji, 2025). All variables move at once from one
// point, by steps that are inverse to the norms of the gradients so far:
//
//   g = ∇y f(x, y)       r = ∇²yy f(x, y) v − ∇yF(x, y)       d = ∇xF(x, y) − ∇²xy f(x, y) v
//   b² ← b² + ‖g‖²       c² ← c² + ‖r‖²                       a² ← a² + ‖d‖²
//   y⁺ = y − g/b         v⁺ = v − r/max(b, c)                 x⁺ = x − d/(a max(b, c))
//
// a, b and c start at 1/α, 1/β and 1/η.
// Cost of a step: three gradients, one Hessian product, one cross product. Memory: four vectors.

#include <duplex/method.hpp>
#include <duplex/methods/joint/joint_step.hpp>
#include <duplex/step/accumulated_step.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string_view>

namespace duplex {

struct STfbo {
  static constexpr std::string_view name = "s-tfbo";
  static constexpr std::string_view title = "Tuning-free, a single loop: steps that shrink with the gradients seen";

  double alpha = 1.0;
  double beta = 1.0;
  double eta = 1.0;
  UpperRule upper = {};

  template <class Self, class Visit> static void fields(Self &self, Visit &&visit) {
    visit_first_step_fields(self, visit);
    UpperRule::fields(self.upper, visit);
  }

  [[nodiscard]] MethodTraits traits() const { return {.upper = upper}; }

  template <SecondOrderProblem P> class Run;
};

template <SecondOrderProblem P> class STfbo::Run final : public MethodRun<VectorOf<P>> {
public:
  using V = VectorOf<P>;

  Run(const STfbo &options, const P &problem, const State<V> &start)
      : joint_(problem, start), upper_step_(options.alpha), lower_step_(options.beta), multiplier_step_(options.eta),
        direction_(zeros_like(start.x)) {}

  StepReport step(State<V> &s, std::int64_t /*k*/, UpperUpdate<V> & /*upper*/) override {
    joint_.measure(s, direction_);
    const double of_y = dot(joint_.gradient(), joint_.gradient());
    const double of_v = dot(joint_.residual(), joint_.residual());
    if (!std::isfinite(of_y) || !std::isfinite(of_v)) { // before anything has moved
      return {.failure = std::isfinite(of_y) ? no_multiplier_step : no_lower_step, .not_finite = true};
    }
    StepSizes steps;
    steps.beta = lower_step_.along(of_y);
    steps.eta = std::min(steps.beta, multiplier_step_.along(of_v)); // 1/max(b, c)
    steps.alpha = steps.eta * upper_step_.along(dot(direction_, direction_));
    joint_.move(steps, s);
    return {.steps = steps};
  }

  [[nodiscard]] const V &direction() const override { return direction_; }
  template <class Archive> void archive(Archive &members) {
    members("upper step", upper_step_);
    members("lower step", lower_step_);
    members("multiplier step", multiplier_step_);
  }

private:
  JointStep<P> joint_;
  AccumulatedStep upper_step_;
  AccumulatedStep lower_step_;
  AccumulatedStep multiplier_step_;
  V direction_;
};

} // namespace duplex
