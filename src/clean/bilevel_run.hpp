#pragma once
// A bilevel run is solve() with these options and this monitor: a look at every fifth step, early
// stopping on the loss of held-out samples, and recoveries where that loss rises.

#include "clean/classifier.hpp"

#include <duplex/core/conversion.hpp>
#include <duplex/run/options.hpp>

#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <utility>

namespace duplex::clean {

/// What is measured of a state at a look, in the order of the metrics of a run.
struct Measured {
  double held_out_loss = 0.0;
  double trusted_loss = 0.0;
  double held_out_accuracy = 0.0;
  Index suspects = 0; ///< sources with x < 0
};

inline constexpr std::array<const char *, 4> bilevel_metrics{"held-out loss", "trusted loss", "held-out accuracy",
                                                             "suspects"};

/// The metrics of a look. Throws InvalidInput where they cannot be such, as in a saved run of whatever origin.
[[nodiscard]] inline Measured measured_at(const TraceRow &look) {
  return {look.metrics[0], look.metrics[1], look.metrics[2],
          static_cast<Index>(whole_number(look.metrics[3], 0, most_in_double, "a count of suspects in a saved look"))};
}

inline constexpr std::int64_t steps_between_looks = 5;

/// The run ends when the held-out loss has fallen by less than one per cent in four looks, and has broken when that
/// loss is a quarter above its smallest. A hundredth more is noise where the loss is next to nothing.
[[nodiscard]] inline HoldOut bilevel_hold_out() {
  return {.metric = bilevel_metrics[0],
          .patience = 4,
          .least_improvement = 0.01,
          .relative_rise = 0.25,
          .absolute_rise = 0.01};
}

/// Keeps the looks, also of a run that goes on, and tells of each.
template <class V> class Looks final : public Observer<V> {
public:
  explicit Looks(const std::function<void(const TraceRow &)> &watch) : watch_(&watch) {}

  void observe(const Progress<V> &progress) override {
    if (!trace_.rows().empty() && trace_.rows().back().extra) { // of the end of a run that has gone on
      trace_.drop_last();
    }
    trace_.observe(progress);
    if (*watch_) {
      (*watch_)(trace_.rows().back());
    }
  }

  [[nodiscard]] const std::vector<TraceRow> &rows() const { return trace_.rows(); }
  void save(SavedState &into) const { into.put(entry, trace_.numbers()); }
  void restore(const SavedState &from) {
    trace_.restore(from.get<SavedState::Doubles>(entry), bilevel_metrics.size());
    for (const auto &look : rows()) {
      (void)number_within(look.seconds, finite_non_negative, "the time of a saved look");
      (void)measured_at(look);
    }
  }

private:
  static constexpr const char *entry = "looks";

  const std::function<void(const TraceRow &)> *watch_;
  Trace<V> trace_;
};

/// All metrics of a state, measured at once for the first of them.
template <class V>
[[nodiscard]] std::vector<Metric<V>> bilevel_metrics_by(std::function<Measured(const State<V> &)> measure) {
  const auto last = std::make_shared<Measured>();
  return {{bilevel_metrics[0],
           [last, measure = std::move(measure)](const Progress<V> &progress) {
             *last = measure(progress.state);
             return last->held_out_loss;
           }},
          {bilevel_metrics[1], [last](const Progress<V> &) { return last->trusted_loss; }},
          {bilevel_metrics[2], [last](const Progress<V> &) { return last->held_out_accuracy; }},
          {bilevel_metrics[3], [last](const Progress<V> &) { return static_cast<double>(last->suspects); }}};
}

/// The step of the state that a run gave back: the last, unless the held-out loss was smaller before. Throws
/// InvalidInput where the looks, which may have been saved, lack it.
[[nodiscard]] inline std::int64_t step_kept(const Summary &summary, const std::vector<TraceRow> &looks) {
  if (looks.empty() || summary.metrics.empty()) {
    throw InvalidInput("the run has no looks, expected at least one of a run that did not fail");
  }
  const double kept = summary.metrics.front().second;
  const auto is_kept = [&](const TraceRow &look) { return look.metrics.front() == kept; };
  const auto first = is_kept(looks.back()) ? looks.end() - 1 : std::find_if(looks.begin(), looks.end(), is_kept);
  if (first == looks.end()) {
    throw InvalidInput("the looks of the run lack that at its best state");
  }
  return first->iteration;
}

/// The summary and the looks of solve(options, monitor), which runs on the model's own problem from its start.
template <class V, class Solve>
[[nodiscard]] BilevelAnswer run_bilevel(const BilevelRequest &request,
                                        std::function<Measured(const State<V> &)> measure, const Solve &solve) {
  constexpr std::int64_t most_recoveries = 8;
  Looks<V> looks(request.watch);
  Saving saving = request.saving;
  saving.add = [&](SavedState &state) { looks.save(state); };
  if (saving.from != nullptr) {
    looks.restore(*saving.from);
  }
  Monitor<V> monitor;
  monitor.metrics = bilevel_metrics_by<V>(std::move(measure));
  monitor.observers = {&looks};
  monitor.hold_out = bilevel_hold_out();
  monitor.cadence = {.every = steps_between_looks};
  BilevelAnswer answer;
  answer.summary = solve(duplex::Options{.max_iterations = request.most_steps,
                                         .divergence_factor = infinity, // x follows d whatever its length
                                         .recoveries = most_recoveries,
                                         .interrupt = request.interrupt,
                                         .saving = &saving},
                         monitor);
  answer.looks = looks.rows();
  if (!answer.summary.failed() && answer.summary.termination != Termination::interrupted) {
    answer.kept_step = step_kept(answer.summary, answer.looks);
  }
  return answer;
}

} // namespace duplex::clean
