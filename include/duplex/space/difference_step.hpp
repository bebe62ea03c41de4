#pragma once
// How long a move is along which something is differenced.

#include <duplex/space/space.hpp>

#include <algorithm>
#include <cmath>

namespace duplex::detail {

/// The length of a move from `base` at which truncation and rounding of a central difference are alike.
template <VectorSpace V> [[nodiscard]] double difference_step(const V &base) {
  return std::cbrt(precision(base)) * std::max(1.0, norm(base));
}

} // namespace duplex::detail
