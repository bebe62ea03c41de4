#pragma once
// What the loop does beside steps, off its clock: it measures, and tells observers.

#include <duplex/core/clock.hpp>
#include <duplex/measure/relative_kkt.hpp>
#include <duplex/measure/residual.hpp>
#include <duplex/problem/problem_view.hpp>
#include <duplex/run/early_stopping.hpp>
#include <duplex/run/observer.hpp>
#include <duplex/run/options.hpp>
#include <duplex/run/summary.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace duplex::detail {

/// Metrics, KKT residual, observers and the rules that stop on them.
template <VectorSpace V> class Watch {
public:
  Watch(const ProblemView<V> &problem, const Options &options, const Monitor<V> &monitor, const State<V> &start)
      : monitor_(&monitor), options_(&options),
        values_(monitor.metrics.size(), std::numeric_limits<double>::quiet_NaN()),
        active_(monitor.watches() || options.kkt_tolerance > 0.0 || options.kkt_relative_tolerance > 0.0),
        next_(monitor.cadence.from_start ? 0 : 1) {
    if (monitor.cadence.every < 1 || !(monitor.cadence.growth >= 0.0) || !(monitor.cadence.patience >= 0.0)) {
      throw InvalidInput("monitor: cadence must have every >= 1, growth >= 0 and patience >= 0");
    }
    if (options.kkt_tolerance > 0.0) {
      kkt_.emplace(problem);
    }
    if (options.kkt_relative_tolerance > 0.0) {
      relative_kkt_.emplace(problem, start);
    }
    if (monitor.target) {
      target_ = index_of(monitor.target->metric, "the target's");
    }
    if (monitor.hold_out) {
      early_stopping_.emplace(problem, *monitor.hold_out, index_of(monitor.hold_out->metric, "the hold-out's"),
                              values_.size(), start);
    }
  }

  [[nodiscard]] bool active() const { return active_; }
  [[nodiscard]] bool due(std::int64_t iteration) const {
    return active_ && (iteration >= next_ || iteration >= options_->max_iterations);
  }
  /// Whether a look is to be taken before the first step: at the start, or where a run goes on whose last was
  /// interrupted.
  [[nodiscard]] bool owes_look_at(std::int64_t iteration) const {
    return monitor_->cadence.from_start && due(iteration) && seen_until_ <= iteration;
  }

  /// Off the clock.
  void after_step(std::int64_t iteration, Stopwatch &clock) const {
    if (monitor_->after_step) {
      clock.pause_for([&] { monitor_->after_step(iteration, clock.seconds_while_paused()); });
    }
  }

  /// Measures, tells the observers, and says whether a rule stops the run. A look that is not due, at the end of a run,
  /// moves nothing: a run that goes on looks where one that was not interrupted would have. Nor does it stop a run that
  /// was interrupted, which one that was not would not have been stopped there.
  [[nodiscard]] Termination look(Progress<V> progress, bool interrupted) {
    const bool is_due = progress.iteration >= next_;
    Stopwatch taking;
    taking.start();
    measured_.resize(values_.size());
    for (std::size_t i = 0; i < values_.size(); ++i) {
      measured_[i] = measured(monitor_->metrics[i], progress);
    }
    const double upper_value = early_stopping_ && is_due ? early_stopping_->upper_value_at(progress.state) : 0.0;
    measure_kkt(progress.state);
    // All that may be abandoned in its middle is measured: until here the look is still due.
    values_.swap(measured_);
    seen_until_ = progress.iteration + 1;
    while (next_ <= progress.iteration) { // a look that was abandoned is late, and those after it are not
      next_ = monitor_->cadence.after(next_);
    }
    if (is_due) {
      put_off_next(progress, taking.seconds_while_running());
    }
    progress.metrics = values_;
    progress.extra = !is_due;
    for (auto *observer : monitor_->observers) {
      observer->observe(progress);
    }
    if (early_stopping_ && is_due) {
      early_stopping_->learn(progress, upper_value);
    }
    if (interrupted && !is_due) {
      return Termination::not_run;
    }
    if (const Termination met = met_now(progress.state, is_due); met != Termination::not_run) {
      return met;
    }
    return monitor_->stop_when && monitor_->stop_when(progress) ? Termination::predicate : Termination::not_run;
  }

  /// The rule that is met at the state whose metrics were measured last.
  [[nodiscard]] Termination met_at(const State<V> &state, bool learning) {
    measure_kkt(state);
    return met_now(state, learning);
  }

  /// The rule that says so where the run has broken by its held-out loss; null where it has not.
  [[nodiscard]] const EarlyStopping<V> *break_seen() const {
    return early_stopping_ && early_stopping_->has_broken() ? &*early_stopping_ : nullptr;
  }

  /// Counts from zero again, from a state that a recovery has gone back to.
  void start_anew() {
    if (early_stopping_) {
      early_stopping_->start_anew();
    }
  }

  /// Where the hold-out's metric was smaller before, puts the state back to there and says so.
  [[nodiscard]] std::string go_back_to_best(State<V> &state, double &direction_norm) {
    if (!early_stopping_ || !early_stopping_->is_better_than(values_)) {
      return {};
    }
    relative_value_ = infinity;
    return early_stopping_->restore(state, direction_norm, values_);
  }

  template <class Archive> void archive(Archive &members) {
    members("next", next_);
    members("seen until", seen_until_);
    members("values", std::span<double>(values_));
    if (members.offers("relative kkt.start.y")) { // a run that goes on may be asked for it only now
      members("relative kkt", relative_kkt_);
    }
    if (members.offers("best.iteration")) {
      members("best", early_stopping_);
    }
  }

  /// Ends a run that has not failed: puts it back to its best state, unless it has met what it was asked for, and
  /// reports what was measured there.
  void end(State<V> &state, bool asked_for_other, Summary &summary) {
    if (!summary.converged() || summary.termination == Termination::overfitted || !asked_for_other) {
      const std::string best = go_back_to_best(state, summary.direction_norm);
      summary.message += (summary.message.empty() || best.empty() ? "" : "; ") + best;
    }
    report(summary);
  }

private:
  /// Where looks have taken too long, until the steps will have caught up at the speed that they have had.
  void put_off_next(const Progress<V> &progress, double seconds) {
    constexpr double most_steps = 1e15;
    seconds_of_looks_ += seconds;
    const double lacking = seconds_of_looks_ - progress.seconds - monitor_->cadence.patience;
    if (lacking > 0.0 && progress.iteration > 0) {
      const double per_step = progress.seconds / static_cast<double>(progress.iteration);
      const double steps = lacking < most_steps * per_step ? lacking / per_step : most_steps;
      next_ = std::max(next_, progress.iteration + static_cast<std::int64_t>(steps));
    }
  }

  void measure_kkt(const State<V> &state) {
    if (kkt_) {
      kkt_value_ = kkt_->at(state.x, state.y, state.v).residual();
    }
    if (relative_kkt_) {
      relative_value_ = relative_kkt_->at(state);
    }
  }

  /// The rule that is met by what was measured last.
  [[nodiscard]] Termination met_now(const State<V> &state, bool learning) {
    if (monitor_->target && values_[target_] <= monitor_->target->value) {
      return Termination::target_reached;
    }
    if ((kkt_ && kkt_value_ <= options_->kkt_tolerance) ||
        (relative_kkt_ && relative_kkt_->is_met(state, relative_value_, options_->kkt_relative_tolerance, learning))) {
      return Termination::kkt_tolerance;
    }
    return early_stopping_ && early_stopping_->is_met() ? Termination::overfitted : Termination::not_run;
  }

  /// Reports nothing where the first step was abandoned, since nothing was measured then.
  void report(Summary &summary) const {
    if (seen_until_ == 0) {
      return;
    }
    for (std::size_t i = 0; i < values_.size(); ++i) {
      summary.metrics.emplace_back(monitor_->metrics[i].name, values_[i]);
    }
    if (relative_kkt_ && std::isfinite(relative_value_)) {
      summary.metrics.emplace_back("kkt-relative", relative_value_);
    }
  }

  /// NaN where a run has come to a point at which there is no such number; where there is none from the beginning, the
  /// metric says so.
  [[nodiscard]] double measured(const Metric<V> &metric, const Progress<V> &progress) const {
    try {
      return metric.measure(progress);
    } catch (const NotAvailable &) {
      if (seen_until_ == 0) { // of the first look
        throw;
      }
      return std::numeric_limits<double>::quiet_NaN();
    }
  }

  [[nodiscard]] std::size_t index_of(const std::string &metric, const std::string &whose) const {
    for (std::size_t i = 0; i < monitor_->metrics.size(); ++i) {
      if (monitor_->metrics[i].name == metric) {
        return i;
      }
    }
    throw InvalidInput("monitor: " + whose + " metric '" + metric + "' is not among the metrics");
  }

  const Monitor<V> *monitor_;
  const Options *options_;
  std::optional<KktResidual<ProblemView<V>>> kkt_;
  std::optional<RelativeKkt<V>> relative_kkt_;
  std::optional<EarlyStopping<V>> early_stopping_;
  double kkt_value_ = infinity;
  double relative_value_ = infinity;
  std::vector<double> values_;
  std::vector<double> measured_; ///< the values of a measurement that is in progress
  std::size_t target_ = 0;
  bool active_;                 ///< whether there is anything to measure, which every step asks twice
  std::int64_t next_;           ///< the step of the next look
  std::int64_t seen_until_ = 0; ///< one past the step of the last look
  double seconds_of_looks_ = 0.0;
};

} // namespace duplex::detail
