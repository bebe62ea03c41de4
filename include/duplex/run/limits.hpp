#pragma once
// How far a run may go: steps, seconds, and until it is asked to end.

#include <duplex/core/clock.hpp>
#include <duplex/run/context.hpp>

#include <cstdint>

namespace duplex::detail {

class Limits {
public:
  explicit Limits(const Options &options) : most_steps_(options.max_iterations), seconds_(options.max_seconds) {}

  /// The limit that is met after this step; not_run where none is.
  [[nodiscard]] Termination met(std::int64_t step, const RunMeter &meter) {
    if (step >= most_steps_) {
      return Termination::max_iterations;
    }
    if (meter.limit.is_asked_to_end()) {
      return Termination::interrupted;
    }
    return seconds_.reached(step, meter.clock) ? Termination::max_seconds : Termination::not_run;
  }

private:
  std::int64_t most_steps_;
  TimeLimit seconds_;
};

} // namespace duplex::detail
