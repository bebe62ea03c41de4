#pragma once
// Tensors as entries of a checkpoint.

#include "checkpoint/checkpoint.hpp"

#include <duplex/torch/tensors.hpp>

#include <string>

namespace duplex::fewshot {

/// All numbers of float tensors, one after the other.
void save_tensors(checkpoint::Checkpoint &into, const std::string &name, const Tensors &tensors);
/// Into the memory of the tensors. Throws InvalidInput where the count differs.
void restore_tensors(const checkpoint::Checkpoint &from, const std::string &name, Tensors &tensors);

/// Of whole numbers.
void save_numbers(checkpoint::Checkpoint &into, const std::string &name, const at::Tensor &numbers);
void restore_numbers(const checkpoint::Checkpoint &from, const std::string &name, at::Tensor &numbers);

} // namespace duplex::fewshot
