#pragma once
// solve(): the only loop. A solver is a struct of options whose Run<P> does one
// step: it moves y and v and estimates the hypergradient d at x. The loop moves
// x, keeps the clock and the counters, watches for divergence, and stops.

#include <duplex/counters.hpp>
#include <duplex/observer.hpp>
#include <duplex/residual.hpp>
#include <duplex/summary.hpp>
#include <duplex/upper_rule.hpp>

#include <atomic>
#include <chrono>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <string>
#include <vector>

namespace duplex {

/// When to stop. A tolerance of zero is off.
struct Options {
  std::int64_t max_iterations = 10'000;
  double max_seconds = infinity;
  /// On ‖d‖. The first step never counts: x and v may start where d vanishes.
  double direction_tolerance = 0.0;
  /// On ‖∇L(x, y, v)‖, measured off the clock at the monitor's cadence.
  double kkt_tolerance = 0.0;
  /// Diverged once ‖d‖ exceeds this factor times max(1, first ‖d‖).
  double divergence_factor = 1e10;
  /// Raised from outside (a signal handler, another thread) to end the run early.
  const std::atomic<bool> *interrupt = nullptr;

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

/// What a step reports to the loop.
struct StepOutcome {
  StepSizes steps;
  std::string failure;  ///< empty unless the method could not do the step
  bool moved_x = false; ///< the step has moved x itself, by the rule that the loop handed to it
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

/// A clock that can be stopped.
class Stopwatch {
public:
  void start() { since_ = Clock::now(); }
  void pause() { before_ += Clock::now() - since_; }
  [[nodiscard]] double seconds_while_paused() const { return std::chrono::duration<double>(before_).count(); }
  [[nodiscard]] double seconds_while_running() const {
    return std::chrono::duration<double>(before_ + (Clock::now() - since_)).count();
  }

private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point since_;
  Clock::duration before_{};
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

/// Decides how often to read the clock: rarely enough to be free on a step of
/// nanoseconds, often enough to stop within a millisecond or a step of the limit.
class TimeLimit {
public:
  explicit TimeLimit(double limit) : limit_(limit) {}

  [[nodiscard]] bool reached(std::int64_t iteration, const Stopwatch &clock) {
    if (iteration < next_ || !std::isfinite(limit_)) {
      return false;
    }
    const double now = clock.seconds_while_running();
    const double per_step = now / static_cast<double>(iteration);
    const double until_next = std::min(1e-3, 0.5 * (limit_ - now));
    next_ = iteration + 1 + static_cast<std::int64_t>(std::max(0.0, until_next) / std::max(per_step, 1e-9));
    return now >= limit_;
  }

private:
  double limit_;
  std::int64_t next_ = 1;
};

} // namespace detail

/// Runs `solver` on `problem` from `state`, which it moves. Throws InvalidInput
/// before any work if an option, the start or the pairing is wrong; what happens
/// later is in the summary. Safe to call from several threads on one problem.
template <SecondOrderProblem P, class S>
requires SolverFor<S, Counted<P>>
[[nodiscard]] Summary solve(const P &problem, const S &solver, State<VectorOf<P>> &state, const Options &options = {},
                            const Monitor<VectorOf<P>> &monitor = {}) {
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
  detail::Watch<P> watch(problem, options, monitor);
  detail::TimeLimit time_limit(options.max_seconds);
  const Counted<P> counted(problem, summary.counters);
  typename S::template Run<Counted<P>> run(solver, counted, state);
  UpperUpdate<V> upper(solver.upper, state.x);
  V previous_x;
  double divergence_limit = infinity;

  Stopwatch clock;
  clock.start();
  for (std::int64_t k = 1;; ++k) {
    const bool due = watch.due(k);
    if (watch.active()) { // any step may turn out to be the last, which is always observed
      clock.pause();
      assign(state.x, previous_x);
      clock.start();
    }
    StepOutcome outcome;
    if constexpr (MovesUpper<decltype(run), V>) {
      outcome = run.step(state, k - 1, upper);
    } else {
      outcome = run.step(state, k - 1);
    }
    summary.iterations = k;
    if (!outcome.failure.empty()) {
      summary.termination = Termination::step_failed;
      summary.message = "step " + std::to_string(k) + ": " + outcome.failure;
      break;
    }
    if (!outcome.moved_x) {
      upper.apply(outcome.steps.alpha, run.direction(), state.x);
    }

    const double direction_norm = norm(run.direction());
    summary.direction_norm = direction_norm;
    upper.learn(direction_norm);
    if (k == 1) {
      divergence_limit = options.divergence_factor * std::max(1.0, direction_norm);
    }
    if (!(direction_norm <= divergence_limit) || !std::isfinite(direction_norm)) {
      summary.termination = Termination::diverged;
      summary.message =
          "‖d‖ " +
          (std::isfinite(direction_norm) ? "grew to " + short_number(direction_norm) : std::string("is not finite")) +
          " at step " + std::to_string(k) + "; try smaller steps";
      break;
    }
    if (options.direction_tolerance > 0.0 && direction_norm <= options.direction_tolerance && k > 1) {
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
  if (!summary.failed() && !(all_finite(state.x) && all_finite(state.y) && all_finite(state.v))) {
    summary.termination = Termination::diverged;
    summary.message = "the state holds NaN or infinity after step " + std::to_string(summary.iterations);
  }
  if (!summary.failed()) {
    watch.report(summary);
  }
  return summary;
}

} // namespace duplex
