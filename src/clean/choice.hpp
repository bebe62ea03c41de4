#pragma once
// Which learners a cleaning has: on some of the rows, each way of seeing features is tried with several penalties,
// fitted to the given labels outside of two folds and judged within them (fitness_of). The best linear one and the best
// of the Gaussian kernel are kept.

#include "clean/cleaning.hpp"
#include "clean/out_of_fold.hpp"

#include <vector>

namespace duplex::clean {

struct Chosen {
  Learner learner;
  Fitness fitness; ///< on some of the rows
  double rho = 0.0;
};

/// The best first. Without the journal: what is chosen follows from the data again.
[[nodiscard]] std::vector<Chosen> choose_learners(const FoldedSamples &training, const FoldedSamples &trusted,
                                                  Index classes, const Options &options);

} // namespace duplex::clean
