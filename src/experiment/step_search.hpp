#pragma once
// A search for a method's steps before a race, the same for every method and with the same budget: of α, β and η those
// that the method has and that are not given.

#include "experiment/experiment.hpp"

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace duplex::experiment {

struct FoundSteps {
  std::unique_ptr<catalog::ConfiguredSolver> solver; ///< with the steps that were found
  std::string steps;                                 ///< for people; "as given" where no others were better
  std::int64_t trials = 0;
  double seconds = 0.0;     ///< of the trials' clocks, in all
  std::int64_t arrived = 0; ///< runs of the best trial that did
  double best = 0.0;        ///< its seconds in all or, where a run did not arrive, the largest metric that was left
};

/// A trial is a run on each of some problems. The first has the solver as it is. Then follow decades of α and β around
/// its steps (0 stands for .1, .2 and 1), then factors of 3 and of 1.5 along each step from the best of these, until
/// nothing is better or the budget of seconds is spent. A trial of which more runs arrive is better, then a faster one;
/// where not all arrive, one that leaves a smaller metric. None goes on for longer than the best, or than a fortieth of
/// the budget. The requests say what arriving is; the last metric is the one that counts.
[[nodiscard]] FoundSteps search_steps(std::span<const RunRequest> requests, const catalog::ConfiguredSolver &solver,
                                      const std::vector<std::string> &given, double budget);

} // namespace duplex::experiment
