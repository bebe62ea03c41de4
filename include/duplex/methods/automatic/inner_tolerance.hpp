#pragma once
// How well H e = r is to be solved, and how well it was.

#include <duplex/numerics/linear_status.hpp>

#include <cstdint>

namespace duplex::automatic {

struct InnerTolerance {
  double absolute = 0.0;  ///< on the error's norm
  double relative = 0.0;  ///< or on the error over how far this solve has moved
  double magnitude = 0.0; ///< norm of what the solution is a correction of, or of itself: rounding is relative to it
};

struct InnerReport {
  LinearStatus status = LinearStatus::converged;
  std::int64_t steps = 0;
  double error = 0.0;     ///< estimate of ‖e‖ that is left
  double step_size = 0.0; ///< ‖move‖ / ‖residual at the start‖
};

} // namespace duplex::automatic
