#pragma once
// A point of an automatic run with what is known of it.

#include <duplex/problem/problem.hpp>

#include <cmath>

namespace duplex::automatic {

template <class V> struct Estimate {
  State<V> at;
  V d;
  V cross;              ///< ∇²xy f·v
  double y_error = 0.0; ///< ‖y − y*(x)‖
  double v_error = 0.0;
  V lower_gradient;         ///< ∇y f as far as it is left
  double value = 0.0;       ///< F − vᵀ∇y f: φ(x) but for products of the errors
  double value_noise = 0.0; ///< how far it may be from φ(x)

  template <class Archive> void archive(Archive &members) {
    members("at", at);
    members("d", d);
    members("cross", cross);
    members("y error", y_error);
    members("v error", v_error);
    members("lower gradient", lower_gradient);
    members("value", value);
    members("value noise", value_noise);
  }
};

template <VectorSpace V> [[nodiscard]] Estimate<V> estimate_at(const State<V> &start) {
  Estimate<V> estimate;
  estimate.at = start;
  estimate.d = estimate.cross = zeros_like(start.x);
  estimate.lower_gradient = zeros_like(start.y);
  return estimate;
}

/// out = from + t (to − from), which is exact where y, v and d are affine in x, as for quadratic problems. The value
/// is left out: it is not affine.
template <VectorSpace V> void interpolate(const Estimate<V> &from, const Estimate<V> &to, double t, Estimate<V> &out) {
  const auto mix = [t](const V &a, const V &b, V &mixed) {
    assign(a, mixed);
    scale(1.0 - t, mixed);
    axpy(t, b, mixed);
  };
  mix(from.at.x, to.at.x, out.at.x);
  mix(from.at.y, to.at.y, out.at.y);
  mix(from.at.v, to.at.v, out.at.v);
  mix(from.d, to.d, out.d);
  mix(from.cross, to.cross, out.cross);
  mix(from.lower_gradient, to.lower_gradient, out.lower_gradient);
  out.y_error = std::abs(1.0 - t) * from.y_error + std::abs(t) * to.y_error;
  out.v_error = std::abs(1.0 - t) * from.v_error + std::abs(t) * to.v_error;
}

} // namespace duplex::automatic
