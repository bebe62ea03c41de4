#pragma once
// Arrays as NumPy's load() reads them.

#include <duplex/space/space.hpp>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace duplex::data {

/// What comes before the elements; the type as NumPy says it, such as <f4.
[[nodiscard]] std::string npy_header(std::string_view type, std::span<const Index> shape);

/// The whole file. Throws InvalidInput unless the shape has as many elements as there are values.
[[nodiscard]] std::string npy_file(std::span<const float> values, std::span<const Index> shape);
[[nodiscard]] std::string npy_file(std::span<const std::int64_t> values, std::span<const Index> shape);

} // namespace duplex::data
