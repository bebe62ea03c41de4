#pragma once
// A run as its policies see it: what it is about, where it is, and what its last step has reported.

#include <duplex/core/clock.hpp>
#include <duplex/problem/counters.hpp>
#include <duplex/problem/problem_view.hpp>
#include <duplex/problem/stochastic.hpp>
#include <duplex/run/any_method.hpp>
#include <duplex/run/options.hpp>
#include <duplex/run/summary.hpp>

namespace duplex::detail {

/// The clock, the counters and the limits of a run.
struct RunMeter {
  explicit RunMeter(const Options &options)
      : limit(options.interrupt, options.max_wall_seconds, &clock, options.max_seconds) {}
  RunMeter(const RunMeter &) = delete; // the limit reads the clock
  RunMeter &operator=(const RunMeter &) = delete;
  ~RunMeter() = default;

  Stopwatch clock;
  Counters counters;
  WorkLimit limit;
};

/// The problem of a run.
template <VectorSpace V> struct RunSubject {
  ProblemView<V> problem;          ///< as the steps see it: of a stochastic problem, on the sample in hand
  ProblemView<V> measured;         ///< as it is measured off the clock
  SampleSource *samples = nullptr; ///< null where the problem is the same at every step
  bool sees_whole = true;          ///< whether `measured` is the whole problem, the same at every measurement
};

/// What every part of a run may look at.
template <VectorSpace V> struct RunContext {
  RunSubject<V> subject;
  AnyMethod<V> *method;
  MethodTraits traits;
  RunMeter *meter;
  State<V> *state;
  const Options *options;
  Summary summary = {};
  StepReport report = {}; ///< of the last step

  [[nodiscard]] bool ended() const { return summary.termination != Termination::not_run; }
  /// A step with an inner loop or inner solves may take any time, and may have to be abandoned in its middle; so may
  /// any step whose functions may do that.
  [[nodiscard]] bool steps_may_be_left() const {
    return (traits.solves_inside && meter->limit.exists()) || options->functions_may_leave;
  }
  /// How a run ends whose last step or measurement was abandoned.
  [[nodiscard]] Termination why_left() const {
    return meter->limit.is_asked_to_end() ? Termination::interrupted : Termination::max_seconds;
  }
};

} // namespace duplex::detail
