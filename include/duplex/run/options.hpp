#pragma once
// When a run stops, what it saves, and from where it draws.

#include <duplex/core/fields.hpp>
#include <duplex/core/saving.hpp>

#include <atomic>
#include <cstdint>

namespace duplex {

/// When to stop. A tolerance of zero is off.
struct Options {
  std::int64_t max_iterations = 10'000;
  /// Seconds on the run's clock, which counts steps only.
  double max_seconds = infinity;
  /// Seconds of all time since the run began, measuring and observing included. The command line does not show it.
  double max_wall_seconds = infinity;
  /// The run stops where ‖d‖ is at most this. The first step never counts: x and v may start where d vanishes.
  double direction_tolerance = 0.0;
  /// The run stops where ‖∇L(x, y, v)‖ is at most this, measured off the clock at the monitor's cadence; of a
  /// stochastic problem, on the whole of it where it offers that, otherwise on the sample that the step has drawn.
  double kkt_tolerance = 0.0;
  /// The same relative to the scale of ∇L at the start; ‖∇φ‖ must then be as small relative to ‖∇φ(x₀)‖ too
  /// (relative_kkt.hpp).
  double kkt_relative_tolerance = 0.0;
  /// The run has diverged once ‖d‖ exceeds this factor times max(1, first ‖d‖).
  double divergence_factor = 1e10;
  /// How often a run that breaks may go back to a good state and go on from there with smaller steps (recovery.hpp).
  std::int64_t recoveries = 0;
  /// Steps in a row without a new smallest ‖d‖ after which the run is said to stand still. Zero is off.
  std::int64_t patience = 0;
  /// Raised from outside (a signal handler, another thread) to end the run early.
  const std::atomic<bool> *interrupt = nullptr;
  /// Functions of the problem may throw Cancelled in the middle of any step, once they have raised what `interrupt`
  /// points to: y and v then go back to before the step. The command line does not show it.
  bool functions_may_leave = false;
  /// The seed of the generator from which a stochastic problem draws. The command line does not show it: no problem of
  /// the tool draws.
  std::uint64_t seed = 0;
  const Saving *saving = nullptr; ///< null: nothing is saved

  /// Whether the run is to end where something is small enough.
  [[nodiscard]] bool has_tolerance() const {
    return direction_tolerance > 0.0 || kkt_tolerance > 0.0 || kkt_relative_tolerance > 0.0;
  }
  /// Whether that is measured at the monitor's cadence.
  [[nodiscard]] bool measures_kkt() const { return kkt_tolerance > 0.0 || kkt_relative_tolerance > 0.0; }

  template <class Self, class Visit> static void fields(Self &self, Visit &&visit) {
    visit("iterations", self.max_iterations, at_least_one, "most steps to do");
    visit("seconds", self.max_seconds, positive, "most seconds to take, on the run's clock");
    visit("direction-tolerance", self.direction_tolerance, finite_non_negative,
          "stop when ‖d‖ is at most this (0: off)");
    visit("kkt-tolerance", self.kkt_tolerance, finite_non_negative,
          "stop when the KKT residual is at most this (0: off)");
    visit("kkt-relative-tolerance", self.kkt_relative_tolerance, below_one,
          "stop when every block of the KKT residual is at most this relative to its scale at the start (0: off)");
    visit("divergence-factor", self.divergence_factor, Bound{.low = 1.0, .low_open = true},
          "diverged once ‖d‖ exceeds this factor times max(1, first ‖d‖)");
    visit("recoveries", self.recoveries, Bound{.low = 0, .high = 1000},
          "how often a run that breaks may go back and go on with a smaller step");
    visit("patience", self.patience, Bound{.low = 0, .high = 1e15},
          "end after so many steps in a row without a new smallest ‖d‖ (0: off)");
  }
};

} // namespace duplex
