#pragma once
// The clock of a run, and the limit on it.

#include <duplex/core/conversion.hpp>

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
  void start() {
    since_ = Clock::now();
    runs_ = true;
  }
  /// As if it had run that long before. Throws InvalidInput where that is no time that a run may have taken.
  void credit(double seconds) {
    constexpr double thirty_years = 1e9;
    (void)number_within(seconds, Bound{.low = 0.0, .high = thirty_years}, "the time of the saved state");
    before_ += std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
  }
  void pause() {
    before_ += Clock::now() - since_;
    runs_ = false;
  }
  /// Stands still while `work` is done, and returns what that returns.
  template <class Work> decltype(auto) pause_for(const Work &work) {
    struct Pause {
      explicit Pause(Stopwatch &of) : clock(of) { clock.pause(); }
      Pause(const Pause &) = delete;
      Pause &operator=(const Pause &) = delete;
      ~Pause() { clock.start(); }
      Stopwatch &clock;
    };
    const Pause pause(*this);
    return work();
  }
  [[nodiscard]] bool runs() const { return runs_; }
  [[nodiscard]] double seconds_while_paused() const { return std::chrono::duration<double>(before_).count(); }
  [[nodiscard]] double seconds_while_running() const {
    return std::chrono::duration<double>(before_ + (Clock::now() - since_)).count();
  }

private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point since_;
  Clock::duration before_{};
  bool runs_ = false;
};

/// Thrown by evaluations in the middle of work that is to be left. Not an std::exception, so that nothing takes it for
/// a failure of a loss.
struct Cancelled {};

/// A step, a measurement or a verification may hold any number of evaluations. Work that goes on for half a second
/// after the caller asked it to end, or for a second after its time is up, is left: check() throws Cancelled.
class WorkLimit {
public:
  /// `run_clock`, where there is one, ends the work at `run_seconds`; all time counts for `wall_seconds`.
  WorkLimit(const std::atomic<bool> *interrupt, double wall_seconds, const Stopwatch *run_clock = nullptr,
            double run_seconds = std::numeric_limits<double>::infinity())
      : interrupt_(interrupt), wall_seconds_(wall_seconds), run_clock_(run_clock), run_seconds_(run_seconds) {
    wall_.start();
  }

  /// What follows may be much slower than what was: the clock is read at its first evaluation.
  void expect_other_work() { stride_ = until_look_ = 1; }

  /// Costs next to nothing: the clock is read about every millisecond.
  void check() {
    if (--until_look_ <= 0) {
      look();
    }
  }

  [[nodiscard]] bool is_asked_to_end() const {
    return interrupt_ != nullptr && interrupt_->load(std::memory_order_relaxed);
  }
  /// Whether there is anything that could end the work.
  [[nodiscard]] bool exists() const {
    return interrupt_ != nullptr || std::isfinite(wall_seconds_) || std::isfinite(run_seconds_);
  }
  [[nodiscard]] bool wall_time_is_up() const { return wall_.seconds_while_running() >= wall_seconds_; }

private:
  void look() {
    constexpr double between_looks = 1e-3;
    constexpr std::int64_t most_between = std::int64_t{1} << 20;
    constexpr double patience = 1.0;
    constexpr double patience_when_asked = 0.5; // what was done is then to be saved, within the two seconds of the tool
    const double now = wall_.seconds_while_running();
    stride_ =
        now - last_look_ < between_looks ? std::min(2 * stride_, most_between) : std::max<std::int64_t>(1, stride_ / 4);
    until_look_ = stride_;
    last_look_ = now;
    if (is_asked_to_end() && !std::isfinite(asked_at_)) {
      asked_at_ = now;
    }
    const bool ran_out = run_clock_ != nullptr && std::isfinite(run_seconds_) && run_clock_->runs() &&
                         run_clock_->seconds_while_running() > run_seconds_ + patience;
    if (ran_out || now > asked_at_ + patience_when_asked || now > wall_seconds_ + patience) {
      throw Cancelled{};
    }
  }

  const std::atomic<bool> *interrupt_;
  double wall_seconds_;
  const Stopwatch *run_clock_;
  double run_seconds_;
  Stopwatch wall_;
  double asked_at_ = std::numeric_limits<double>::infinity();
  double last_look_ = 0.0;
  std::int64_t stride_ = 1;
  std::int64_t until_look_ = 1;
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

} // namespace detail

} // namespace duplex
