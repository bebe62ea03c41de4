#pragma once
// Tensors as entries of a checkpoint.

#include <duplex/saved_state.hpp>
#include <duplex/torch/tensors.hpp>

#include <string>

namespace duplex::fewshot {

void save_tensors(SavedState &into, const std::string &name, const Tensors &tensors);
/// Into the memory of the tensors. Throws InvalidInput, with the name, where they do not fit.
void restore_tensors(const SavedState &from, const std::string &name, Tensors &tensors);

/// Of whole numbers.
void save_numbers(SavedState &into, const std::string &name, const at::Tensor &numbers);
void restore_numbers(const SavedState &from, const std::string &name, at::Tensor &numbers);

} // namespace duplex::fewshot
