#pragma once
// How far x may move at once. φ along a step is trusted where what F says of it agrees with what d says: for any
// quadratic function Δφ = ½ pᵀ(d + d⁺), whatever its curvature. A step for which that does not hold led out of the
// region in which φ looks the way it does here, and what was learnt there is worth nothing here.

#include <duplex/core/fields.hpp>
#include <duplex/methods/automatic/estimate.hpp>
#include <duplex/methods/automatic/rules.hpp>

#include <algorithm>
#include <cmath>

namespace duplex::automatic {

/// Whether the change of the value is what the slopes at both ends say, to a share of the larger of the two, as far as
/// the values are known. `predicted` is ½ pᵀ(d + d⁺).
template <class V>
[[nodiscard]] bool agrees(const Estimate<V> &from, const Estimate<V> &to, double predicted, double share) {
  const double change = to.value - from.value;
  return std::isfinite(change) &&
         std::abs(change - predicted) <=
             share * std::max(std::abs(change), std::abs(predicted)) + from.value_noise + to.value_noise;
}

class TrustRegion {
public:
  /// What of a move this long is allowed, as a factor.
  [[nodiscard]] double share_of(double length) const { return length > radius_ ? radius_ / length : 1.0; }

  [[nodiscard]] double radius() const { return radius_; }

  /// Is told of a move that was taken, and whether a longer one was rejected before.
  void learn(double length, bool was_shortened, bool agreed_well) {
    if (was_shortened) {
      radius_ = rule::growth_of_radius * length;
    } else if (agreed_well && length > 0.5 * radius_) {
      radius_ *= rule::growth_of_radius;
    }
  }
  void forget() { radius_ = infinity; }

  template <class Archive> void archive(Archive &members) { members("radius", radius_); }

private:
  double radius_ = infinity;
};

} // namespace duplex::automatic
