#pragma once
// The move p of x that limited-memory BFGS proposes, and how long the first ones are.

#include <duplex/methods/automatic/estimate.hpp>
#include <duplex/numerics/secant_pairs.hpp>

#include <cmath>
#include <cstddef>

namespace duplex::automatic {

template <VectorSpace V> class UpperDirection {
public:
  UpperDirection(std::size_t pairs, const V &x) : pairs_(pairs, x) {}

  /// p at a point. Before there is any pair, of the length that the last pair says or, at first, Polyak's step towards
  /// F = 0.
  void propose(const Estimate<V> &at, V &move) {
    pairs_.direction(at.d, move);
    if (!pairs_.empty() || scale_ > 0.0) {
      scale(pairs_.empty() ? reach_ * scale_ : reach_, move);
      return;
    }
    const double length = norm(at.d);
    const double value = std::abs(at.value);
    const bool says_something = value > 0.0 && std::isfinite(value) && length > 0.0;
    scale(says_something ? reach_ * value / (length * length) : reach_, move);
  }

  /// Learns from a move and the change of d along it, with curvature = pᵀΔd, where that is more than rounding.
  void learn(const V &move, const V &change, double curvature) {
    if (curvature > 100.0 * precision(move) * norm(move) * norm(change)) {
      pairs_.add(move, change, curvature);
      scale_ = curvature / dot(change, change);
      reach_ = 1.0;
    }
  }
  /// φ bends down along p: farther next time.
  void reach_farther() { reach_ *= 4.0; }

  void forget_pairs() { pairs_.forget(); }
  void forget() {
    pairs_.forget();
    scale_ = 0.0;
    reach_ = 1.0;
  }

  template <class Archive> void archive(Archive &members) {
    members("pairs", pairs_);
    members("scale", scale_);
    members("reach", reach_);
  }

private:
  SecantPairs<V> pairs_;
  double scale_ = 0.0; ///< pᵀΔd/ΔdᵀΔd of the last pair
  double reach_ = 1.0; ///< times the length that would be taken otherwise
};

} // namespace duplex::automatic
