#pragma once
// The search along p. The secant of d from x to x + p gives the length t of the exact line search. While φ behaves as a
// quadratic function the point there is interpolated, x + tp, y + tΔy, v + tΔv, d + tΔd, at no product; F there says
// whether it does. Otherwise x + p is taken where F falls enough (Armijo), and p is shortened where it does not.

#include <duplex/methods/automatic/current_point.hpp>
#include <duplex/methods/automatic/rules.hpp>
#include <duplex/methods/automatic/trust.hpp>
#include <duplex/methods/automatic/upper_direction.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace duplex::automatic {

template <VectorSpace V> class UpperSearch {
public:
  UpperSearch(std::size_t pairs, const State<V> &start)
      : direction_(pairs, start.x), trial_(estimate_at(start)), interpolated_(trial_), move_(zeros_like(start.x)),
        change_(zeros_like(start.x)) {}

  /// Moves x along p, unless is_exhausted() afterwards. The status is that of the linear solves. Once it is known how
  /// much d feels errors of y and v, sharpen() is called, which may compute d anew.
  template <class Sharpen> [[nodiscard]] LinearStatus move(CurrentPoint<V> &current, const Sharpen &sharpen) {
    doubted_ = false;
    outcome_ = Trial::too_far;
    propose(current);
    while (true) {
      auto status = evaluate_trial(current);
      if (status == LinearStatus::converged) {
        status = learn_gains(current, sharpen);
      }
      if (status != LinearStatus::converged) {
        return status;
      }
      outcome_ = judge(current);
      if (outcome_ == Trial::moved || outcome_ == Trial::exhausted) {
        return status;
      }
      if (outcome_ == Trial::doubtful) {
        current.tighten();
        status = current.refresh(current.allowed_error(current.slope()));
        if (status != LinearStatus::converged) {
          return status;
        }
        propose(current);
      }
    }
  }
  /// Whether no step along p lowers F, and x has stayed.
  [[nodiscard]] bool is_exhausted() const { return outcome_ == Trial::exhausted; }

  void forget_pairs() { direction_.forget_pairs(); }
  /// The lower level is another one from now on.
  void forget() {
    direction_.forget();
    trust_ = {};
  }

  void report(Findings &found) const { found.interpolated = interpolations_; }

  template <class Archive> void archive(Archive &members) {
    members("direction", direction_);
    members("trust", trust_);
    members("interpolations", interpolations_);
  }

private:
  /// What became of a trial at x + p.
  enum class Trial : std::uint8_t {
    moved,     ///< x has moved
    too_far,   ///< p was shortened: try again
    doubtful,  ///< d itself may be what is wrong: compute it anew more tightly, and propose another p
    exhausted, ///< no step along p lowers F
  };

  void propose(CurrentPoint<V> &current) {
    shortenings_ = 0;
    direction_.propose(current.estimate(), move_);
  }

  /// d at x + p, which is shortened where that fails: the lower level there is not what it is here.
  [[nodiscard]] LinearStatus evaluate_trial(CurrentPoint<V> &current) {
    auto &hypergradient = current.hypergradient();
    while (true) {
      const State<V> &here = current.state();
      assign(here.x, trial_.at.x);
      assign(here.y, trial_.at.y);
      assign(here.v, trial_.at.v);
      axpy(1.0, move_, trial_.at.x);
      const double level = hypergradient.gains().known() ? current.allowed_error(current.slope()) : 0.0;
      const auto status = hypergradient.evaluate(trial_, level);
      if (status == LinearStatus::converged || ++shortenings_ > rule::most_shortenings) {
        return status;
      }
      scale(0.1, move_);
    }
  }

  /// How much d feels errors of y and v, from the move to the trial.
  template <class Sharpen> [[nodiscard]] LinearStatus learn_gains(CurrentPoint<V> &current, const Sharpen &sharpen) {
    auto &gains = current.hypergradient().gains();
    if (!gains.known()) {
      gains.learn(current.estimate(), trial_);
      if (const LinearStatus status = sharpen(); status != LinearStatus::converged) {
        return status;
      }
    }
    gains.learn(current.estimate(), trial_);
    return LinearStatus::converged;
  }

  /// Moves to x + tp or x + p, or says why not.
  [[nodiscard]] Trial judge(CurrentPoint<V> &current) {
    Estimate<V> &here = current.estimate();
    assign(trial_.d, change_);
    axpy(-1.0, here.d, change_);
    const double curvature = dot(move_, change_);
    const double slope = dot(move_, here.d);
    const double t = curvature > 0.0 ? -slope / curvature : 1.0;
    if (trust_.given() && curvature > 0.0 && interpolation_holds(current, t, slope, curvature)) {
      direction_.learn(move_, change_, curvature);
      std::swap(here, interpolated_);
      ++interpolations_;
      return Trial::moved;
    }
    const bool lost_trust = trust_.lose();
    if (!lost_trust && falls(here, trial_, slope)) {
      direction_.learn(move_, change_, curvature);
      trust_.learn(curvature > 0.0 && predicts(here, trial_, slope + 0.5 * curvature, rule::calm_match));
      if (!(curvature > 0.0)) {
        direction_.reach_farther();
      }
      std::swap(here, trial_);
      return Trial::moved;
    }
    if (lost_trust || (!doubted_ && shortenings_ >= rule::shortenings_that_doubt_d)) {
      doubted_ = !lost_trust;
      if (doubted_) {
        direction_.forget_pairs();
      }
      return Trial::doubtful;
    }
    if (++shortenings_ > rule::most_shortenings) {
      return Trial::exhausted;
    }
    scale(std::clamp(t, 0.1, 0.5), move_);
    return Trial::too_far;
  }

  /// Interpolates to the minimum of the line search, and asks F there whether φ is the quadratic it seems.
  [[nodiscard]] bool interpolation_holds(CurrentPoint<V> &current, double t, double slope, double curvature) {
    const Estimate<V> &here = current.estimate();
    interpolate(here, trial_, t, interpolated_);
    current.hypergradient().measure_value(interpolated_);
    return predicts(here, interpolated_, t * slope + 0.5 * t * t * curvature, rule::poor_match);
  }

  UpperDirection<V> direction_;
  QuadraticTrust trust_;
  Estimate<V> trial_;        ///< at x + p
  Estimate<V> interpolated_; ///< at x + tp
  V move_;                   ///< p
  V change_;                 ///< Δd along p
  int shortenings_ = 0;      ///< of p
  Trial outcome_ = Trial::moved;
  bool doubted_ = false; ///< d was computed anew in this search, since no length of p was good
  std::int64_t interpolations_ = 0;
};

} // namespace duplex::automatic
