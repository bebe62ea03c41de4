#pragma once
// A search for a method's steps before a race, the same for every method and with the same budget: of α, β and η those
// that the method has and that are not given.

#include "experiment/experiment.hpp"

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace duplex::experiment {

/// Steps that a method begins with where it has none.
inline constexpr std::array<std::pair<Role, double>, 3> usual_steps{
    {{Role::upper_step, 0.1}, {Role::lower_step, 0.2}, {Role::multiplier_step, 1.0}}};

/// Where a method has no steps of its own accord it gets these; what was given is returned, as the end of a spec.
std::string give_missing_steps(catalog::ConfiguredSolver &solver);

struct FoundSteps {
  std::unique_ptr<catalog::ConfiguredSolver> solver; ///< with the steps that were found
  std::string steps; ///< for people; "its own" or "as given" where there is nothing to search for
  std::int64_t trials = 0;
  double seconds = 0.0;     ///< of the trials' clocks, in all
  std::int64_t arrived = 0; ///< runs of the best trial that did
  double best = 0.0;        ///< its seconds in all or, where a run did not arrive, the largest metric that was left
};

/// A trial is a run on each of some problems. The first has the solver as it is, with .1, .2 and 1 for
/// steps that it lacks. Then follow decades of α and β around these, then factors of 3 and of 1.5 along each step from
/// the best of these, until nothing is better or the budget of seconds is spent. A trial of which more runs arrive is
/// better, then a faster one; where not all arrive, one that leaves a smaller metric. None goes on for longer than the
/// best, or than a fortieth of the budget, and all of them, with what is measured of them, for no longer than three
/// budgets. The requests say what arriving is; the last metric is the one that counts.
[[nodiscard]] FoundSteps search_steps(std::span<const RunRequest> requests, const catalog::ConfiguredSolver &solver,
                                      const std::vector<std::string> &given, double budget);

} // namespace duplex::experiment
