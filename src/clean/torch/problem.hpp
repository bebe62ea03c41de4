#pragma once
// Hyper-cleaning with a network. With CE_i the cross-entropy of sample i under scores W₂ max(0, W₁a_i + b₁) + b₂:
//
//   f = (1/N) Σ_i σ(x_i) CE_i(y) + (ρ/2)(‖W₁‖² + ‖W₂‖²)   on the training samples,
//   F = (1/M) Σ_i CE_i(y)                                  on the trusted samples in use.

#include "clean/torch/samples.hpp"

#include <duplex/torch/tensor_problem.hpp>

namespace duplex::clean {

/// N × K; y = {W₁, b₁, W₂, b₂}.
[[nodiscard]] at::Tensor scores_of(const std::vector<at::Tensor> &y, const at::Tensor &features);

/// One number per sample.
[[nodiscard]] at::Tensor cross_entropies(const std::vector<at::Tensor> &y, const NetworkSamples &samples);

/// (ρ/2)(‖W₁‖² + ‖W₂‖²)
[[nodiscard]] at::Tensor penalty_of(const std::vector<at::Tensor> &y, double rho);

/// x starts at zero.
[[nodiscard]] TensorProblem network_cleaning(const NetworkSamples &training, const NetworkSamples &used, double rho,
                                             const Tensors &start);

} // namespace duplex::clean
