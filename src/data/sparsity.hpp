#pragma once
// When a table is kept as the entries that are not zero.

#include <cstddef>
#include <cstdint>

namespace duplex::data {

/// Where at most a tenth of the values are there: below that, products with the entries alone are the faster ones.
[[nodiscard]] inline bool is_sparse(std::size_t entries, std::size_t rows, std::uint64_t columns) {
  constexpr double few = 0.1;
  return static_cast<double>(entries) <= few * static_cast<double>(rows) * static_cast<double>(columns);
}

} // namespace duplex::data
