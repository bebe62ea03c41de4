#pragma once
// Vectors so short that nothing can be measured beside them: the square of a part of their norm is no number.

#include <duplex/space/space.hpp>

namespace duplex {

/// Of that part of the norm. False of zero itself.
template <VectorSpace V> [[nodiscard]] bool underflows(const V &vector, double part) {
  const bool in_float = is_single_precision(precision(vector));
  const double root_of_smallest = in_float ? 1.1e-19 : 1.5e-154;
  if (!(part * norm(vector) < root_of_smallest)) {
    return false;
  }
  V enlarged = vector;
  scale(in_float ? 1e20 : 1e150, enlarged);
  return norm(enlarged) > 0.0;
}

} // namespace duplex
