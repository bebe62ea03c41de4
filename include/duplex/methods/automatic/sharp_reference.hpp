#pragma once
// ‖d‖ where a run began, by which everything is measured, must be right to a per cent: computed anew, once it is known
// how much d feels errors of y and v.

#include <duplex/methods/automatic/best_point.hpp>
#include <duplex/methods/automatic/current_point.hpp>
#include <duplex/methods/automatic/success_claim.hpp>

namespace duplex::automatic {

template <VectorSpace V>
[[nodiscard]] LinearStatus sharpen_reference(SuccessClaim &claim, CurrentPoint<V> &current, BestPoint<V> &best) {
  constexpr double accuracy = 0.01;
  auto status = LinearStatus::converged;
  if (!claim.needs_sharp_reference()) {
    return status;
  }
  if (current.error() > accuracy * claim.reference()) {
    status = current.refresh_to_share(accuracy);
    claim.remeasure(current.slope());
    best.remeasure(current.slope());
  }
  claim.set_error_of_reference(current.error());
  return status;
}

} // namespace duplex::automatic
