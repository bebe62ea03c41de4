#pragma once
// A training that ended by itself: numbers that are not finite, or a lower level that a solver cannot do.

#include <stdexcept>

namespace duplex::fewshot {

class TrainingFailed : public std::runtime_error {
public:
  using std::runtime_error::runtime_error;
};

} // namespace duplex::fewshot
