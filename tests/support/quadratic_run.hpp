#pragma once
// A small quadratic problem, and steps with which BAGDC solves it.

#include "support.hpp"

namespace duplex::testing {

inline const QuadraticSettings small_quadratic{.n = 6, .m = 8, .condition = 5.0, .coupling = 0.5, .seed = 4};
inline constexpr Bagdc calm{.alpha = 0.02, .beta = 0.5, .eta = 0.5, .dual = DualStep::constant};

} // namespace duplex::testing
