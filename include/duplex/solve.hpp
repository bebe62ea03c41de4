#pragma once
// solve(): a method (method.hpp) runs on a problem from a state, which it moves.

#include <duplex/methods/automatic.hpp>
#include <duplex/problem/any_sampled.hpp>
#include <duplex/problem/by_differences.hpp>
#include <duplex/problem/incomplete.hpp>
#include <duplex/problem/stochastic.hpp>
#include <duplex/run/context.hpp>
#include <duplex/run/run_loop.hpp>

#include <concepts>
#include <string>
#include <string_view>

namespace duplex {

/// A method that can run on a problem of type P.
template <class S, class P>
concept SolverFor = requires(const S &method, typename S::template Run<P> &run, StateWriter &writer,
                             StateReader &reader) {
  { S::name } -> std::convertible_to<std::string_view>;
  { method.traits() } -> std::same_as<MethodTraits>;
  requires std::derived_from<typename S::template Run<P>, MethodRun<VectorOf<P>>>;
  run.archive(writer);
  run.archive(reader);
};

/// A problem that has only gradients, and a method that needs no more.
template <class P, class S>
concept NeedsOnlyGradients = GradientsOnly<P> && !StochasticProblem<P> && SolverFor<S, Counted<P>>;
/// A problem that draws samples, and a method that needs no more than they have.
template <class P, class S>
concept RunsOnSamples = StochasticProblem<P> && SolverFor<S, Counted<Drawn<P>>>;
/// A method that asks for samples again, and a problem that cannot give them and has all else that is needed.
template <class P, class S>
concept ForgetsWhatTheRunNeeds = StochasticProblem<P> && !RunsOnSamples<P, S> && requires {
  typename S::template Run<Counted<DrawnAndRemembered<P>>>;
};
/// The method has a run on other problems, and needs of this one what it lacks.
template <class P, class S>
concept LacksWhatTheRunNeeds = requires(const S &method) {
  method.traits();
  requires !requires { typename S::template Run<Counted<P>>; };
};

namespace detail {

/// Where the steps' samples come from, and whether what is measured off the clock is the whole problem, the same at
/// every measurement.
struct Sampling {
  SampleSource *source = nullptr; ///< null where a problem is the same at every step
  bool measures_whole = true;
};

/// Steps see `problem`; `measured` is what is measured off the clock.
template <SecondOrderProblem P, SecondOrderProblem M, class S>
[[nodiscard]] Summary run(const P &problem, const M &measured, const Sampling &sampling, const S &method,
                          State<VectorOf<P>> &state, const Options &options, const Monitor<VectorOf<P>> &monitor) {
  using V = VectorOf<P>;
  require_offers<P>();
  validate(method, S::name);
  const MethodTraits traits = method.traits();
  traits.upper.refuse_what_is_ignored(S::name);
  validate(options, "options");
  if (traits.aggregates && !offers_aggregation(problem)) {
    throw InvalidInput(std::string(S::name) +
                       ": the problem lacks upper().hess_yy(v, out) and upper().cross_xy(v, out), "
                       "which aggregation needs");
  }
  if (traits.penalizes && !offers_lower_grad_x(problem)) {
    throw InvalidInput(std::string(S::name) +
                       ": the problem lacks lower().grad_x(out), which a method without second derivatives needs");
  }
  prepare_start(problem, state);
  RunMeter meter(options);
  const Counted<P> counted(problem, meter.counters,
                           traits.solves_inside && meter.limit.exists() ? &meter.limit : nullptr);
  MethodOf<S, Counted<P>> bound(method, counted);
  return run_loop<V>({.subject = {.problem = ProblemView<V>(problem),
                                  .measured = ProblemView<V>(measured),
                                  .samples = sampling.source,
                                  .sees_whole = sampling.measures_whole},
                      .method = &bound,
                      .traits = traits,
                      .meter = &meter,
                      .state = &state,
                      .options = &options},
                     monitor);
}

template <class S> void refuse_samples_for_one_that_chooses_its_steps(const S &method) {
  if (method.traits().chooses_its_steps()) {
    throw InvalidInput(std::string(S::name) +
                       ": the problem draws samples, but what a step learns must hold for the next: expected a method "
                       "with steps, such as bagdc with alpha and beta");
  }
}

} // namespace detail

/// Runs `method` on `problem` from `state`, which it moves. Throws InvalidInput
/// before any work if an option, the start or the pairing is wrong; what happens
/// later is in the summary. Safe to call from several threads on one problem.
template <DeterministicProblem P, class S>
requires SolverFor<S, Counted<P>>
[[nodiscard]] Summary solve(const P &problem, const S &method, State<VectorOf<P>> &state, const Options &options = {},
                            const Monitor<VectorOf<P>> &monitor = {}) {
  return detail::run(problem, problem, {}, method, state, options, monitor);
}

/// The same by Automatic, the method that chooses its own steps.
template <DeterministicProblem P>
[[nodiscard]] Summary solve(const P &problem, State<VectorOf<P>> &state, const Options &options = {},
                            const Monitor<VectorOf<P>> &monitor = {}) {
  return solve(problem, Automatic{}, state, options, monitor);
}

/// The same where every step is done on a sample of its own, drawn by a generator of the run with the seed that the
/// options give: equal seeds give equal runs, whatever other threads do on the problem. Metrics and observers see the
/// state and measure on what they were made with. A NaN is traced on the sample of the step that met it.
template <class P, class S>
requires RunsOnSamples<P, S>
[[nodiscard]] Summary solve(const P &problem, const S &method, State<VectorOf<P>> &state, const Options &options = {},
                            const Monitor<VectorOf<P>> &monitor = {}) {
  detail::refuse_samples_for_one_that_chooses_its_steps(method);
  Drawn<P> drawn(problem, options.seed);
  SampleSourceOf<P> samples(drawn);
  if constexpr (SecondOrderProblem<P>) {
    return detail::run(drawn, problem, {&samples}, method, state, options, monitor);
  } else if constexpr (SecondOrderProblem<Drawn<P>>) {
    return detail::run(drawn, drawn, {&samples, false}, method, state, options, monitor);
  } else {
    const DifferencedView<Drawn<P>> with_products(drawn);
    return detail::run(with_products, with_products, {&samples, false}, method, state, options, monitor);
  }
}

/// The same where the type of the problem is forgotten.
template <VectorSpace V, class S>
[[nodiscard]] Summary solve(const AnySampledProblem<V> &problem, const S &method, State<V> &state,
                            const Options &options = {}, const Monitor<V> &monitor = {}) {
  detail::refuse_samples_for_one_that_chooses_its_steps(method);
  const auto drawing = problem.begin(options.seed);
  return detail::run(drawing.in_hand, problem.whole(), {drawing.source.get()}, method, state, options, monitor);
}

/// The same without second derivatives. What measures the run besides, where it is asked to, takes products by
/// differences.
template <class P, class S>
requires NeedsOnlyGradients<P, S>
[[nodiscard]] Summary solve(const P &problem, const S &method, State<VectorOf<P>> &state, const Options &options = {},
                            const Monitor<VectorOf<P>> &monitor = {}) {
  return solve(DifferencedView<P>(problem), method, state, options, monitor);
}

/// A method without second derivatives on a problem without ∇x f: the first error of the compiler says so.
template <DeterministicProblem P, class S>
requires(!PenalizableProblem<P> && LacksWhatTheRunNeeds<P, S>) Summary
    solve(const P & /*problem*/, const S & /*method*/, State<VectorOf<P>> & /*state*/, const Options & /*options*/ = {},
          const Monitor<VectorOf<P>> & /*monitor*/ = {}) {
  detail::explain_missing_grad_x<P>();
  return {};
}

/// A method that asks for samples again on a problem that cannot give them: the first error of the compiler says so.
template <class P, class S>
requires(SolvableProblem<P> &&ForgetsWhatTheRunNeeds<P, S>) Summary
    solve(const P & /*problem*/, const S & /*method*/, State<VectorOf<P>> & /*state*/, const Options & /*options*/ = {},
          const Monitor<VectorOf<P>> & /*monitor*/ = {}) {
  detail::explain_forgotten_samples<P>();
  return {};
}

/// What is not a problem: the first error of the compiler names the level and the member that is missing.
template <class P, class S, VectorSpace V>
requires(!SolvableProblem<P> && !NeedsOnlyGradients<P, S> && !RunsOnSamples<P, S>) Summary
    solve(const P & /*problem*/, const S & /*method*/, State<V> & /*state*/, const Options & /*options*/ = {},
          const Monitor<V> & /*monitor*/ = {}) {
  detail::explain_incomplete_problem<P>();
  return {};
}
template <class P, VectorSpace V>
requires(!SolvableProblem<P>) Summary
    solve(const P &problem, State<V> &state, const Options &options = {}, const Monitor<V> &monitor = {}) {
  return solve(problem, Automatic{}, state, options, monitor);
}

} // namespace duplex
