#pragma once
// Parts of samples, and an order in which any run of them is like the whole.

#include <duplex/kernels/softmax_loss.hpp>

#include <cstdint>
#include <span>
#include <vector>

namespace duplex::clean {

/// Samples first … first + count − 1, sharing the features' memory.
[[nodiscard]] LabelledSamples slice(const LabelledSamples &samples, Index first, Index count);

/// A copy of these samples, in this order.
[[nodiscard]] LabelledSamples gather(const LabelledSamples &samples, const std::vector<Index> &rows);

/// Of some thousand samples, evenly taken.
[[nodiscard]] double mean_squared_length(const FeatureTable &table);

/// An order of the samples in which the classes are spread evenly, at random otherwise.
[[nodiscard]] std::vector<Index> interleaved_order(std::span<const std::uint32_t> labels, Index classes,
                                                   std::uint64_t seed);

} // namespace duplex::clean
