#pragma once
// Samples around centres, which several problems draw.

#include <duplex/kernels/softmax_loss.hpp>

#include <random>

namespace duplex {

/// One for each class, so far from the origin; at zero beyond the first columns, of which there are so many.
[[nodiscard]] Eigen::MatrixXd centres_of_classes(std::mt19937_64 &generator, Index classes, Index columns,
                                                 Index informative, double separation);

/// Of classes at random, each around its centre with a deviation of one.
[[nodiscard]] LabelledSamples clouds(std::mt19937_64 &generator, const Eigen::MatrixXd &centres, Index count);

} // namespace duplex
