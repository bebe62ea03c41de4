#pragma once
// Arrays as NumPy's load() reads them.

#include <duplex/space/space.hpp>

#include <cstdint>
#include <span>
#include <string>

namespace duplex::data {

/// The whole file. Throws InvalidInput unless the shape has as many elements as there are values.
[[nodiscard]] std::string npy_file(std::span<const float> values, std::span<const Index> shape);
[[nodiscard]] std::string npy_file(std::span<const std::int64_t> values, std::span<const Index> shape);

} // namespace duplex::data
