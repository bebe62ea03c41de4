#pragma once
// What a step made that is not finite, and which step size is to blame.

#include <duplex/problem/problem_view.hpp>
#include <duplex/run/broken_loss.hpp>
#include <duplex/run/finding.hpp>
#include <duplex/run/too_long_step.hpp>

#include <string>
#include <utility>

namespace duplex {

namespace detail {

/// Whose steps took the run to where a loss is not finite: those of x where x alone breaks the loss, or where y stays
/// in its domain as long as x is held; otherwise those of y.
template <VectorSpace V, class Look>
[[nodiscard]] Finding who_broke(const ProblemView<V> &problem, const StepOptions &options, const RunPoint<V> &run,
                                const V &y, const Look &look) {
  std::string broken = look(run.state->x, y);
  if (broken.empty() || run.good == nullptr || !look(run.good->x, run.good->y).empty()) {
    return {std::move(broken), {}};
  }
  const auto is_sound = [&](const V &x, const V &at) { return look(x, at).empty(); };
  const bool by_x = !is_sound(run.state->x, run.good->y) ||
                    DescentWithXHeld<V>(problem, run.good->x, run.good->y, run.steps.beta).stays(is_sound);
  return by_x ? as_a_guess(blaming(options, Role::upper_step, std::move(broken)))
              : blaming(options, Role::lower_step, std::move(broken));
}

} // namespace detail

/// The first that is not finite of what a step computes from x, which is y⁺, v⁺ and d in that order, unless a loss
/// broke it. `x_was_moved` says whether x has already followed a direction that may be at fault.
template <VectorSpace V>
[[nodiscard]] Finding find_first_not_finite(const ProblemView<V> &problem, const StepOptions &options,
                                            const RunPoint<V> &run, bool x_was_moved) {
  const State<V> &state = *run.state;
  const auto lower = [&](const V &x, const V &y) { return detail::broken_lower_level(problem, x, y); };
  const auto upper = [&](const V &x, const V &y) { return detail::broken_upper_level(problem, x, y); };
  const bool x_is_finite = all_finite(state.x);
  const Finding x_broke = blaming(options, Role::upper_step, "upper level: x is not finite");
  if (!x_is_finite && !x_was_moved) {
    return x_broke;
  }
  if (!all_finite(state.y)) {
    if (x_is_finite && run.lower_point != nullptr && all_finite(*run.lower_point)) {
      if (auto broken = detail::who_broke(problem, options, run, *run.lower_point, lower); broken.found()) {
        return broken;
      }
    }
    return blaming(options, Role::lower_step, "lower level: y is not finite");
  }
  if (x_is_finite) {
    if (auto broken = detail::who_broke(problem, options, run, state.y, lower); broken.found()) {
      return broken;
    }
    if (auto broken = detail::who_broke(problem, options, run, state.y, upper); broken.found()) {
      return broken;
    }
  }
  if (!all_finite(state.v)) {
    return blaming(options, options.multiplier(), "multiplier v is not finite");
  }
  return x_is_finite ? Finding{} : x_broke;
}

/// The same, with the blame on a step that is known to be too long where the run has kept a good state to measure at.
template <VectorSpace V>
[[nodiscard]] Finding find_not_finite(const ProblemView<V> &problem, const StepOptions &options, const RunPoint<V> &run,
                                      bool x_was_moved) {
  Finding found = find_first_not_finite(problem, options, run, x_was_moved);
  if (found.found() && run.good != nullptr && !options.empty()) {
    auto cause = find_too_long_step(problem, options, run);
    if (!cause.found() && found.blamed == Role::lower_step && !all_finite(run.state->y)) {
      cause = who_moved_y(problem, options, run);
    }
    if (cause.found()) {
      cause.reason = std::exchange(cause.what, std::move(found.what));
      return cause;
    }
  }
  return found;
}

} // namespace duplex
