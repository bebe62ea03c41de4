#pragma once
// Implicit differentiation by a Neumann series (NS; Lorraine et al., 2020): T
// gradient steps on the lower level, then M terms of the inverse Hessian,
//
//   v = γ Σ_{i=0}^{M−1} (I − γ∇²yy f(x, y_T))^i ∇yF(x, y_T),
//   d = ∇xF(x, y_T) − ∇²xy f(x, y_T) v,
//
// with γ = β unless given. `naive` is the paper's one-step acceleration, T = 1
// and one term; its fixed points are NOSA's.
// Cost of a step: T + 2 gradients, M − 1 Hessian products, one cross product.

#include <duplex/method.hpp>
#include <duplex/methods/nested/unroll.hpp>

#include <cstdint>
#include <string_view>

namespace duplex {

struct Neumann {
  static constexpr std::string_view name = "ns";
  static constexpr std::string_view title = "Implicit hypergradient: T lower steps, then M terms of a Neumann series";

  double alpha = 0.1;
  double beta = 0.2;
  std::int64_t inner = 100;
  std::int64_t terms = 50;
  double series_step = 0.0;
  bool naive = false;
  InnerStart inner_start = InnerStart::warm;
  UpperRule upper = {};

  template <class Self, class Visit> static void fields(Self &self, Visit &&visit) {
    visit_nested_fields(self, visit);
    visit("terms", self.terms, at_least_one, "terms M of the series");
    visit("series-step", self.series_step, finite_non_negative, "step of the series (0: beta)",
          self.series_step > 0.0 ? Role::series_step : Role::none);
    visit("naive", self.naive, any_number, "one lower step and one term");
    UpperRule::fields(self.upper, visit);
  }

  [[nodiscard]] MethodTraits traits() const { return {.upper = upper, .solves_inside = true}; }

  template <SecondOrderProblem P> class Run;
};

template <SecondOrderProblem P> class Neumann::Run final : public MethodRun<VectorOf<P>> {
public:
  using V = VectorOf<P>;

  Run(const Neumann &options, const P &problem, const State<V> &start)
      : options_(options), lower_(problem.lower()), up_(problem.upper()),
        inner_(start.y, options.naive ? 1 : options.inner, 0, options.inner_start), term_(zeros_like(start.y)),
        product_(zeros_like(start.y)), direction_(zeros_like(start.x)), cross_(zeros_like(start.x)) {}

  StepReport step(State<V> &s, std::int64_t /*k*/, UpperUpdate<V> & /*upper*/) override {
    const double gamma = options_.series_step > 0.0 ? options_.series_step : options_.beta;
    const std::int64_t used_terms = options_.naive ? 1 : options_.terms;
    inner_.descend(lower_, lower_level_only, options_.beta, s.x, s.y);
    lower_.at(s.x, s.y);
    up_.at(s.x, s.y);
    up_.grad_y(term_);
    set_zero(s.v);
    axpy(gamma, term_, s.v);
    for (std::int64_t i = 1; i < used_terms; ++i) {
      lower_.hess_yy(term_, product_);
      axpy(-gamma, product_, term_);
      axpy(gamma, term_, s.v);
    }
    implicit_direction(lower_, up_, s.v, direction_, cross_);
    const double eta = used_terms > 1 ? gamma : 0.0; // one term diverges with no step
    return {.steps = {.alpha = options_.alpha, .beta = options_.beta, .eta = eta}};
  }

  [[nodiscard]] const V &direction() const override { return direction_; }
  [[nodiscard]] const V *lower_point() const override { return inner_.last_finite_point(); }
  template <class Archive> void archive(Archive &members) { members("inner", inner_); }

private:
  Neumann options_;
  LowerOf<P> lower_;
  UpperOf<P> up_;
  InnerLoop<V> inner_;
  V term_;
  V product_;
  V direction_;
  V cross_;
};

} // namespace duplex
