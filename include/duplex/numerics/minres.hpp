#pragma once
// MINRES (Paige and Saunders, 1975): Kx = b with a symmetric K that need not be definite, from x = 0, by the shortest
// residual over Krylov spaces. Memory: seven vectors.

#include <duplex/space/space.hpp>

#include <cmath>
#include <cstdint>
#include <utility>

namespace duplex {

/// Calls keep_on(x) after each step, and ends where that is false, or where the residual is zero but for rounding.
/// Returns the steps. `product(in, out)` is out = K in.
template <VectorSpace V, class Product, class KeepOn>
std::int64_t minres(const Product &product, const V &b, V &x, std::int64_t most_steps, const KeepOn &keep_on) {
  V before = zeros_like(b);
  V now = b;
  V next = zeros_like(b);
  V direction = zeros_like(b);
  V direction_before = zeros_like(b);
  V direction_earlier = zeros_like(b);
  set_zero(x);
  const double first = norm(b);
  if (!(first > 0.0)) {
    return 0;
  }
  scale(1.0 / first, now);
  double beta = 0.0;
  double left = first; // of the residual, with its sign
  double cosine = 1.0;
  double sine = 0.0;
  double cosine_before = 1.0;
  double sine_before = 0.0;
  for (std::int64_t k = 1; k <= most_steps; ++k) {
    product(now, next); // the next vector of Lanczos' recursion
    const double alpha = dot(now, next);
    axpy(-alpha, now, next);
    axpy(-beta, before, next);
    const double beta_next = norm(next);
    const double above = sine_before * beta; // the column of R: two rotations of the past, and a new one
    const double middle = cosine * cosine_before * beta + sine * alpha;
    const double corner = cosine * alpha - sine * cosine_before * beta;
    const double diagonal = std::hypot(corner, beta_next);
    if (!(diagonal > 0.0)) {
      return k;
    }
    cosine_before = std::exchange(cosine, corner / diagonal);
    sine_before = std::exchange(sine, beta_next / diagonal);
    assign(now, direction);
    axpy(-middle, direction_before, direction);
    axpy(-above, direction_earlier, direction);
    scale(1.0 / diagonal, direction);
    axpy(cosine * left, direction, x);
    left *= -sine;
    if (!keep_on(x) || std::abs(left) <= 16.0 * precision(b) * first) {
      return k;
    }
    std::swap(direction_earlier, direction_before);
    std::swap(direction_before, direction);
    std::swap(before, now);
    std::swap(now, next);
    scale(1.0 / beta_next, now);
    beta = beta_next;
  }
  return most_steps;
}

} // namespace duplex
