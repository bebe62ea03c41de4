#pragma once
// The largest eigenvalue of ∇²yy f at a point by power iterations: what a lower step must respect.

#include <duplex/problem.hpp>

#include <random>

namespace duplex {

/// A lower bound that is within some per cent of λ_max after a dozen products.
template <SecondOrderProblem P>
[[nodiscard]] double largest_curvature(const P &problem, const VectorOf<P> &x, const VectorOf<P> &y,
                                       int iterations = 12) {
  auto lower = problem.lower();
  lower.at(x, y);
  VectorOf<P> u = zeros_like(y);
  VectorOf<P> image = zeros_like(y);
  std::mt19937_64 generator(0);
  fill_normal(generator, u);
  double curvature = 0.0;
  for (int i = 0; i < iterations; ++i) {
    const double length = norm(u);
    if (!(length > 0.0)) {
      break;
    }
    scale(1.0 / length, u);
    lower.hess_yy(u, image);
    curvature = norm(image);
    assign(image, u);
  }
  return curvature;
}

} // namespace duplex
