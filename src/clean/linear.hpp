#pragma once
// Softmax regression as the classifier: K × (D + 1) parameters, class after class, the bias last.

#include "clean/classifier.hpp"

namespace duplex::clean {

/// unit: the training samples' mean squared length, in which penalties are measured.
[[nodiscard]] std::unique_ptr<Classifier> make_linear(Index features, Index classes, double unit, int threads);

} // namespace duplex::clean
