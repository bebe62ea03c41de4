#pragma once
// The clock of a run, and the limit on it.

#include <duplex/conversion.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <limits>

namespace duplex {

/// A clock that can be stopped.
class Stopwatch {
public:
  void start() { since_ = Clock::now(); }
  /// As if it had run that long before. Throws InvalidInput where that is no time that a run may have taken.
  void credit(double seconds) {
    constexpr double thirty_years = 1e9;
    (void)number_within(seconds, Bound{.low = 0.0, .high = thirty_years}, "the time of the saved state");
    before_ += std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
  }
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

/// Thrown out of a step that is not to be finished.
struct StepLeft {};

/// A step may hold any number of inner solves. One that goes on for some seconds after the run was asked to end, or
/// after its time is up, is left.
class StepLimit {
public:
  StepLimit(const Stopwatch &clock, double limit, const std::atomic<bool> *interrupt)
      : clock_(&clock), limit_(limit), interrupt_(interrupt) {}

  void check() {
    const bool asked = interrupt_ != nullptr && interrupt_->load(std::memory_order_relaxed);
    if (!asked && !std::isfinite(limit_)) {
      return;
    }
    const double now = clock_->seconds_while_running();
    if (asked && !std::isfinite(asked_at_)) {
      asked_at_ = now;
    }
    if (now > std::min(limit_, asked_at_) + patience) {
      throw StepLeft{};
    }
  }

private:
  static constexpr double patience = 2.0; ///< seconds
  const Stopwatch *clock_;
  double limit_;
  const std::atomic<bool> *interrupt_;
  double asked_at_ = std::numeric_limits<double>::infinity();
};

} // namespace detail

} // namespace duplex
