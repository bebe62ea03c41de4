#pragma once
// The bilevel run of a cleaning: its steps, and what is reported of it.

#include "clean/classifier.hpp"
#include "clean/cleaning.hpp"

namespace duplex::clean {

/// The best of the run by its loss on held-out samples; solver, steps, ending and looks go into the result. Throws
/// Interrupted on request, and std::runtime_error where the run fails for good.
[[nodiscard]] BilevelAnswer solve_bilevel(const BilevelProblem &problem, const Options &options,
                                          const std::function<void(const Look &)> &watch, Result &result);

} // namespace duplex::clean
