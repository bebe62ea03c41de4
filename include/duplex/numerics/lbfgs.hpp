#pragma once
// Limited-memory BFGS (Nocedal and Wright, Algorithm 7.4 and 7.5) with a backtracking line
// search, for smooth functions of one vector. Memory: 2m + 6 vectors.

#include <duplex/numerics/line_search.hpp>
#include <duplex/numerics/secant_pairs.hpp>
#include <duplex/space/space.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>

namespace duplex {

struct LbfgsOptions {
  std::int64_t max_iterations = 60;
  std::size_t pairs = 8; ///< at least 1
  /// On the gradient's norm over that at the start, or over `smallest_scale` where that is larger.
  double gradient_tolerance = 1e-3;
  double smallest_scale = 1e-3;
  /// On the decrease of the value relative to the value.
  double value_tolerance = 1e-6;
};

struct LbfgsResult {
  double value = 0.0;
  std::int64_t iterations = 0;
  std::int64_t evaluations = 0;
  bool converged = false;
};

/// Moves x to lower values of evaluate(x, gradient) -> value. Stops at the last good point where a
/// value or the search is not finite.
template <VectorSpace V, class Evaluate>
LbfgsResult minimize_lbfgs(const Evaluate &evaluate, V &x, const LbfgsOptions &options = {}) {
  constexpr double rounding = 1e-7; // of a value in single precision
  constexpr int most_attempts = 20;
  SecantPairs<V> pairs(options.pairs, x);
  V gradient = zeros_like(x);
  V direction = zeros_like(x);
  V trial = zeros_like(x);
  V trial_gradient = zeros_like(x);
  LbfgsResult result;
  result.value = evaluate(x, gradient);
  result.evaluations = 1;
  const double scale_of_gradient = std::max(norm(gradient), options.smallest_scale);
  if (norm(gradient) == 0.0) {
    result.converged = true;
    return result;
  }
  while (result.iterations < options.max_iterations && std::isfinite(result.value)) {
    ++result.iterations;
    pairs.direction(gradient, direction, pairs.empty() ? std::min(1.0, 1.0 / norm(gradient)) : 1.0);
    const double slope = dot(gradient, direction);
    if (!(slope < 0.0)) { // rounding has spoilt the pairs
      if (pairs.empty()) {
        break;
      }
      pairs.forget();
      continue;
    }
    double value = 0.0;
    const double found = backtrack(most_attempts, [&](double t) {
      assign(x, trial);
      axpy(t, direction, trial);
      value = evaluate(trial, trial_gradient);
      ++result.evaluations;
      const double noise = rounding * std::abs(result.value);
      return judged(result.value, value, t * slope, noise);
    });
    if (found == 0.0) {
      break;
    }
    scale(-1.0, x); // now what x moved by
    axpy(1.0, trial, x);
    scale(-1.0, gradient);
    axpy(1.0, trial_gradient, gradient);
    const double product = dot(x, gradient);
    if (product > precision(x) * std::sqrt(dot(x, x) * dot(gradient, gradient))) {
      pairs.add(x, gradient, product);
    }
    std::swap(x, trial);
    std::swap(gradient, trial_gradient);
    const double decrease = result.value - value;
    result.value = value;
    if (norm(gradient) <= options.gradient_tolerance * scale_of_gradient ||
        decrease <= options.value_tolerance * std::abs(value)) {
      result.converged = true;
      break;
    }
  }
  return result;
}

} // namespace duplex
