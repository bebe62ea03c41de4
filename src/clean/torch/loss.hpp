#pragma once
// The network's scores and losses. With p = softmax(W₂ max(0, W₁a + b₁) + b₂), the loss of a sample is
// −log Σ_k p_k P(label | k): the cross-entropy of its label where that is certain.

#include "clean/torch/samples.hpp"

namespace duplex::clean {

/// N × K; y = {W₁, b₁, W₂, b₂}.
[[nodiscard]] at::Tensor scores_of(const std::vector<at::Tensor> &y, const at::Tensor &features);

/// One number per sample.
[[nodiscard]] at::Tensor losses_of(const std::vector<at::Tensor> &y, const NetworkSamples &samples);

/// (ρ/2)(‖W₁‖² + ‖W₂‖²)
[[nodiscard]] at::Tensor penalty_of(const std::vector<at::Tensor> &y, double rho);

} // namespace duplex::clean
