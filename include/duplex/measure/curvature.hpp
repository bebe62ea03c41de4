#pragma once
// The largest eigenvalue of ∇²yy f at a point: what a lower step must respect.

#include <duplex/numerics/power_iteration.hpp>
#include <duplex/problem/problem.hpp>

namespace duplex {

inline constexpr int products_for_curvature = 12;

/// λ_max of ∇²yy f where `lower` stands, with a power iteration that may know it from before.
template <class Lower, VectorSpace V>
[[nodiscard]] double largest_curvature_where(Lower &lower, PowerIteration<V> &power) {
  return power.largest([&](const V &in, V &out) { lower.hess_yy(in, out); }, products_for_curvature);
}

template <SecondOrderProblem P>
[[nodiscard]] double largest_curvature(const P &problem, const VectorOf<P> &x, const VectorOf<P> &y) {
  auto lower = problem.lower();
  lower.at(x, y);
  PowerIteration<VectorOf<P>> power(y);
  return largest_curvature_where(lower, power);
}

} // namespace duplex
