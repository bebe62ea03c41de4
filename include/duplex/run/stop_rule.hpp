#pragma once
// What may ask to end a run after a step, beside the limits.

#include <duplex/run/claims.hpp>
#include <duplex/run/direction_history.hpp>

#include <cstdint>

namespace duplex::detail {

enum class StopRule { none, claim, direction_tolerance, stuck, stands_still };

/// The first that does after step k.
template <VectorSpace V>
[[nodiscard]] StopRule stop_rule_met(std::int64_t k, const RunContext<V> &run, const Claims<V> &claims,
                                     const DirectionHistory &directions) {
  if (claims.made_now()) {
    return StopRule::claim;
  }
  if (directions.meets_tolerance(k, run.summary.direction_norm, run.report.tentative)) {
    return StopRule::direction_tolerance;
  }
  if (run.report.stuck) {
    return StopRule::stuck;
  }
  return directions.stands_still(k) ? StopRule::stands_still : StopRule::none;
}

} // namespace duplex::detail
