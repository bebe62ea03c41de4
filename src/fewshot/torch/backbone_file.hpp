#pragma once
// The backbone as a file that torch.load() of Python reads: a dictionary of tensors, "block1.convolution.weight" and so
// on.

#include <duplex/torch/tensors.hpp>

#include <string>

namespace duplex::fewshot {

[[nodiscard]] std::string backbone_file(const Tensors &backbone);

} // namespace duplex::fewshot
