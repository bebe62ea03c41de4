#pragma once
// What one may see of a run while it goes on: metrics, observers, traces, and
// the rules that stop it on them. All of it happens off the run's clock and
// outside its counters.

#include <duplex/core/conversion.hpp>
#include <duplex/core/fields.hpp>
#include <duplex/problem/counters.hpp>
#include <duplex/problem/problem.hpp>
#include <duplex/step/step_sizes.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace duplex {

/// The state after step `iteration` (counted from 1). `direction` was computed
/// at `previous_x`; `state.x` is where it led.
template <class V> struct Progress {
  std::int64_t iteration = 0;
  double seconds = 0.0;
  double direction_norm = 0.0;
  StepSizes steps = {};
  std::int64_t recoveries = 0; ///< how often the run has gone back so far
  bool extra = false;          ///< measured only because the run ends here: the cadence did not ask for it
  const Counters &counters;
  const State<V> &state;
  const V &previous_x;
  const V &direction;
  std::span<const double> metrics = {}; ///< one for each of Monitor::metrics, in that order
};

/// A number to be measured of a run, and its name.
template <class V> struct Metric {
  std::string name;
  std::function<double(const Progress<V> &)> measure;
};

/// The base class of what is told of every step that is measured: derive from it and override observe().
template <class V> class Observer {
public:
  Observer() = default;
  Observer(const Observer &) = delete;
  Observer &operator=(const Observer &) = delete;
  virtual ~Observer() = default;

  virtual void observe(const Progress<V> &progress) = 0;
};

/// When to measure: every so many steps, or ever more rarely (growth 0.05 gives
/// about 47 points a decade). The last step is always measured.
struct Cadence {
  std::int64_t every = 1;
  double growth = 0.0;
  /// The start is measured too, as step 0, so that looks are at multiples of `every`; and a look that was interrupted
  /// is made up for where the run goes on. Progress::direction then is not that of a step.
  bool from_start = false;
  /// Once looks have taken longer than so many seconds beyond the time of the steps, the next is put off until the
  /// steps have caught up. When looks come then depends on the machine.
  double patience = infinity;

  [[nodiscard]] std::int64_t after(std::int64_t iteration) const {
    constexpr std::int64_t never = most_saved<std::int64_t>;
    const double grown = std::ceil(static_cast<double>(iteration) * (1.0 + growth));
    if (every > never - iteration || !(grown < static_cast<double>(never))) {
      return never;
    }
    return std::max(iteration + every, static_cast<std::int64_t>(grown));
  }
};

/// Stop when a metric is at most this value.
struct Target {
  std::string metric;
  double value = 0.0;
};

/// Early stopping (early_stopping.hpp): stop when a metric, such as the loss on samples that neither level sees, has
/// had no new minimum for so many measurements: from there on the upper level is over-fitted. The run goes back to the
/// state where it was smallest.
struct HoldOut {
  std::string metric = "held-out";
  std::int64_t patience = 10; ///< looks
  /// Where it is positive, the run stops when the metric has fallen by less than this part of itself in the last
  /// `patience` looks, whatever the upper level does.
  double least_improvement = 0.0;
  /// Where it is finite, the run counts as broken, and recovers as one that diverges, when the metric is not finite or
  /// is above its smallest m by more than relative_rise·|m| + absolute_rise.
  double relative_rise = infinity;
  double absolute_rise = 0.0;

  [[nodiscard]] bool sees_breaks() const { return std::isfinite(relative_rise); }
};

/// What is measured of a run, who is told of it, and which measurements end the run.
template <class V> struct Monitor {
  std::vector<Metric<V>> metrics = {};
  std::vector<Observer<V> *> observers = {}; ///< not owned
  std::optional<Target> target = {};         ///< names one of `metrics`
  std::optional<HoldOut> hold_out = {};      ///< names one of `metrics`
  std::function<bool(const Progress<V> &)> stop_when = {};
  Cadence cadence = {};
  /// Called after every step, before anything is measured, and off the run's clock: for a line that says how far a run
  /// is.
  std::function<void(std::int64_t iteration, double seconds)> after_step = {};

  [[nodiscard]] bool watches() const { return !metrics.empty() || !observers.empty() || stop_when != nullptr; }
};

/// What a Trace keeps of one measured step.
struct TraceRow {
  std::int64_t iteration;
  double seconds;
  double direction_norm;
  StepSizes steps;
  std::vector<double> metrics;
  std::int64_t recoveries = 0; ///< as in Progress, and so is `extra`
  bool extra = false;
};

/// Keeps iteration, seconds and metrics of every observed step.
template <class V> class Trace final : public Observer<V> {
public:
  using Row = TraceRow;

  void observe(const Progress<V> &progress) override {
    rows_.push_back({progress.iteration,
                     progress.seconds,
                     progress.direction_norm,
                     progress.steps,
                     {progress.metrics.begin(), progress.metrics.end()},
                     progress.recoveries,
                     progress.extra});
  }

  [[nodiscard]] const std::vector<Row> &rows() const { return rows_; }
  void drop_last() { rows_.pop_back(); }

  /// The rows as numbers, for a saved state.
  [[nodiscard]] std::vector<double> numbers() const {
    std::vector<double> all;
    for (const Row &row : rows_) {
      all.insert(all.end(),
                 {static_cast<double>(row.iteration), row.seconds, row.direction_norm, row.steps.alpha, row.steps.beta,
                  row.steps.eta, row.steps.mu, static_cast<double>(row.recoveries), row.extra ? 1.0 : 0.0});
      all.insert(all.end(), row.metrics.begin(), row.metrics.end());
    }
    return all;
  }
  /// The rows back from such numbers. Throws InvalidInput where they are not rows of `metrics` metrics.
  void restore(std::span<const double> numbers, std::size_t metrics) {
    constexpr std::size_t own = 9;
    constexpr const char *iteration = "an iteration in the trace of the saved state";
    constexpr const char *recoveries = "a count of recoveries in the trace of the saved state";
    constexpr const char *extra = "the mark of an extra row in the trace of the saved state";
    if (numbers.size() % (own + metrics) != 0) {
      throw InvalidInput("the trace of the saved state has " + std::to_string(numbers.size()) +
                         " numbers, expected a multiple of " + std::to_string(own + metrics));
    }
    rows_.clear();
    for (; !numbers.empty(); numbers = numbers.subspan(own + metrics)) {
      rows_.push_back({whole_number(numbers[0], 1, most_in_double, iteration),
                       numbers[1],
                       numbers[2],
                       {.alpha = numbers[3], .beta = numbers[4], .eta = numbers[5], .mu = numbers[6]},
                       {numbers.begin() + own, numbers.begin() + static_cast<std::ptrdiff_t>(own + metrics)},
                       whole_number(numbers[7], 0, most_in_double, recoveries),
                       whole_number(numbers[8], 0, 1, extra) == 1});
    }
  }

private:
  std::vector<Row> rows_;
};

} // namespace duplex
