#pragma once
// How a run ended.

#include <duplex/core/fields.hpp>
#include <duplex/core/text.hpp>
#include <duplex/problem/counters.hpp>

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace duplex {

enum class Termination : std::uint8_t {
  not_run,            ///< the summary was never filled
  tolerance_verified, ///< ‖∇φ‖ was measured to be as small relative to ‖∇φ(x₀)‖ as the method was to make it
  direction_tolerance, ///< ‖d‖ is at most Options::direction_tolerance
  kkt_tolerance,       ///< the KKT residual is at most Options::kkt_tolerance, or ::kkt_relative_tolerance of its scale
  overfitted,          ///< Monitor::hold_out said so; the state is the best by its metric
  target_reached,      ///< the monitored metric reached Monitor::target
  predicate,           ///< Monitor::stop_when said so
  max_iterations,      ///< Options::max_iterations steps were done
  max_seconds,         ///< Options::max_seconds went by
  stagnated,           ///< ‖d‖ has had no new minimum for Options::patience steps
  not_verified,        ///< the method takes its own tolerance to be met, and that could not be verified
  interrupted,         ///< Options::interrupt was raised
  diverged,            ///< d is not finite, or grew past Options::divergence_factor
  step_failed,         ///< the method could not do a step; the message says why
};

constexpr std::array<std::string_view, 14> termination_names{
    "not run",   "tolerance verified", "direction tolerance", "KKT tolerance", "overfitted",   "target reached",
    "predicate", "max iterations",     "max seconds",         "stagnated",     "not verified", "interrupted",
    "diverged",  "step failed"};
constexpr const auto &names_of(Termination /*unused*/) { return termination_names; }

/// What became of a run.
struct Summary {
  std::string solver;
  Termination termination = Termination::not_run;
  std::string message;                 ///< what happened, and what to try where the run failed
  std::vector<std::string> recoveries; ///< where the run went back, why, and with which steps it went on
  std::string explanation;             ///< what a run that chooses its own steps measured and chose
  std::int64_t iterations = 0;
  double seconds = 0.0;        ///< on the run's clock: steps only, no metrics, no observers
  double direction_norm = 0.0; ///< ‖d‖ of the last step
  Counters counters;
  std::vector<std::pair<std::string, double>> metrics; ///< at the final state

  /// A stopping rule with a meaning was met.
  [[nodiscard]] bool converged() const {
    return termination >= Termination::tolerance_verified && termination <= Termination::predicate;
  }
  /// The run broke: its state is not a result.
  [[nodiscard]] bool failed() const {
    return termination == Termination::not_run || termination >= Termination::diverged;
  }
  [[nodiscard]] double seconds_per_step() const {
    return iterations > 0 ? seconds / static_cast<double>(iterations) : 0.0;
  }

  /// One line for a log.
  [[nodiscard]] std::string brief() const;
};

} // namespace duplex
