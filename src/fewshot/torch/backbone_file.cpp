#include "fewshot/torch/backbone_file.hpp"

#include <ATen/ATen.h>
#include <ATen/core/Dict.h>
#include <torch/csrc/jit/serialization/pickle.h>

#include <array>

namespace duplex::fewshot {

std::string backbone_file(const Tensors &backbone) {
  constexpr std::array<const char *, 4> parts{"convolution.weight", "convolution.bias", "normalization.weight",
                                              "normalization.bias"};
  c10::Dict<std::string, at::Tensor> named;
  for (std::size_t i = 0; i < backbone.count(); ++i) {
    named.insert("block" + std::to_string(1 + i / parts.size()) + "." + parts[i % parts.size()], backbone[i].cpu());
  }
  const auto bytes = torch::jit::pickle_save(named);
  return {bytes.begin(), bytes.end()};
}

} // namespace duplex::fewshot
