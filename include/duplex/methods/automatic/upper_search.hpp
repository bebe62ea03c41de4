#pragma once
// The search along p. The secant of d from x to x + p gives the length t of the exact line search. While φ behaves as a
// quadratic function the point there is interpolated, x + tp, y + tΔy, v + tΔv, d + tΔd, at no product; F there says
// whether it does. Otherwise x + p is taken where F falls enough (Armijo) and by what d says (trust_region.hpp), and p
// is shortened where it does not; all that was learnt at a rejected point is forgotten.

#include <duplex/methods/automatic/bounded_move.hpp>
#include <duplex/methods/automatic/current_point.hpp>
#include <duplex/methods/automatic/doubts.hpp>
#include <duplex/methods/automatic/hessian_by_differences.hpp>
#include <duplex/methods/automatic/rules.hpp>
#include <duplex/methods/automatic/trust.hpp>
#include <duplex/methods/automatic/trust_region.hpp>
#include <duplex/methods/automatic/upper_direction.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace duplex::automatic {

template <VectorSpace V> class UpperSearch {
public:
  /// `x_scale`: how large the entries of x typically are; empty where that is not known.
  UpperSearch(std::size_t pairs, const State<V> &start, const V &x_scale = {})
      : direction_(pairs, start.x, x_scale), doubts_(start.x), trial_(estimate_at(start)), interpolated_(trial_),
        move_(zeros_like(start.x)), change_(zeros_like(start.x)), free_(zeros_like(start.x)) {}

  /// Moves x along p, unless is_exhausted() afterwards. The status is that of the linear solves. Once it is known how
  /// much d feels errors of y and v, sharpen() is called, which may compute d anew.
  template <class Sharpen> [[nodiscard]] LinearStatus move(CurrentPoint<V> &current, const Sharpen &sharpen) {
    doubted_ = false;
    outcome_ = Trial::too_far;
    if (direction_.hessian_is_due()) {
      assemble_hessian(current, direction_, trial_);
    }
    propose(current);
    while (true) {
      if (is_at_rest(current)) {
        return LinearStatus::converged;
      }
      auto status = evaluate_trial(current);
      if (status == LinearStatus::converged) {
        status = learn_gains(current, sharpen);
      }
      if (status != LinearStatus::converged) {
        return status;
      }
      outcome_ = judge(current);
      if (outcome_ == Trial::moved || outcome_ == Trial::exhausted) {
        direction_.count_step(current.hypergradient().is_quick());
        return status;
      }
      if (outcome_ == Trial::doubtful) {
        current.tighten();
        status = current.refresh_to_share(current.share());
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
    region_.forget();
  }

  void report(Findings &found) const { found.interpolated = interpolations_; }

  /// What differences of φ along the last move say of d.
  [[nodiscard]] SlopeReport probe(CurrentPoint<V> &current) { return doubts_.of_last_move(current, move_, trial_); }
  [[nodiscard]] bool take_suspicion() { return doubts_.grow(); }
  /// Whether success is denied by differences of φ; `first_slope` is ‖d‖ where the run began.
  [[nodiscard]] bool denies_success(CurrentPoint<V> &current, double first_slope, SlopeReport &why) {
    return doubts_.deny(current, first_slope, trial_, why);
  }

  template <class Archive> void archive(Archive &members) {
    members("direction", direction_);
    members("trust", trust_);
    members("region", region_);
    members("interpolations", interpolations_);
    members("doubts", doubts_);
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
    const Estimate<V> &here = current.estimate();
    current.free_direction(free_);
    direction_.propose_within(current.box(), region_.radius(), here, free_, move_);
    scale(region_.share_of(norm(move_)), move_);
    BoundedMove<V>::keep_inside(current.box(), here.at.x, here.d, free_, move_);
  }

  /// Whether nothing of d is free, as may turn out when d is computed anew: then x stays, and the next step confirms
  /// it.
  [[nodiscard]] bool is_at_rest(const CurrentPoint<V> &current) {
    if (!current.box().exists() || norm(free_) != 0.0) {
      return false;
    }
    outcome_ = Trial::moved;
    return true;
  }

  /// d at x + p, which is shortened where that fails: the lower level there is not what it is here.
  [[nodiscard]] LinearStatus evaluate_trial(CurrentPoint<V> &current) {
    auto &hypergradient = current.hypergradient();
    knowledge_ = hypergradient.knowledge();
    while (true) {
      const State<V> &here = current.state();
      assign(here.x, trial_.at.x);
      assign(here.y, trial_.at.y);
      assign(here.v, trial_.at.v);
      axpy(1.0, move_, trial_.at.x);
      current.box().project(trial_.at.x); // x + (bound − x) is the bound but for rounding
      const double level = hypergradient.gains().known() ? current.allowed_error(current.slope()) : 0.0;
      const auto status = hypergradient.evaluate(trial_, level);
      const auto &from = current.estimate();
      const double known = std::abs(from.value) + std::abs(dot(move_, from.d)) + 2.0 * from.value_noise;
      const bool good = status == LinearStatus::converged && trial_.value_noise <= known; // y is near y*(x)
      if (good || ++shortenings_ > rule::most_shortenings) {
        return status;
      }
      hypergradient.go_back_to(knowledge_);
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
    if (trust_.given() && curvature > 0.0 && !current.hypergradient().is_curved() &&
        interpolation_holds(current, t, slope, curvature)) {
      direction_.learn(move_, change_, curvature);
      doubts_.move(t * norm(move_));
      region_.learn(std::max(1.0, t) * norm(move_), shortenings_ > 0, true);
      std::swap(here, interpolated_);
      ++interpolations_;
      return Trial::moved;
    }
    const bool lost_trust = trust_.lose() && !current.hypergradient().is_curved();
    const double predicted = slope + 0.5 * curvature;
    const bool agreed = agrees(here, trial_, predicted, rule::disagreement);
    if (!lost_trust && agreed && falls(here, trial_, slope)) {
      accept(here, curvature, predicted);
      return Trial::moved;
    }
    if (lost_trust && agreed) {
      return Trial::doubtful;
    }
    if (!doubted_ && shortenings_ >= rule::shortenings_that_doubt_d) {
      doubted_ = true;
      direction_.forget_what_led_along(slope);
      return Trial::doubtful;
    }
    const bool never_agrees = !agreed && doubted_ && shortenings_ >= rule::disagreements_in_a_row;
    if (++shortenings_ > rule::most_shortenings || never_agrees) {
      return Trial::exhausted;
    }
    if (!agreed) {
      doubts_.disagree(norm(move_));
    }
    current.hypergradient().go_back_to(knowledge_);
    scale(std::clamp(t, 0.1, agreed ? 0.5 : 0.25), move_);
    return Trial::too_far;
  }

  /// Moves to x + p.
  void accept(Estimate<V> &here, double curvature, double predicted) {
    direction_.learn(move_, change_, curvature);
    trust_.learn(curvature > 0.0 && predicts(here, trial_, predicted, rule::calm_match));
    if (!(curvature > 0.0)) {
      direction_.reach_farther();
    }
    doubts_.move(norm(move_));
    region_.learn(norm(move_), shortenings_ > 0, agrees(here, trial_, predicted, rule::close_agreement));
    std::swap(here, trial_);
  }

  /// Interpolates to the minimum of the line search, and asks F there whether φ is the quadratic it seems.
  [[nodiscard]] bool interpolation_holds(CurrentPoint<V> &current, double t, double slope, double curvature) {
    const Estimate<V> &here = current.estimate();
    interpolate(here, trial_, t, interpolated_);
    if (!current.box().holds(interpolated_.at.x)) {
      return false;
    }
    current.hypergradient().measure_value(interpolated_);
    return predicts(here, interpolated_, t * slope + 0.5 * t * t * curvature, rule::poor_match);
  }

  UpperDirection<V> direction_;
  QuadraticTrust trust_;
  TrustRegion region_;
  Doubts<V> doubts_;
  typename Hypergradient<ProblemView<V>>::Knowledge knowledge_ = {}; ///< before the trial
  Estimate<V> trial_;                                                ///< at x + p
  Estimate<V> interpolated_;                                         ///< at x + tp
  V move_;                                                           ///< p
  V change_;                                                         ///< Δd along p
  V free_;                                                           ///< the free part of d
  int shortenings_ = 0;                                              ///< of p
  Trial outcome_ = Trial::moved;
  bool doubted_ = false; ///< d was computed anew in this search, since no length of p was good
  std::int64_t interpolations_ = 0;
};

} // namespace duplex::automatic
