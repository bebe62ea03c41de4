#pragma once
// Numbers as people read them.

#include <array>
#include <cstddef>
#include <cstdio>
#include <string>

namespace duplex {

/// Text such as "1.24e-05" with the given number of significant digits.
[[nodiscard]] inline std::string short_number(double value, int digits = 3) {
  std::array<char, 32> buffer{};
  const int length = std::snprintf(buffer.data(), buffer.size(), "%.*g", digits, value);
  return {buffer.data(), static_cast<std::size_t>(length)};
}

/// Text such as "12.3 µs".
[[nodiscard]] std::string duration_text(double seconds);

} // namespace duplex
