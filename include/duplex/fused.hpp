#pragma once
// Speed without a second algorithm: a problem may offer BAGDC's step with μ = 0
// in fewer passes over its data. It must agree with the general step to rounding.

#include <duplex/problem.hpp>
#include <duplex/stepsize.hpp>
#include <duplex/upper_rule.hpp>

#include <optional>

namespace duplex {

/// begin() is called once with the start; step() moves y and v, writes the direction d,
/// moves x along it by `move` (so that x may be moved in pieces, in the same pass) and
/// returns the η that it used. The line-search rules receive their relaxation factor and
/// cap in `dual`.
struct FusedDual {
  DualStep rule = DualStep::constant;
  double factor = 1.0;
  LineSearch *search = nullptr;
};

template <class F, class V>
concept FusedBagdcStep = std::movable<F> &&
    requires(F fused, State<V> &state, const StepSizes &steps, const FusedDual &dual, UpperUpdate<V> &move, V &d) {
  { fused.supports(dual.rule) } -> std::convertible_to<bool>;
  fused.begin(state);
  { fused.step(state, steps, dual, move, d) } -> std::convertible_to<double>;
};

template <class P>
concept FusedProblem = SecondOrderProblem<P> && requires(const P &problem) {
  requires FusedBagdcStep<typename decltype(problem.fused_bagdc())::value_type, VectorOf<P>>;
};

template <FusedProblem P> using FusedOf = typename decltype(std::declval<const P &>().fused_bagdc())::value_type;

} // namespace duplex
