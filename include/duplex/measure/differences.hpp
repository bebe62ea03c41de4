#pragma once
// Differences of a function along a direction.

#include <duplex/space/difference_step.hpp>
#include <duplex/space/space.hpp>

#include <algorithm>
#include <cmath>

namespace duplex::detail {

/// The central difference of `function` at `base` along `direction`, over moves of length `step`.
template <VectorSpace V, class Function>
[[nodiscard]] double central_difference(const V &base, const V &direction, double step, const Function &function) {
  const double h = step / std::max(norm(direction), 1e-300);
  V moved = base;
  axpy(h, direction, moved);
  const double forward = function(moved);
  axpy(-2.0 * h, direction, moved);
  return (forward - function(moved)) / (2.0 * h);
}

/// The difference of `function` to one side, of second order in the step, over moves of length `step` and twice that.
template <VectorSpace V, class Function>
[[nodiscard]] double forward_difference(const V &base, double value, const V &direction, double step,
                                        const Function &function) {
  const double h = step / std::max(norm(direction), 1e-300);
  V moved = base;
  axpy(h, direction, moved);
  const double near = function(moved);
  axpy(h, direction, moved);
  return (4.0 * near - 3.0 * value - function(moved)) / (2.0 * h);
}

template <VectorSpace V, class Generator> [[nodiscard]] V normal_like(Generator &generator, const V &like) {
  V out = zeros_like(like);
  fill_normal(generator, out);
  return out;
}

/// Errors of central differences: 1e-6 in double, 2e-2 in float.
[[nodiscard]] inline double usual_tolerance(double precision_of_numbers) {
  return precision_of_numbers < 1e-10 ? 1e-6 : 2e-2;
}

} // namespace duplex::detail
