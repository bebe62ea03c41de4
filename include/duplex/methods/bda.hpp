#pragma once
// Bi-level Descent Aggregation (BDA; Liu et al., 2020): RHG whose inner step t
// descends on both levels,
//
//   y_{t+1} = y_t − β ((1 − u) ∇y f + (u/√(t+1)) ∇yF)(x, y_t),
//
// so that among many lower minimizers the upper level chooses.
// Cost of a step: 2T + 2 gradients, 2(T − 1) Hessian and 2T cross products.
// Memory: T vectors.

#include <duplex/method.hpp>
#include <duplex/methods/nested/unroll.hpp>

#include <cmath>
#include <cstdint>
#include <string_view>

namespace duplex {

struct Bda {
  static constexpr std::string_view name = "bda";
  static constexpr std::string_view title = "Bi-level Descent Aggregation: unrolled steps on a blend of both levels";

  double alpha = 0.1;
  double beta = 0.2;
  std::int64_t inner = 100;
  double aggregation = 0.1;
  InnerStart inner_start = InnerStart::warm;
  UpperRule upper = {};

  template <class Self, class Visit> static void fields(Self &self, Visit &&visit) {
    visit_nested_fields(self, visit);
    visit("aggregation", self.aggregation, Bound{.low = 0.0, .high = 1.0, .low_open = true, .high_open = true},
          "weight u of the upper level in the inner steps");
    UpperRule::fields(self.upper, visit);
  }

  [[nodiscard]] MethodTraits traits() const { return {.upper = upper, .aggregates = true, .solves_inside = true}; }

  template <SecondOrderProblem P> class Run;
};

template <SecondOrderProblem P> class Bda::Run final : public MethodRun<VectorOf<P>> {
  static_assert(AggregatedProblem<P>, "bda: the problem lacks upper().hess_yy(v, out) and upper().cross_xy(v, out)");

public:
  using V = VectorOf<P>;

  Run(const Bda &options, const P &problem, const State<V> &start)
      : options_(options), lower_(problem), up_(problem.upper()),
        unrolled_(start, options.inner, options.inner, options.inner_start) {}

  StepReport step(State<V> &s, std::int64_t /*k*/, UpperUpdate<V> & /*upper*/) override {
    const auto blend = [u = options_.aggregation](AggregatedLower<P> &lower, std::int64_t t) {
      lower.weigh(u, 1.0 / std::sqrt(static_cast<double>(t + 1))); // u·λ_t F + (1 − u) f
    };
    unrolled_.step(lower_, up_, blend, options_.beta, s);
    return {.steps = {.alpha = options_.alpha, .beta = options_.beta, .mu = options_.aggregation}};
  }

  [[nodiscard]] const V &direction() const override { return unrolled_.direction(); }
  [[nodiscard]] const V *lower_point() const override { return unrolled_.lower_point(); }
  template <class Archive> void archive(Archive &members) { members("unrolled", unrolled_); }

private:
  Bda options_;
  AggregatedLower<P> lower_;
  UpperOf<P> up_;
  UnrolledHypergradient<V> unrolled_;
};

} // namespace duplex
