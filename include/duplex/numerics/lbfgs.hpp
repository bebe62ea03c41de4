#pragma once
// Limited-memory BFGS (Nocedal and Wright, Algorithm 7.4 and 7.5) with a backtracking line
// search, for smooth functions of one vector. Memory: 2m + 5 vectors.

#include <duplex/space/space.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

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
  struct Pair {
    V step;
    V change; ///< of the gradient
    double inverse_product = 0.0;
  };
  std::vector<Pair> pairs;
  V gradient = zeros_like(x);
  V direction = zeros_like(x);
  V trial = zeros_like(x);
  V trial_gradient = zeros_like(x);
  std::vector<double> weights(options.pairs);
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
    assign(gradient, direction);
    for (std::size_t i = pairs.size(); i-- > 0;) {
      weights[i] = pairs[i].inverse_product * dot(pairs[i].step, direction);
      axpy(-weights[i], pairs[i].change, direction);
    }
    if (pairs.empty()) {
      scale(std::min(1.0, 1.0 / norm(gradient)), direction);
    } else {
      scale(1.0 / (pairs.back().inverse_product * dot(pairs.back().change, pairs.back().change)), direction);
    }
    for (std::size_t i = 0; i < pairs.size(); ++i) {
      axpy(weights[i] - pairs[i].inverse_product * dot(pairs[i].change, direction), pairs[i].step, direction);
    }
    scale(-1.0, direction);
    const double slope = dot(gradient, direction);
    if (!(slope < 0.0)) { // rounding has spoilt the pairs
      if (pairs.empty()) {
        break;
      }
      pairs.clear();
      continue;
    }

    constexpr double sufficient = 1e-4;
    constexpr double rounding = 1e-7; // of a value in single precision
    constexpr int halvings = 20;
    double length = 1.0;
    double value = 0.0;
    bool found = false;
    for (int attempt = 0; attempt < halvings && !found; ++attempt, length *= 0.5) {
      assign(x, trial);
      axpy(length, direction, trial);
      value = evaluate(trial, trial_gradient);
      ++result.evaluations;
      found = value <= result.value + sufficient * length * slope + rounding * std::abs(result.value);
    }
    if (!found) {
      break;
    }
    scale(-1.0, x); // now what x moved by
    axpy(1.0, trial, x);
    scale(-1.0, gradient);
    axpy(1.0, trial_gradient, gradient);
    const double product = dot(x, gradient);
    if (product > precision(x) * std::sqrt(dot(x, x) * dot(gradient, gradient))) {
      if (pairs.size() == options.pairs) {
        std::rotate(pairs.begin(), pairs.begin() + 1, pairs.end()); // the oldest pair's memory serves the newest
      } else {
        pairs.push_back({zeros_like(x), zeros_like(x), 0.0});
      }
      assign(x, pairs.back().step);
      assign(gradient, pairs.back().change);
      pairs.back().inverse_product = 1.0 / product;
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
