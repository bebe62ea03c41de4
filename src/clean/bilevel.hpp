#pragma once
// The bilevel runs of a cleaning, one after the other: their steps, and what is reported of them.

#include "clean/classifier.hpp"
#include "clean/cleaning.hpp"

namespace duplex::clean {

class BilevelRuns {
public:
  /// Writes solver, steps, endings and looks into the result.
  BilevelRuns(const Options &options, const TrainingPlan &plan, const std::function<void(const Look &)> &watch,
              Result &result)
      : options_(options), plan_(plan), watch_(watch), result_(result) {}

  /// The best of a run by its loss on held-out samples. Throws Interrupted on request, and std::runtime_error where the
  /// run fails for good.
  BilevelAnswer run(int run, const BilevelProblem &problem);

private:
  [[nodiscard]] BilevelRequest request(int run, double curvature) const;
  [[nodiscard]] Look look_of(int run, const TraceRow &row) const;

  const Options &options_;
  const TrainingPlan &plan_;
  const std::function<void(const Look &)> &watch_;
  Result &result_;
  double seconds_ = 0.0; ///< of solving, in the runs before
};

} // namespace duplex::clean
