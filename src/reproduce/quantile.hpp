#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace duplex::reproduce {

/// Of at least one value; at = 0.5 is the median, of an even number the upper one.
[[nodiscard]] inline double quantile(std::vector<double> values, double at) {
  std::sort(values.begin(), values.end());
  return values[std::min(values.size() - 1, static_cast<std::size_t>(at * static_cast<double>(values.size())))];
}

} // namespace duplex::reproduce
