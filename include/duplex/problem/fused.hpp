#pragma once
// Speed without a second algorithm: a problem may offer BAGDC's step with μ = 0
// in fewer passes over its data. It must agree with the general step to rounding.

#include <duplex/problem/problem.hpp>
#include <duplex/space/archive.hpp>
#include <duplex/step/multiplier_rule.hpp>
#include <duplex/step/step_sizes.hpp>
#include <duplex/step/upper_rule.hpp>

#include <optional>

namespace duplex {

/// begin() is called once with the start; step() moves y and v by the rules, writes the direction d, moves x along it
/// by `upper` (so that x may be moved in pieces, in the same pass) and returns the η that it used. archive(members)
/// lists what it carries from step to step (archive.hpp).
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

/// The fused step of a problem where it offers one for these rules, and none of any other problem.
template <SecondOrderProblem P> class FusedStep {
public:
  using V = VectorOf<P>;

  FusedStep() = default;
  FusedStep(const P & /*problem*/, DualStep /*dual*/, bool /*mixes*/, const State<V> & /*start*/) {}

  explicit operator bool() const { return false; }
  double step(State<V> & /*state*/, const StepSizes &steps, const FusedRules<V> & /*rules*/, UpperUpdate<V> & /*upper*/,
              V & /*d*/) {
    return steps.eta;
  }
  template <class Archive> void archive(Archive & /*members*/) {}
};

template <FusedProblem P> class FusedStep<P> {
public:
  using V = VectorOf<P>;

  FusedStep() = default;
  FusedStep(const P &problem, DualStep dual, bool mixes, const State<V> &start) : fused_(problem.fused_bagdc()) {
    if (fused_ && !fused_->supports(dual, mixes)) {
      fused_.reset();
    }
    if (fused_) {
      fused_->begin(start);
    }
  }

  explicit operator bool() const { return fused_.has_value(); }
  double step(State<V> &state, const StepSizes &steps, const FusedRules<V> &rules, UpperUpdate<V> &upper, V &d) {
    return fused_->step(state, steps, rules, upper, d);
  }
  template <class Archive> void archive(Archive &members) { members("step", fused_); }

private:
  std::optional<FusedOf<P>> fused_;
};

} // namespace duplex
