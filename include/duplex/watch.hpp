#pragma once
// What the loop does beside steps, off its clock: it measures, tells observers, and says when a run is to be saved.

#include <duplex/clock.hpp>
#include <duplex/observer.hpp>
#include <duplex/options.hpp>
#include <duplex/residual.hpp>
#include <duplex/summary.hpp>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace duplex::detail {

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

  template <class Archive> void archive(Archive &members) {
    members("next", next_);
    members("values", std::span<double>(values_));
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
