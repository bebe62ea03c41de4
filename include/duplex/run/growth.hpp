#pragma once
// What of a run has grown where all numbers are finite.

#include <duplex/core/text.hpp>
#include <duplex/measure/residual.hpp>
#include <duplex/problem/problem_view.hpp>
#include <duplex/run/finding.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <exception>
#include <string>

namespace duplex {

/// Blames what grew most of y, v, x and d, each relative to max(1, its norm at the start); in a tie, what a step
/// computes first. Nobody is blamed for d.
template <VectorSpace V> [[nodiscard]] Finding find_most_grown(const StepOptions &options, const RunPoint<V> &run) {
  struct Part {
    std::string name;
    double start;
    double now;
    Role step;
  };
  // Where v is computed anew in every step it follows x.
  const Role multiplier = options.has(Role::multiplier_step) ? options.multiplier() : Role::upper_step;
  const std::array<Part, 4> parts{Part{"y", run.start.y, norm(run.state->y), Role::lower_step},
                                  Part{"v", run.start.v, norm(run.state->v), multiplier},
                                  Part{"x", run.start.x, norm(run.state->x), Role::upper_step},
                                  Part{"d", run.start.d, run.direction, Role::none}};
  const auto most = std::max_element(parts.begin(), parts.end(), [](const Part &a, const Part &b) {
    return a.now / std::max(1.0, a.start) < b.now / std::max(1.0, b.start);
  });
  if (most->name == "d" || !std::isfinite(most->now)) {
    return {};
  }
  return blaming(options, most->step, most->name + " grew most, to " + short_number(most->now));
}

/// Whether v nearly solves its equation: ‖∇yF − ∇²yy f·v‖ is well below its two terms. Then it is not v that runs away.
template <VectorSpace V> [[nodiscard]] bool multiplier_follows(const ProblemView<V> &problem, const State<V> &state) {
  constexpr double well_below = 0.5;
  try {
    KktResidual<ProblemView<V>> residual(problem);
    const double block = residual.at(state.x, state.y, state.v).multiplier;
    return block < well_below * residual.terms().multiplier;
  } catch (const std::exception &) { // a loss that refuses this point
    return false;
  }
}

} // namespace duplex
