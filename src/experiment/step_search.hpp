#pragma once
// A search for a method's steps before a race, the same for every method and with the same budget: of α, β and η those
// that the method has and that are not given.

#include "experiment/experiment.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace duplex::experiment {

struct FoundSteps {
  std::unique_ptr<catalog::ConfiguredSolver> solver; ///< with the steps that were found
  std::string steps;                                 ///< for people; "as given" where no others were better
  std::int64_t trials = 0;
  double seconds = 0.0; ///< of the trials' clocks, in all
  bool arrived = false; ///< the best trial did
  double best = 0.0;    ///< its seconds, or the smallest value of the metric where none arrived
};

/// The first trial has the solver as it is. Then follow decades of α and β around its steps (0 stands for .1, .2 and
/// 1), then factors of 3 and of 1.5 along each step from the best, until nothing is better or the budget of seconds is
/// spent. A trial that arrives is better than one that does not, a faster one better than a slower one, and of those
/// that do not arrive the one with the smaller metric; none goes on for longer than the best arrival, or than a
/// twentieth of the budget. `request` says what arriving is, and its last metric is the one that counts.
[[nodiscard]] FoundSteps search_steps(const RunRequest &request, const catalog::ConfiguredSolver &solver,
                                      const std::vector<std::string> &given, double budget);

} // namespace duplex::experiment
