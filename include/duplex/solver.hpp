#pragma once
// solve(): the only loop. A solver is a struct of options whose Run<P> does one
// step: it moves y and v and estimates the hypergradient d at x. The loop moves
// x, keeps the clock and the counters, watches for divergence, and stops.

#include <duplex/clock.hpp>
#include <duplex/counters.hpp>
#include <duplex/diagnosis.hpp>
#include <duplex/observer.hpp>
#include <duplex/residual.hpp>
#include <duplex/stochastic.hpp>
#include <duplex/summary.hpp>
#include <duplex/upper_rule.hpp>

#include <atomic>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace duplex {

/// When to stop. A tolerance of zero is off.
struct Options {
  std::int64_t max_iterations = 10'000;
  double max_seconds = infinity;
  /// On ‖d‖. The first step never counts: x and v may start where d vanishes.
  double direction_tolerance = 0.0;
  /// On ‖∇L(x, y, v)‖, measured off the clock at the monitor's cadence; of a stochastic problem, on the whole of it
  /// where it offers that, otherwise on the sample that the step has drawn.
  double kkt_tolerance = 0.0;
  /// Diverged once ‖d‖ exceeds this factor times max(1, first ‖d‖).
  double divergence_factor = 1e10;
  /// Raised from outside (a signal handler, another thread) to end the run early.
  const std::atomic<bool> *interrupt = nullptr;
  /// Of the generator from which a stochastic problem draws. Not among the fields: no problem of the tool draws.
  std::uint64_t seed = 0;

  template <class Self, class Visit> static void fields(Self &self, Visit &&visit) {
    visit("iterations", self.max_iterations, at_least_one, "most steps to do");
    visit("seconds", self.max_seconds, positive, "most seconds to take, on the run's clock");
    visit("direction-tolerance", self.direction_tolerance, finite_non_negative,
          "stop when ‖d‖ is at most this (0: off)");
    visit("kkt-tolerance", self.kkt_tolerance, finite_non_negative,
          "stop when the KKT residual is at most this (0: off)");
    visit("divergence-factor", self.divergence_factor, Bound{.low = 1.0, .low_open = true},
          "diverged once ‖d‖ exceeds this factor times max(1, first ‖d‖)");
  }
};

/// A run whose step may move x itself.
template <class R, class V>
concept MovesUpper = requires(R &run, State<V> &state, std::int64_t k, UpperUpdate<V> &upper) {
  { run.step(state, k, upper) } -> std::same_as<StepOutcome>;
};

template <class R, class V>
concept LeavesUpper = requires(R &run, State<V> &state, std::int64_t k) {
  { run.step(state, k) } -> std::same_as<StepOutcome>;
};

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

