#include "fewshot/tensor_entries.hpp"

#include <duplex/error.hpp>

#include <ATen/ATen.h>

namespace duplex::fewshot {

namespace {

template <class T> std::vector<T> entries_in(const at::Tensor &on_host) {
  return {on_host.data_ptr<T>(), on_host.data_ptr<T>() + on_host.numel()};
}

void require_count(const std::string &name, std::size_t found, std::int64_t expected) {
  if (static_cast<std::int64_t>(found) != expected) {
    throw InvalidInput("'" + name + "' of the saved state has " + std::to_string(found) + " numbers, expected " +
                       std::to_string(expected));
  }
}

} // namespace

void save_tensors(SavedState &into, const std::string &name, const Tensors &tensors) {
  into.put(name, numbers_of(tensors));
}

void restore_tensors(const SavedState &from, const std::string &name, Tensors &tensors) {
  try {
    set_numbers(from.value(name), tensors);
  } catch (const InvalidInput &error) {
    throw InvalidInput("'" + name + "': " + error.what());
  }
}

void save_numbers(SavedState &into, const std::string &name, const at::Tensor &numbers) {
  into.put(name, entries_in<std::int64_t>(numbers.to(at::kCPU, at::kLong).contiguous()));
}

void restore_numbers(const SavedState &from, const std::string &name, at::Tensor &numbers) {
  auto values = from.get<SavedState::Integers>(name);
  require_count(name, values.size(), numbers.numel());
  numbers.copy_(at::from_blob(values.data(), numbers.sizes(), at::kLong));
}

} // namespace duplex::fewshot
