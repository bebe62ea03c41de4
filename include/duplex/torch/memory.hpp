#pragma once
// What LibTorch refuses, in words that help; where memory is out: what was asked for, what is free, what to reduce.

#include <duplex/core/error.hpp>

#include <c10/util/Exception.h>

#include <string>
#include <string_view>

namespace duplex {

/// "2.00 GiB", as LibTorch writes sizes.
[[nodiscard]] std::string bytes_text(double bytes);

/// Throws OutOfMemory where the error says that memory is out, on a device or on the host; otherwise returns.
void refuse_out_of_memory(std::string_view what, const c10::Error &error);

/// Does the work. Where LibTorch finds no memory for it, throws OutOfMemory with what it was and how much is free; what
/// LibTorch refuses else, without its stack, as InvalidInput.
///
///   explaining("the backbone's gradient", [&] { return torch::autograd::grad(…); });
template <class Work> auto explaining(std::string_view what, const Work &work) {
  try {
    return work();
  } catch (const c10::Error &error) {
    refuse_out_of_memory(what, error);
    throw InvalidInput(std::string(what) + ": " + error.what_without_backtrace());
  }
}

} // namespace duplex
