#pragma once
// The features of few-shot learning: four blocks of a 3 × 3 convolution to 32 channels, 2 × 2 maximum, ReLU and batch
// normalization by the statistics of the set at hand (the shots of a task, or its queries); 512 numbers from 64 × 64
// pixels. Bias and ReLU after the maximum are the same as before it, on a quarter of the numbers.

#include <duplex/torch/tensors.hpp>

#include <cstdint>
#include <vector>

namespace duplex::fewshot {

inline constexpr std::int64_t blocks = 4;
inline constexpr std::int64_t channels = 32;
inline constexpr std::int64_t feature_count = 512;

/// Weights and biases of a block's convolution, scales and shifts of its normalization, block after block.
[[nodiscard]] Tensors fresh_backbone(std::uint64_t seed, const at::Device &device, at::ScalarType type = at::kFloat);

/// All parameters one after the other in one tensor, so that a rule such as Adam moves them by a few launches.
[[nodiscard]] at::Tensor flattened(const Tensors &backbone);
/// The parameters as views into such a tensor, through which derivatives pass.
[[nodiscard]] std::vector<at::Tensor> unflattened(const at::Tensor &flat);

/// tasks × samples × 512 from (samples · tasks) × 1 × 64 × 64 pixels, in which all tasks' first samples come first.
[[nodiscard]] at::Tensor features_of(const std::vector<at::Tensor> &backbone, const at::Tensor &pixels,
                                     std::int64_t tasks);

} // namespace duplex::fewshot
