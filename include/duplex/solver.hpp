#pragma once
// solve(): a solver is a struct of options whose Run<P> does one step.

#include <duplex/loop.hpp>
#include <duplex/stochastic.hpp>

#include <concepts>
#include <string>
#include <string_view>

namespace duplex {

/// A solver that can run on a problem of type P.
template <class S, class P>
concept SolverFor = requires(const S &solver, const P &problem, typename S::template Run<P> &run) {
  { S::name } -> std::convertible_to<std::string_view>;
  { solver.upper } -> std::convertible_to<UpperRule>;
  { solver.needs_aggregation() } -> std::convertible_to<bool>;
  typename S::template Run<P>;
  requires MovesUpper<typename S::template Run<P>, VectorOf<P>> ||
      LeavesUpper<typename S::template Run<P>, VectorOf<P>>;
  { run.direction() } -> std::convertible_to<const VectorOf<P> &>;
};

/// Runs `solver` on `problem` from `state`, which it moves. Throws InvalidInput
/// before any work if an option, the start or the pairing is wrong; what happens
/// later is in the summary. Safe to call from several threads on one problem.
template <DeterministicProblem P, class S>
requires SolverFor<S, Counted<P>>
[[nodiscard]] Summary solve(const P &problem, const S &solver, State<VectorOf<P>> &state, const Options &options = {},
                            const Monitor<VectorOf<P>> &monitor = {}) {
  detail::NothingDrawn nothing;
  return detail::Loop(problem, problem, nothing, solver, state, options, monitor).run();
}

/// The same where every step is done on a sample of its own, drawn by a generator of the run with the seed that the
/// options give: equal seeds give equal runs, whatever other threads do on the problem. Metrics and observers see the
/// state and measure on what they were made with. A NaN is traced on the sample of the step that met it.
template <StochasticProblem P, class S>
requires SolverFor<S, Counted<Drawn<P>>>
[[nodiscard]] Summary solve(const P &problem, const S &solver, State<VectorOf<P>> &state, const Options &options = {},
                            const Monitor<VectorOf<P>> &monitor = {}) {
  if constexpr (requires { solver.refuses_samples(); }) {
    if (solver.refuses_samples()) {
      throw InvalidInput(std::string(S::name) +
                         ": no step is given, but the problem draws samples: give alpha and beta "
                         "(a run finds its own where what a step learns holds for the next)");
    }
  }
  Drawn<P> drawn(problem, options.seed);
  if constexpr (SecondOrderProblem<P>) {
    return detail::Loop(drawn, problem, drawn, solver, state, options, monitor).run();
  } else {
    return detail::Loop(drawn, drawn, drawn, solver, state, options, monitor).run();
  }
}

} // namespace duplex
