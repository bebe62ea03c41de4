#pragma once
// Whether φ behaves as the quadratic function that a secant sees, and what its values say.

#include <duplex/methods/automatic/estimate.hpp>
#include <duplex/methods/automatic/rules.hpp>
#include <duplex/numerics/line_search.hpp>

#include <cmath>
#include <utility>

namespace duplex::automatic {

/// The value has changed by `change`, to a share of it, as far as the values are known.
template <class V>
[[nodiscard]] bool predicts(const Estimate<V> &from, const Estimate<V> &to, double change, double share) {
  return std::abs(to.value - (from.value + change)) <= share * std::abs(change) + from.value_noise + to.value_noise;
}

/// Armijo's condition, as far as the values are known.
template <class V> [[nodiscard]] bool falls(const Estimate<V> &from, const Estimate<V> &to, double slope) {
  return falls_enough(from.value, to.value, slope, from.value_noise + to.value_noise);
}

/// Given at first; lost when a prediction fails, and won back by a few that hold.
class QuadraticTrust {
public:
  [[nodiscard]] bool given() const { return given_; }

  /// Returns whether there was any to lose.
  bool lose() {
    if (given_) {
      calm_steps_ = 0;
    }
    return std::exchange(given_, false);
  }

  void learn(bool prediction_held) {
    calm_steps_ = prediction_held ? calm_steps_ + 1 : 0;
    given_ = calm_steps_ >= rule::calm_steps_to_trust;
  }

  template <class Archive> void archive(Archive &members) {
    members("given", given_);
    members("calm steps", calm_steps_);
  }

private:
  bool given_ = true;
  int calm_steps_ = 0;
};

} // namespace duplex::automatic
