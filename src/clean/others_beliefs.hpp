#pragma once
// What someone else's models believe of the rows, which must not have seen their labels: probabilities from a file, one
// voice among those that are pooled (pooling.hpp).

#include "clean/regression.hpp"
#include "data/dataset.hpp"

namespace duplex::clean {

/// log p, rows by classes.
struct OthersBeliefs {
  Matrix training;
  Matrix trusted; ///< without rows where none is trusted
};

/// log p of a table of probabilities with a column for each class. Throws InvalidInput, naming file and row, where one
/// is negative, not finite, or those of a row do not add up to one within a hundredth.
[[nodiscard]] Matrix log_beliefs(const data::Dataset &probabilities);

} // namespace duplex::clean