namespace detail {

/// Metrics, KKT residual, observers and the rules that stop on them.
template <SecondOrderProblem P> class Watch {
public:
  using V = VectorOf<P>;

  Watch(const P &problem, const Options &options, const Monitor<V> &monitor)
      : monitor_(&monitor), kkt_(problem), kkt_tolerance_(options.kkt_tolerance),
        last_iteration_(options.max_iterations), values_(monitor.metrics.size()) {
    if (monitor.cadence.every < 1 || !(monitor.cadence.growth >= 0.0)) {
      throw InvalidInput("monitor: cadence must have every >= 1 and growth >= 0");
    }
    if (monitor.target) {
      target_ = monitor.metrics.size();
      for (std::size_t i = 0; i < monitor.metrics.size(); ++i) {
        if (monitor.metrics[i].name == monitor.target->metric) {
          target_ = i;
        }
      }
      if (target_ == monitor.metrics.size()) {
        throw InvalidInput("monitor: the target's metric '" + monitor.target->metric + "' is not among the metrics");
      }
    }
  }

  [[nodiscard]] bool active() const { return monitor_->watches() || kkt_tolerance_ > 0.0; }
  [[nodiscard]] bool due(std::int64_t iteration) const {
    return active() && (iteration >= next_ || iteration == last_iteration_);
  }

  /// Measures, tells the observers, and says whether a rule stops the run.
  [[nodiscard]] Termination look(Progress<V> progress) {
    next_ = monitor_->cadence.after(progress.iteration);
    for (std::size_t i = 0; i < values_.size(); ++i) {
      values_[i] = monitor_->metrics[i].measure(progress);
    }
    progress.metrics = values_;
    for (auto *observer : monitor_->observers) {
      observer->observe(progress);
    }
    if (monitor_->target && values_[target_] <= monitor_->target->value) {
      return Termination::target_reached;
    }
    if (kkt_tolerance_ > 0.0 &&
        kkt_.at(progress.state.x, progress.state.y, progress.state.v).residual() <= kkt_tolerance_) {
      return Termination::kkt_tolerance;
    }
    if (monitor_->stop_when && monitor_->stop_when(progress)) {
      return Termination::predicate;
    }
    return Termination::not_run;
  }

  void report(Summary &summary) const {
    for (std::size_t i = 0; i < values_.size(); ++i) {
      summary.metrics.emplace_back(monitor_->metrics[i].name, values_[i]);
    }
  }

private:
  const Monitor<V> *monitor_;
  KktResidual<P> kkt_;
  double kkt_tolerance_;
  std::int64_t last_iteration_;
  std::vector<double> values_;
  std::size_t target_ = 0;
  std::int64_t next_ = 1;
};

/// The loop. `measured` is the problem on which the KKT tolerance is measured; `draw_next()` is called between steps.
template <SecondOrderProblem P, SecondOrderProblem M, class S, class DrawNext>
[[nodiscard]] Summary run_loop(const P &problem, const M &measured, const DrawNext &draw_next, const S &solver,
                               State<VectorOf<P>> &state, const Options &options, const Monitor<VectorOf<P>> &monitor) {
  using V = VectorOf<P>;
  validate(solver, S::name);
  validate(options, "options");
  if (solver.needs_aggregation() && !offers_aggregation(problem)) {
    throw InvalidInput(std::string(S::name) +
                       ": the problem lacks upper().hess_yy(v, out) and upper().cross_xy(v, out), "
                       "which aggregation needs");
  }
  prepare_start(problem, state);

  Summary summary;
  summary.solver = S::name;
  Watch<M> watch(measured, options, monitor);
  TimeLimit time_limit(options.max_seconds);
  const Counted<P> counted(problem, summary.counters);
  typename S::template Run<Counted<P>> run(solver, counted, state);
  UpperUpdate<V> upper(solver.upper, state.x);
  V previous_x;
  StartNorms start_norms = StartNorms::of(state);
  double divergence_limit = infinity;
  StepOutcome outcome;

  Stopwatch clock;
  clock.start();
  for (std::int64_t k = 1;; ++k) {
    const bool due = watch.due(k);
    if (watch.active()) { // any step may turn out to be the last, which is always observed
      clock.pause();
      assign(state.x, previous_x);
      clock.start();
    }
    if (k > 1) {
      draw_next();
    }
    if constexpr (MovesUpper<decltype(run), V>) {
      outcome = run.step(state, k - 1, upper);
    } else {
      outcome = run.step(state, k - 1);
    }
    summary.iterations = k;
    if (!outcome.failure.empty()) {
      summary.termination = Termination::step_failed;
      break;
    }
    const double direction_norm = norm(run.direction()); // before x follows: where d is not finite, x stays
    summary.direction_norm = direction_norm;
    if (k == 1) {
      start_norms.d = direction_norm;
      divergence_limit = options.divergence_factor * std::max(1.0, direction_norm);
    }
    if (!(direction_norm <= divergence_limit) || !std::isfinite(direction_norm)) {
      summary.termination = Termination::diverged;
      break;
    }
    if (!outcome.moved_x) {
      upper.apply(outcome.steps.alpha, run.direction(), state.x);
      outcome.moved_x = true;
    }
    upper.learn(direction_norm);
    if (outcome.converged) {
      summary.termination = Termination::direction_tolerance;
    } else if (options.direction_tolerance > 0.0 && direction_norm <= options.direction_tolerance && k > 1) {
      summary.termination = Termination::direction_tolerance;
    } else if (k == options.max_iterations) {
      summary.termination = Termination::max_iterations;
    } else if (options.interrupt != nullptr && options.interrupt->load(std::memory_order_relaxed)) {
      summary.termination = Termination::interrupted;
    } else if (time_limit.reached(k, clock)) {
      summary.termination = Termination::max_seconds;
    }
    const bool stopping = summary.termination != Termination::not_run;
    if (due || (stopping && watch.active())) {
      clock.pause();
      const Termination seen = watch.look(Progress<V>{.iteration = k,
                                                      .seconds = clock.seconds_while_paused(),
                                                      .direction_norm = direction_norm,
                                                      .steps = outcome.steps,
                                                      .counters = summary.counters,
                                                      .state = state,
                                                      .previous_x = previous_x,
                                                      .direction = run.direction(),
                                                      .metrics = {}});
      if (seen != Termination::not_run) {
        summary.termination = seen;
      }
      clock.start();
    }
    if (summary.termination != Termination::not_run) {
      break;
    }
  }
  clock.pause();
  summary.seconds = clock.seconds_while_paused();
  if constexpr (requires { run.explanation(); }) {
    summary.explanation = run.explanation();
  }
  if (!summary.failed() && !(all_finite(state.x) && all_finite(state.y) && all_finite(state.v))) {
    summary.termination = Termination::diverged;
  }
  if (summary.failed()) {
    const bool grew = summary.termination == Termination::diverged && std::isfinite(summary.direction_norm) &&
                      summary.direction_norm > divergence_limit;
    summary.message = explained(problem, solver, state, lower_point_of<V>(run), start_norms,
                                Failure{summary.iterations, std::move(outcome), summary.direction_norm, grew});
  }
  if (!summary.failed()) {
    watch.report(summary);
  }
  return summary;
}

} // namespace detail

/// Runs `solver` on `problem` from `state`, which it moves. Throws InvalidInput
/// before any work if an option, the start or the pairing is wrong; what happens
/// later is in the summary. Safe to call from several threads on one problem.
template <DeterministicProblem P, class S>
requires SolverFor<S, Counted<P>>
[[nodiscard]] Summary solve(const P &problem, const S &solver, State<VectorOf<P>> &state, const Options &options = {},
                            const Monitor<VectorOf<P>> &monitor = {}) {
  const auto nothing_to_draw = [] {};
  return detail::run_loop(problem, problem, nothing_to_draw, solver, state, options, monitor);
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
      throw InvalidInput(std::string(S::name) + ": steps = automatic on a problem that draws samples, expected steps = "
                                                "given (what a step learns must hold for the next)");
    }
  }
  Drawn<P> drawn(problem, options.seed);
  const auto draw_next = [&drawn] { drawn.next(); };
  if constexpr (SecondOrderProblem<P>) {
    return detail::run_loop(drawn, problem, draw_next, solver, state, options, monitor);
  } else {
    return detail::run_loop(drawn, drawn, draw_next, solver, state, options, monitor);
  }
}

} // namespace duplex
