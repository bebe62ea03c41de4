#pragma once
// The data of a cleaning, from files or made for a demonstration.

#include "cli/clean_arguments.hpp"
#include "data/dataset.hpp"

#include <optional>
#include <vector>

namespace duplex::cli {

struct CleanInput {
  data::Dataset training;
  data::Dataset trusted;
  std::optional<data::Dataset> test;
  std::vector<bool> wrong = {}; ///< where it is known
  std::string text = {};        ///< of --train, where it cannot be read again
  std::vector<data::Remark> remarks = {};
  std::optional<clean::OthersBeliefs> others = {}; ///< in the order of the files; none: there are no probabilities
};

/// Throws InvalidInput where a file is missing, cannot be read, or does not fit the others.
[[nodiscard]] CleanInput read_clean_input(const CleanArguments &arguments);

} // namespace duplex::cli
