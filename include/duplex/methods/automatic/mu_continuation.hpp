#pragma once
// Which μ comes next where the lower Hessian is singular and ψ = μF + (1 − μ)f stands for the lower level: from one
// half down to the tolerance by tenths, each solution the start of the next.

#include <duplex/core/fields.hpp>
#include <duplex/methods/automatic/rules.hpp>

#include <algorithm>
#include <utility>

namespace duplex::automatic {

class MuContinuation {
public:
  /// `available`: the upper level has second derivatives in y, which ψ needs.
  explicit MuContinuation(bool available) : available_(available) {}

  /// Whether it can begin, where the run is at `mu`: zero where the lower level is taken as it is.
  [[nodiscard]] bool can_begin(double mu) const { return available_ && mu == 0.0; }
  /// The first μ.
  [[nodiscard]] double begin() {
    lower_slope_ = infinity;
    return rule::first_mu;
  }
  /// Whether ψ is close enough to f, or the next μ is due where it is solved.
  [[nodiscard]] static bool is_over(double mu, double tolerance) { return !(mu > tolerance); }
  [[nodiscard]] static double next(double mu, double tolerance) { return std::max(rule::mu_decay * mu, tolerance); }

  /// Where ∇yψ = 0, ∇y f = −μ/(1 − μ) ∇yF: it must vanish with μ, or the lower level has no minimizer.
  [[nodiscard]] bool lower_level_is_met(double mu, double upper_slope, double rounding) {
    if (mu == 0.0) {
      return true;
    }
    const double before = std::exchange(lower_slope_, mu / (1.0 - mu) * upper_slope);
    return lower_slope_ <= rule::fall_with_mu * before || lower_slope_ <= rounding;
  }

  /// A claim could not be verified: perhaps the lower Hessian is singular, and conjugate gradients have not met that.
  void suspect() { suspected_ = true; }
  [[nodiscard]] bool take_suspicion() { return std::exchange(suspected_, false); }
  /// A claim with this μ was refuted: what is left of ‖∇φ‖ is what μ is off by. False where μ is as small as it gets.
  [[nodiscard]] bool ask_for_smaller(double mu) {
    asked_ = rule::mu_decay * mu;
    return asked_ > rule::smallest_mu;
  }
  /// The μ that was asked for; zero where none was.
  [[nodiscard]] double take_asked() { return std::exchange(asked_, 0.0); }

  template <class Archive> void archive(Archive &members) {
    members("lower slope", lower_slope_);
    members("suspected", suspected_);
    members("asked", asked_);
  }

private:
  bool available_;
  bool suspected_ = false;
  double asked_ = 0.0;
  double lower_slope_ = infinity; ///< ‖∇y f‖ where ψ was last minimal
};

} // namespace duplex::automatic
