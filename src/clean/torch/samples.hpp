#pragma once
// Samples and parameters of the network as tensors.

#include "clean/network.hpp"

#include <duplex/torch/tensors.hpp>

#include <ATen/core/Tensor.h>

namespace duplex::clean {

struct NetworkSamples {
  at::Tensor features;    ///< N × D
  at::Tensor likelihoods; ///< P(label | class), N × K

  [[nodiscard]] Index rows() const { return features.size(0); }
  [[nodiscard]] NetworkSamples part(Index first, Index count) const;
};

/// Labels as certain of their class.
[[nodiscard]] NetworkSamples network_samples(const LabelledSamples &samples, Index classes, const at::Device &device,
                                             at::ScalarType type = at::kFloat);

/// N × K numbers as they are.
[[nodiscard]] at::Tensor tensor_of(const Matrix &matrix, const at::Device &device);
[[nodiscard]] at::Tensor tensor_of(const Vector &vector, const at::Device &device);
[[nodiscard]] Matrix matrix_of(const at::Tensor &tensor);

/// {W₁ H × D, b₁ H, W₂ K × H, b₂ K} from the classifier's one vector, and back.
[[nodiscard]] Tensors layers_of(const Vector &model, const NetworkSettings &settings, const at::Device &device);
[[nodiscard]] Vector vector_of(const Tensors &layers);

} // namespace duplex::clean
