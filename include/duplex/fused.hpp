#pragma once
// Speed without a second algorithm: a problem may offer BAGDC's step with μ = 0
// in fewer passes over its data. It must agree with the general step to rounding.

#include <duplex/archive.hpp>
#include <duplex/mixing.hpp>
#include <duplex/problem.hpp>
#include <duplex/stepsize.hpp>
#include <duplex/upper_rule.hpp>

#include <optional>

namespace duplex {

/// begin() is called once with the start; step() moves y and v, writes the direction d,
/// moves x along it by `move` (so that x may be moved in pieces, in the same pass) and
/// returns the η that it used. How y and v move is in `rules`. archive(members) lists what it carries from step to step
/// (archive.hpp).
template <class V> struct FusedRules {
  DualStep dual = DualStep::constant;
  double relaxation = 1.0; ///< factor on the line search
  LineSearch *search = nullptr;
  AndersonMixing<V> *y_mixing = nullptr; ///< for y and v, or for neither
  AndersonMixing<V> *v_mixing = nullptr;
};

template <class F, class V>
concept FusedBagdcStep = std::movable<F> &&
    requires(F fused, State<V> &state, const StepSizes &steps, const FusedRules<V> &rules, UpperUpdate<V> &move, V &d) {
  { fused.supports(DualStep::constant, true) } -> std::convertible_to<bool>; // a rule, and whether it is mixed
  fused.begin(state);
  { fused.step(state, steps, rules, move, d) } -> std::convertible_to<double>;
  requires requires(StateWriter & writer, StateReader & reader) {
    fused.archive(writer);
    fused.archive(reader);
  };
};

template <class P>
concept FusedProblem = SecondOrderProblem<P> && requires(const P &problem) {
  requires FusedBagdcStep<typename decltype(problem.fused_bagdc())::value_type, VectorOf<P>>;
};

template <FusedProblem P> using FusedOf = typename decltype(std::declval<const P &>().fused_bagdc())::value_type;

} // namespace duplex
