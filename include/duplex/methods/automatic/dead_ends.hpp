#pragma once
// How an automatic run ends without success: with its best point, and why.

#include <duplex/method.hpp>
#include <duplex/methods/automatic/best_point.hpp>
#include <duplex/methods/automatic/current_point.hpp>
#include <duplex/methods/automatic/slope_probe.hpp>
#include <duplex/methods/automatic/texts.hpp>

namespace duplex::automatic {

/// Nothing that was tried helps; `probe` is what differences of φ say of d.
template <VectorSpace V> void stop(StepReport &report, const char *why, const SlopeReport &probe) {
  report.stuck = true;
  report.failure = why + probe.text(precision(V()));
}

/// A run that is stuck gives its best point; one whose linear solves failed says why.
template <VectorSpace V>
void end_where_nothing_helps(LinearStatus status, StepReport &report, BestPoint<V> &best, CurrentPoint<V> &current,
                             V &direction) {
  if (report.stuck) {
    best.give(current);
    current.free_direction(direction);
  }
  if (status != LinearStatus::converged) {
    best.give_as_it_is(current);
    report.stuck = false;
    report.failure = failure_text(status);
    report.not_finite = status == LinearStatus::not_finite;
  }
}

} // namespace duplex::automatic
