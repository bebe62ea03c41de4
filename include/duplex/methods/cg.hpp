#pragma once
// Implicit differentiation by conjugate gradients (CG; Pedregosa, 2016;
// Rajeswaran et al., 2019): T gradient steps on the lower level, then
//
//   (∇²yy f(x, y_T) + εI) v = ∇yF(x, y_T) by conjugate gradients from v = 0,
//   d = ∇xF(x, y_T) − ∇²xy f(x, y_T) v.
//
// `naive` is the paper's one-step acceleration, T = 1 and one CG step. It
// converges to the wrong point: on the counter-example to z₀R/(1 + R) with
// R = z₀ᵀAz₀/z₀ᵀz₀.
// Cost of a step: T + 2 gradients, as many Hessian products as CG steps, one
// cross product. A singular or indefinite Hessian ends the run with a message.

#include <duplex/method.hpp>
#include <duplex/methods/nested/unroll.hpp>
#include <duplex/numerics/conjugate_gradient.hpp>

#include <cstdint>
#include <string>
#include <string_view>

namespace duplex {

struct Cg {
  static constexpr std::string_view name = "cg";
  static constexpr std::string_view title = "Implicit hypergradient: T lower steps, then conjugate gradients";

  double alpha = 0.1;
  double beta = 0.2;
  std::int64_t inner = 100;
  double epsilon = 1e-10;
  std::int64_t linear_steps = 40;
  double damping = 0.0;
  bool warm_multiplier = false;
  bool naive = false;
  InnerStart inner_start = InnerStart::warm;
  UpperRule upper = {};

  template <class Self, class Visit> static void fields(Self &self, Visit &&visit) {
    visit_nested_fields(self, visit);
    visit("epsilon", self.epsilon, finite_non_negative, "relative residual at which the linear solve ends");
    visit("linear-steps", self.linear_steps, at_least_one, "most conjugate gradient steps");
    visit("damping", self.damping, finite_non_negative, "added to the Hessian's diagonal");
    visit("warm-multiplier", self.warm_multiplier, any_number, "start the linear solve at the last multiplier");
    visit("naive", self.naive, any_number, "one lower step and one conjugate gradient step");
    UpperRule::fields(self.upper, visit);
  }

  [[nodiscard]] MethodTraits traits() const { return {.upper = upper, .solves_inside = true}; }

  template <SecondOrderProblem P> class Run;
};

template <SecondOrderProblem P> class Cg::Run final : public MethodRun<VectorOf<P>> {
public:
  using V = VectorOf<P>;

  Run(const Cg &options, const P &problem, const State<V> &start)
      : options_(options), lower_(problem.lower()), up_(problem.upper()),
        inner_(start.y, options.naive ? 1 : options.inner, 0, options.inner_start), gradient_(zeros_like(start.y)),
        direction_(zeros_like(start.x)), cross_(zeros_like(start.x)) {}

  StepReport step(State<V> &s, std::int64_t /*k*/, UpperUpdate<V> & /*upper*/) override {
    inner_.descend(lower_, lower_level_only, options_.beta, s.x, s.y);
    lower_.at(s.x, s.y);
    up_.at(s.x, s.y);
    up_.grad_y(gradient_);
    const bool from_zero = options_.naive || !options_.warm_multiplier;
    if (from_zero) {
      set_zero(s.v);
    }
    const LinearResult solved = linear_.solve([&](const V &in, V &out) { lower_.hess_yy(in, out); }, gradient_, s.v,
                                              {.tolerance = options_.epsilon,
                                               .max_steps = options_.naive ? 1 : options_.linear_steps,
                                               .damping = options_.damping},
                                              from_zero);
    implicit_direction(lower_, up_, s.v, direction_, cross_);
    return {.steps = {.alpha = options_.alpha, .beta = options_.beta},
            .failure = failure(solved),
            .not_finite = solved.status == LinearStatus::not_finite};
  }

  [[nodiscard]] const V &direction() const override { return direction_; }
  [[nodiscard]] const V *lower_point() const override { return inner_.last_finite_point(); }
  template <class Archive> void archive(Archive &members) { members("inner", inner_); }

private:
  [[nodiscard]] std::string failure(const LinearResult &solved) const {
    if (solved.status == LinearStatus::converged || solved.status == LinearStatus::step_limit) {
      return {};
    }
    if (solved.status == LinearStatus::singular && options_.damping > 0.0) {
      return {}; // H + εI is not: the damping is lost in rounding, and v is what was found until then
    }
    if (solved.status == LinearStatus::not_finite) {
      return "conjugate gradients met NaN or infinity; try smaller steps";
    }
    const bool singular = solved.status == LinearStatus::singular;
    return "conjugate gradients met " + std::string(singular ? "zero" : "negative") + " curvature at their step " +
           std::to_string(solved.steps + 1) + " (relative residual " + short_number(solved.relative_residual) +
           "): the lower Hessian is " + std::string(singular ? "singular and the system inconsistent" : "indefinite") +
           "; set damping > " + short_number(options_.damping) + ", or use bda, or bagdc with mu > 0";
  }

  Cg options_;
  LowerOf<P> lower_;
  UpperOf<P> up_;
  InnerLoop<V> inner_;
  ConjugateGradient<V> linear_;
  V gradient_;
  V direction_;
  V cross_;
};

} // namespace duplex
