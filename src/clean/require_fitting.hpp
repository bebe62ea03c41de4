#pragma once
// What a cleaning is asked to clean.

#include "clean/cleaning.hpp"

namespace duplex::clean {

/// Throws InvalidInput where there are too few samples, or where trusted ones, others' probabilities or sources do not
/// fit them.
void require_fitting(const LabelledSamples &training, const LabelledSamples &trusted, Index classes,
                     const Options &options);

} // namespace duplex::clean
