#pragma once
// How far conjugate gradients are from the solution, from what they compute anyway. With the steps a_i, the residuals
// r_i, M the preconditioner and the directions p_i (Hestenes and Stiefel, 1952, theorems 6:1 and 6:3):
//
//   ‖e_j‖²_H = Σ_{i≥j} a_i r_iᵀMr_i,   ‖e_j‖² = Σ_{i≥j} (p_iᵀp_i / p_iᵀHp_i)(‖e_i‖²_H + ‖e_{i+1}‖²_H).
//
// The sums known so far give the error some steps ago; its decay since then, taken to go on, gives today's.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

namespace duplex::automatic {

class ErrorEstimate {
public:
  void restart() {
    falls_.clear();
    stretches_.clear();
  }

  /// energy_fall = a rᵀMr, stretch = pᵀp / pᵀHp of the step just done.
  void add(double energy_fall, double stretch) {
    falls_.push_back(energy_fall);
    stretches_.push_back(stretch);
  }

  /// ‖e‖ after the last step, at most `bound`: with few steps there is nothing better.
  [[nodiscard]] double error(double bound) const {
    const std::size_t steps = falls_.size();
    if (steps < 3) {
      return bound;
    }
    const std::size_t delay = std::max<std::size_t>(1, steps / 4);
    const double later = error_since(steps - delay);
    const double earlier = error_since(steps - 2 * delay);
    const double decay = earlier > 0.0 ? later / earlier : 0.0;
    const double missing_tail = decay < slowest_decay ? 1.0 / (1.0 - decay) : 1.0 / (1.0 - slowest_decay);
    return std::min(bound, later * missing_tail * std::clamp(decay, fastest_decay, 1.0));
  }

private:
  static constexpr double slowest_decay = 0.95;
  static constexpr double fastest_decay = 0.1;

  [[nodiscard]] double error_since(std::size_t first) const {
    double energy = 0.0;
    double square = 0.0;
    for (std::size_t i = falls_.size(); i-- > first;) {
      const double energy_before = energy + falls_[i];
      square += stretches_[i] * (energy_before + energy);
      energy = energy_before;
    }
    return std::sqrt(square);
  }

  std::vector<double> falls_;
  std::vector<double> stretches_;
};

} // namespace duplex::automatic
