#pragma once
// What the loop does beside steps, off its clock: it measures, tells observers, and says when a run is to be saved.

#include <duplex/clock.hpp>
#include <duplex/observer.hpp>
#include <duplex/options.hpp>
#include <duplex/residual.hpp>
#include <duplex/summary.hpp>

#include <cmath>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace duplex::detail {

/// Metrics, KKT residual, observers and the rules that stop on them.
template <SecondOrderProblem P> class Watch {
public:
  using V = VectorOf<P>;

  Watch(const P &problem, const Options &options, const Monitor<V> &monitor, const State<V> &start)
      : monitor_(&monitor), kkt_tolerance_(options.kkt_tolerance),
        kkt_relative_tolerance_(options.kkt_relative_tolerance), last_iteration_(options.max_iterations),
        values_(monitor.metrics.size()) {
    if (monitor.cadence.every < 1 || !(monitor.cadence.growth >= 0.0)) {
      throw InvalidInput("monitor: cadence must have every >= 1 and growth >= 0");
    }
    if (kkt_tolerance_ > 0.0) {
      kkt_.emplace(problem);
    }
    if (kkt_relative_tolerance_ > 0.0) {
      relative_kkt_.emplace(problem, start);
    }
    if (monitor.target) {
      target_ = index_of(monitor.target->metric, "the target's");
    }
    if (monitor.hold_out) {
      if (monitor.hold_out->patience < 1) {
        throw InvalidInput("monitor: the patience of the hold-out is " + field_text(monitor.hold_out->patience) +
                           ", expected a whole number >= 1");
      }
      best_.emplace(index_of(monitor.hold_out->metric, "the hold-out's"), values_.size(), start);
    }
  }

  [[nodiscard]] bool active() const { return monitor_->watches() || kkt_ || relative_kkt_; }
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
    const State<V> &state = progress.state;
    if (monitor_->target && values_[target_] <= monitor_->target->value) {
      return Termination::target_reached;
    }
    if (kkt_ && kkt_->at(state.x, state.y, state.v).residual() <= kkt_tolerance_) {
      return Termination::kkt_tolerance;
    }
    if (relative_kkt_) {
      relative_value_ = relative_kkt_->at(state);
      if (relative_value_ <= kkt_relative_tolerance_) {
        return Termination::kkt_tolerance;
      }
    }
    if (best_) {
      best_->learn(progress);
      if (best_->looks_since >= monitor_->hold_out->patience) {
        return Termination::overfitted;
      }
    }
    if (monitor_->stop_when && monitor_->stop_when(progress)) {
      return Termination::predicate;
    }
    return Termination::not_run;
  }

  /// Whether a rule that stopped the run would stop it still: a run that goes on may be asked for more.
  [[nodiscard]] bool still_stops(Termination ending, const State<V> &state, double direction_norm,
                                 double direction_tolerance) {
    switch (ending) {
    case Termination::direction_tolerance: // or the method's own, which cannot change
      return direction_tolerance == 0.0 || direction_norm <= direction_tolerance;
    case Termination::kkt_tolerance:
      return (!kkt_ && !relative_kkt_) || (kkt_ && kkt_->at(state.x, state.y, state.v).residual() <= kkt_tolerance_) ||
             (relative_kkt_ && relative_kkt_->at(state) <= kkt_relative_tolerance_);
    case Termination::target_reached:
      return !monitor_->target || values_[target_] <= monitor_->target->value;
    default:
      return true;
    }
  }

  /// Puts the state and what was measured of it back to where the hold-out's metric was smallest, and says so.
  [[nodiscard]] std::string go_back_to_best(State<V> &state, double &direction_norm) {
    assign(best_->state.x, state.x);
    assign(best_->state.y, state.y);
    assign(best_->state.v, state.v);
    values_ = best_->values;
    direction_norm = best_->direction_norm;
    return monitor_->hold_out->metric + " was smallest, " + short_number(values_[best_->metric], 6) + ", at step " +
           std::to_string(best_->iteration) + " and is " + short_number(best_->latest, 6) +
           " now: the state is that of step " + std::to_string(best_->iteration);
  }

  template <class Archive> void archive(Archive &members) {
    members("next", next_);
    members("values", std::span<double>(values_));
    if (members.offers("relative kkt.start y")) { // a run that goes on may be asked for it only now
      members("relative kkt", relative_kkt_);
    }
    members("best", best_);
  }

  void report(Summary &summary) const {
    for (std::size_t i = 0; i < values_.size(); ++i) {
      summary.metrics.emplace_back(monitor_->metrics[i].name, values_[i]);
    }
    if (relative_kkt_ && summary.termination != Termination::overfitted) {
      summary.metrics.emplace_back("kkt-relative", relative_value_);
    }
  }

private:
  /// Where the hold-out's metric was smallest.
  struct Best {
    Best(std::size_t index, std::size_t metrics, const State<V> &start)
        : metric(index), state{zeros_like(start.x), zeros_like(start.y), zeros_like(start.v)}, values(metrics) {}

    void learn(const Progress<V> &progress) {
      latest = progress.metrics[metric];
      if (iteration == 0 || std::isnan(values[metric]) || latest < values[metric]) {
        values.assign(progress.metrics.begin(), progress.metrics.end());
        assign(progress.state.x, state.x);
        assign(progress.state.y, state.y);
        assign(progress.state.v, state.v);
        iteration = progress.iteration;
        direction_norm = progress.direction_norm;
        looks_since = 0;
      } else {
        ++looks_since;
      }
    }

    template <class Archive> void archive(Archive &members) {
      members("state", state);
      members("iteration", iteration);
      members("direction norm", direction_norm);
      members("looks since", looks_since);
      members("latest", latest);
      members("values", std::span<double>(values));
    }

    std::size_t metric;
    State<V> state;
    std::vector<double> values;
    std::int64_t iteration = 0;
    double direction_norm = 0.0;
    std::int64_t looks_since = 0;
    double latest = 0.0; ///< of the metric
  };

  [[nodiscard]] std::size_t index_of(const std::string &metric, const std::string &whose) const {
    for (std::size_t i = 0; i < monitor_->metrics.size(); ++i) {
      if (monitor_->metrics[i].name == metric) {
        return i;
      }
    }
    throw InvalidInput("monitor: " + whose + " metric '" + metric + "' is not among the metrics");
  }

  const Monitor<V> *monitor_;
  std::optional<KktResidual<P>> kkt_;
  std::optional<RelativeKkt<P>> relative_kkt_;
  std::optional<Best> best_;
  double kkt_tolerance_;
  double kkt_relative_tolerance_;
  double relative_value_ = infinity;
  std::int64_t last_iteration_;
  std::vector<double> values_;
  std::size_t target_ = 0;
  std::int64_t next_ = 1;
};

/// When a run is to be saved.
class SavingClock {
public:
  explicit SavingClock(const Saving *saving) : saving_(saving != nullptr && saving->save ? saving : nullptr) {}

  [[nodiscard]] bool due(std::int64_t iteration, const Stopwatch &clock) {
    if (saving_ == nullptr) {
      return false;
    }
    const bool by_steps = saving_->every_steps > 0 && iteration % saving_->every_steps == 0;
    return by_steps || seconds_.reached(iteration, clock);
  }
  void saved(const Stopwatch &clock) {
    seconds_ = TimeLimit(clock.seconds_while_paused() + (saving_ != nullptr ? saving_->every_seconds : infinity));
  }
  [[nodiscard]] const Saving *saving() const { return saving_; }

private:
  const Saving *saving_;
  TimeLimit seconds_{infinity};
};

} // namespace duplex::detail
