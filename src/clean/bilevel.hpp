#pragma once
// The bilevel runs of a cleaning, one after the other: looks, when to stop, and lower steps that are halved where they
// are too long.

#include "clean/classifier.hpp"
#include "clean/cleaning.hpp"

namespace duplex::clean {

class BilevelRuns {
public:
  /// Writes solver, steps, endings and looks into the result.
  BilevelRuns(const Options &options, const TrainingPlan &plan, const std::function<void(const Look &)> &watch,
              Result &result)
      : options_(options), plan_(plan), watch_(watch), result_(result) {}

  /// The best of a run by its loss on held-out samples. Where a lower step is too long for the curvature that the run
  /// meets on its way, it is halved and the run begins again. Throws Interrupted on request.
  BilevelAnswer run(int run, const BilevelProblem &problem);

private:
  /// False where the held-out loss rose far above its lowest, or the run diverged.
  bool attempt(int run, const BilevelProblem &problem, double beta, BilevelAnswer &answer);
  [[nodiscard]] SolverChoice choice(double beta) const;

  const Options &options_;
  const TrainingPlan &plan_;
  const std::function<void(const Look &)> &watch_;
  Result &result_;
  double seconds_ = 0.0; ///< of solving
};

} // namespace duplex::clean
