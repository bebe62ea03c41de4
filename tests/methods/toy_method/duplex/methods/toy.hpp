#pragma once
// One gradient step of y and one of v, by steps that shrink: a method in one file, as small as one can be.
#include <duplex/method.hpp>
namespace duplex {
struct Toy {
  static constexpr std::string_view name = "toy";
  static constexpr std::string_view title = "gradient steps of y and v that shrink, for tests";
  double alpha = 0.1, beta = 0.2, shrink = 0.999;
  template <class Self, class Visit> static void fields(Self &self, Visit &&visit) {
    visit_step_fields(self, visit);
    visit("shrink", self.shrink, below_one, "factor of beta from step to step");
  }
  [[nodiscard]] MethodTraits traits() const { return {}; }
  template <SecondOrderProblem P> struct Run;
};
template <SecondOrderProblem P> struct Toy::Run final : MethodRun<VectorOf<P>> {
  using V = VectorOf<P>;
  Run(const Toy &given, const P &problem, const State<V> &start)
      : toy(given), lower(problem.lower()), upper(problem.upper()), r(start.y), product(r), d(start.x), cross(d) {}
  StepReport step(State<V> &s, std::int64_t /*k*/, UpperUpdate<V> & /*upper*/) override {
    lower.at(s.x, s.y);
    lower.grad_y(r);
    axpy(-toy.beta, r, s.y); // y⁺ = y − β ∇y f(x, y)
    lower.at(s.x, s.y);
    upper.at(s.x, s.y);
    upper.grad_y(r);
    lower.hess_yy(s.v, product);
    axpy(-1.0, product, r);
    axpy(toy.beta, r, s.v); // v⁺ = v + β (∇yF − ∇²yy f·v)
    implicit_direction(lower, upper, s.v, d, cross);
    return {.steps = {.alpha = toy.alpha, .beta = std::exchange(toy.beta, toy.shrink * toy.beta)}};
  }
  [[nodiscard]] const V &direction() const override { return d; }
  template <class Archive> void archive(Archive &members) { members("beta", toy.beta); }
  Toy toy;
  LowerOf<P> lower;
  UpperOf<P> upper;
  V r, product, d, cross;
};
} // namespace duplex
