#pragma once
// What a problem on labelled samples is made from, whether they are synthetic or from files.

#include <duplex/kernels/softmax_loss.hpp>

#include <optional>

namespace duplex {

struct LabelledParts {
  LabelledSamples training;                     ///< of the lower level
  LabelledSamples validation;                   ///< of the upper level
  std::optional<LabelledSamples> held_out = {}; ///< that neither sees
  Index classes = 0;
};

} // namespace duplex
