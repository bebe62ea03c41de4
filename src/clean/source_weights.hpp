#pragma once
// A weight for each source of labels, by the bilevel engine. With s(i) the source of row i:
//
//   f = (1/N) Σ_i σ(x_{s(i)}) CE_i(y) + (ρ/2)‖y‖²   on the training samples,
//   F = (1/M) Σ_i CE_i(y)                            on the trusted samples:
//
// a source whose labels make the model worse on trusted rows loses its weight. It is hyper-cleaning
// (hyper_cleaning.hpp) with as many hyperparameters as there are sources.

#include "clean/classifier.hpp"

#include <cstdint>
#include <memory>
#include <vector>

namespace duplex::clean {

struct SourcesOfRows {
  std::vector<std::uint32_t> of_row; ///< a number for each training row; empty: nothing is known of them
  Index count = 0;
};

/// The problem, for solve_bilevel() and for a solver of one's own.
class SourceWeighting;

struct SourceProblemSettings {
  LabelledSamples training;
  SourcesOfRows sources; ///< of these training samples
  LabelledSamples used;  ///< trusted samples of F
  LabelledSamples held_out;
  Index classes = 0;
  double rho = 0.0;
  int threads = 0;
};

/// Throws InvalidInput where samples and sources do not fit each other.
[[nodiscard]] std::unique_ptr<BilevelProblem> make_source_problem(const SourceProblemSettings &settings);

} // namespace duplex::clean
