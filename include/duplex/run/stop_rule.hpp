#pragma once
// What may ask to end a run after a step, beside limits and what is measured (watch.hpp).

#include <duplex/run/claims.hpp>
#include <duplex/run/direction_history.hpp>

#include <cstdint>

namespace duplex::detail {

enum class StopRule { none, failed, claim, direction_tolerance, stuck, stands_still };

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

/// How a run ends that a rule has asked to stop: a claim that does not hold leaves it to `otherwise`.
template <VectorSpace V> [[nodiscard]] Termination ending_by(StopRule rule, Termination otherwise, Claims<V> &claims) {
  switch (rule) {
  case StopRule::claim:
    return claims.verify(otherwise);
  case StopRule::direction_tolerance:
    return Termination::direction_tolerance;
  case StopRule::failed:
    return claims.end_where_stuck(Termination::step_failed, otherwise);
  case StopRule::stuck:
    return claims.end_where_stuck(Termination::stagnated, otherwise);
  case StopRule::stands_still:
    return Termination::stagnated;
  case StopRule::none:
    break;
  }
  return otherwise;
}

} // namespace duplex::detail
