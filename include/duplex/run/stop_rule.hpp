#pragma once
// What may ask to end a run after a step, beside limits and what is measured (watch.hpp).

#include <duplex/run/claims.hpp>
#include <duplex/run/direction_history.hpp>
#include <duplex/run/rescue.hpp>
#include <duplex/run/watch.hpp>

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

/// Of a resumed run that had ended with `ended`: the rule of those asked for now that is met already, or not_run. The
/// method's own counts only where no other is asked for.
template <VectorSpace V>
[[nodiscard]] Termination met_already(Termination ended, const RunContext<V> &run, const DirectionHistory &directions,
                                      Claims<V> &claims, const Rescue<V> &rescue, Watch<V> &watch) {
  if (ended == Termination::predicate) {
    return ended;
  }
  if (ended == Termination::interrupted) { // it is not judged where one that was not interrupted would not have been
    return Termination::not_run;
  }
  if (const Termination met = claims.met_already(ended); met != Termination::not_run) {
    return met;
  }
  if (directions.meets_tolerance(run.summary.iterations, run.summary.direction_norm, run.report.tentative)) {
    return Termination::direction_tolerance;
  }
  if (ended == Termination::not_run) {
    return ended;
  }
  if (const Termination met = watch.met_at(*run.state, false);
      met != Termination::not_run) { // at an end all is measured
    return met;
  }
  const bool may_try_again = !rescue.is_exhausted() && directions.has_digits_left();
  const bool stands_still = directions.stands_still(run.summary.iterations) && !may_try_again;
  const bool is_stuck = claims.exist() && claims.asked_for_other(); // by the method's own word
  return ended == Termination::stagnated && (stands_still || is_stuck) ? ended : Termination::not_run;
}

} // namespace duplex::detail
