#pragma once
// Reverse-mode hypergradient (RHG; Franceschi et al., 2017): T gradient steps on
// the lower level, then the exact gradient of F(x, y_T(x)) by the reverse sweep.
// `kept` < T truncates the sweep to the last steps (Shaban et al., 2019).
//
// Cost of a step: T + 2 gradients, T − 1 Hessian products, T cross products.
// Memory: T vectors.

#include <duplex/method.hpp>
#include <duplex/methods/nested/unroll.hpp>

#include <algorithm>
#include <cstdint>
#include <string_view>

namespace duplex {

struct Rhg {
  static constexpr std::string_view name = "rhg";
  static constexpr std::string_view title = "Reverse-mode hypergradient through T lower steps, optionally truncated";

  double alpha = 0.1;
  double beta = 0.2;
  std::int64_t inner = 100;
  std::int64_t kept = 0;
  InnerStart inner_start = InnerStart::warm;
  UpperRule upper = {};

  template <class Self, class Visit> static void fields(Self &self, Visit &&visit) {
    visit_nested_fields(self, visit);
    visit("kept", self.kept, non_negative, "sweep back through the last K steps only (0: all)");
    UpperRule::fields(self.upper, visit);
  }

  [[nodiscard]] MethodTraits traits() const { return {.upper = upper, .solves_inside = true}; }

  template <SecondOrderProblem P> class Run;
};

template <SecondOrderProblem P> class Rhg::Run final : public MethodRun<VectorOf<P>> {
public:
  using V = VectorOf<P>;

  Run(const Rhg &options, const P &problem, const State<V> &start)
      : options_(options), lower_(problem.lower()), up_(problem.upper()),
        unrolled_(start, options.inner, options.kept == 0 ? options.inner : std::min(options.kept, options.inner),
                  options.inner_start) {}

  StepReport step(State<V> &s, std::int64_t /*k*/, UpperUpdate<V> & /*upper*/) override {
    unrolled_.step(lower_, up_, lower_level_only, options_.beta, s);
    return {.steps = {.alpha = options_.alpha, .beta = options_.beta}};
  }

  [[nodiscard]] const V &direction() const override { return unrolled_.direction(); }
  [[nodiscard]] const V *lower_point() const override { return unrolled_.lower_point(); }
  template <class Archive> void archive(Archive &members) { members("unrolled", unrolled_); }

private:
  Rhg options_;
  LowerOf<P> lower_;
  UpperOf<P> up_;
  UnrolledHypergradient<V> unrolled_;
};

} // namespace duplex
