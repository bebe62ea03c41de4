#pragma once
// The main part of an automatic run. One step of x costs an evaluation of the hypergradient at x + p, p by
// limited-memory BFGS, with y and v moved by conjugate gradients just far enough that d's error is a small share of
// ‖d‖. The secant along p gives the length t of the exact line search, and while φ behaves as a quadratic function the
// state there is interpolated, x + tp, y + tΔy, v + tΔv, d + tΔd, at no product. How well that works is measured: d is
// computed anew when its error may have grown, after some steps, and where F is not what the secant predicts; an x-step
// is then accepted by the fall of F alone. Everything is a ratio of measured quantities, so that no unit of F, f, x or
// y matters.
//
// Where the lower Hessian is found to be singular, μF + (1 − μ)f takes the lower level's place, with μ from one half
// down to the tolerance, each solution the start of the next.
//
// Where d with its error is below the tolerance the run claims success, and the loop verifies that by other means
// (verification.hpp); a claim that is refuted tells the run what the first ‖∇φ‖ was and where y and v are.
//
// Needs a problem that is the same at every step. Memory: up to 4·40 vectors of y's size for directions that conjugate
// gradients have met, 2·20 of x's size for secant pairs, and about five states.

#include <duplex/core/text.hpp>
#include <duplex/measure/verification.hpp>
#include <duplex/method.hpp>
#include <duplex/methods/automatic/hypergradient.hpp>
#include <duplex/methods/automatic/rules.hpp>
#include <duplex/methods/automatic/secant_pairs.hpp>
#include <duplex/methods/automatic/texts.hpp>
#include <duplex/methods/automatic/trust.hpp>
#include <duplex/problem/problem_view.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <utility>

namespace duplex::automatic {

struct GovernorOptions {
  double tolerance = 1e-5;     ///< on ‖∇φ‖ over that where the governor begins
  std::size_t directions = 40; ///< recycled between inner solves
  std::size_t pairs = 20;      ///< of limited-memory BFGS
};

template <VectorSpace V> class Governor {
public:
  Governor(const ProblemView<V> &problem, const State<V> &start, const GovernorOptions &options)
      : asked_(options.tolerance), tolerance_(options.tolerance), can_aggregate_(offers_aggregation(problem)),
        evaluation_(problem, start, options.directions), pairs_(options.pairs, start.x), here_(estimate_at(start)),
        trial_(here_), mixed_(here_), best_(start), direction_(zeros_like(start.x)), move_(zeros_like(start.x)),
        change_(zeros_like(start.x)), carried_(zeros_like(start.x)) {}

  /// Before the first step: from another point than the start.
  void start_at(const State<V> &point) {
    here_.at = point;
    best_ = point;
  }
  [[nodiscard]] bool has_begun() const { return found_.steps > 0; }
  /// What became of the claim of the last step. False where there is nothing left to try.
  [[nodiscard]] bool learn(const Verdict &verdict, const SlopeMeter<V> &truth) {
    if (verdict.holds()) {
      return true;
    }
    claimed_ = false;
    if (!verdict.known()) { // perhaps the lower Hessian is singular, and conjugate gradients have not met that
      refuted_ = LinearStatus::singular;
      return can_aggregate_ && evaluation_.mu() == 0.0;
    }
    if (verdict.hidden_by_rounding() || ++refutations_ > rule::most_refutations) {
      return false;
    }
    reference_ = verdict.first.norm;
    reference_error_ = verdict.first.error;
    sharpened_ = true;
    if (evaluation_.mu() > 0.0) { // the rest is what mu is off by
      next_mu_ = rule::mu_decay * evaluation_.mu();
      return next_mu_ > rule::smallest_mu;
    }
    assign(truth.y(), here_.at.y);
    assign(truth.v(), here_.at.v);
    assign(truth.hypergradient(), here_.d);
    share_ = std::max(rule::poor_match * share_, rule::smallest_share);
    return true;
  }

  /// One step; x, y and v are the state's. Moves x unless the run is at its end.
  StepReport step(State<V> &state) {
    StepReport outcome;
    outcome.moved_x = true;
    LinearStatus status = LinearStatus::converged;
    if (found_.steps == 0) {
      status = begin();
    }
    if (std::exchange(claimed_, false)) {
      tolerance_ *= rule::tighter;
    }
    bool converged = false;
    if (const auto refuted = std::exchange(refuted_, LinearStatus::converged); refuted != LinearStatus::converged) {
      status = refuted;
    } else if (const double mu = std::exchange(next_mu_, 0.0); mu > 0.0) {
      status = begin_with(mu);
    }
    if (status == LinearStatus::converged && norm(here_.d) <= rule::nearly * tolerance_ * reference_) {
      status = confirm(converged);
      if (converged && !lower_level_is_met()) {
        converged = false;
        status = LinearStatus::singular;
      } else if (converged && evaluation_.mu() > tolerance_) {
        converged = false;
        status = begin_with(std::max(rule::mu_decay * evaluation_.mu(), tolerance_));
      }
    }
    if (status == LinearStatus::singular) {
      status = begin_aggregated();
    }
    assign(here_.d, direction_);
    ++found_.steps;
    claimed_ = converged;
    outcome.claims = claimed_ ? tolerance_ : 0.0;
    if (status == LinearStatus::converged && !converged) {
      status = advance(outcome);
      if (status == LinearStatus::singular) {
        status = begin_aggregated();
      }
      const double length = norm(direction_);
      outcome.steps.alpha = length > 0.0 ? distance(here_.at.x, state.x, change_) / length : 0.0;
    }
    outcome.steps.beta = evaluation_.work().beta;
    outcome.steps.eta = evaluation_.work().eta;
    outcome.steps.mu = evaluation_.mu();
    if (outcome.stuck) {
      give_best();
      outcome.failure = stalled_text(outcome.failure, precision(direction_));
    }
    if (status != LinearStatus::converged) {
      outcome.stuck = false;
      outcome.failure = failure_text(status);
      outcome.not_finite = status == LinearStatus::not_finite;
    }
    state = here_.at;
    found_.note_alpha(outcome.steps.alpha);
    return outcome;
  }

  /// d at x before the step.
  [[nodiscard]] const V &direction() const { return direction_; }

  template <class Archive> void archive(Archive &members) {
    members("tolerance", tolerance_);
    members("claimed", claimed_);
    members("next mu", next_mu_);
    members("refutations", refutations_);
    bool is_refuted = refuted_ != LinearStatus::converged;
    members("refuted", is_refuted);
    refuted_ = is_refuted ? LinearStatus::singular : LinearStatus::converged;
    members("evaluation", evaluation_);
    members("pairs", pairs_);
    members("here", here_);
    members("best", best_);
    members("direction", direction_);
    members("reference", reference_);
    members("reference error", reference_error_);
    members("sharpened", sharpened_);
    members("lower slope", lower_slope_);
    members("best norm", best_norm_);
    members("share", share_);
    members("mismatch", mismatch_);
    members("scale", scale_);
    members("reach", reach_);
    members("growth limit", growth_limit_);
    members("trust", trust_);
    members("since refresh", since_refresh_);
    members("blurred", blurred_);
    members("without progress", without_progress_);
    members("found", found_);
    double asked_before = asked_;
    members("asked", asked_before);
    if (asked_ != asked_before) { // a run that goes on is asked for more, or for less
      tolerance_ = asked_;
      claimed_ = false;
    }
  }

  /// What was estimated and chosen, for people.
  [[nodiscard]] std::string explanation() const {
    auto found = found_;
    evaluation_.report(found);
    found.share = share_;
    found.relative_direction = reference_ > 0.0 ? norm(direction_) / reference_ : 0.0;
    return text_of(found);
  }

private:
  [[nodiscard]] LinearStatus begin() {
    const auto status = evaluation_.evaluate(here_, 0.0);
    evaluation_.learn(here_);
    reference_ = best_norm_ = norm(here_.d);
    best_ = here_.at;
    return status;
  }

  /// From where x is, with ψ for the lower level.
  [[nodiscard]] LinearStatus begin_with(double mu) {
    const double first = reference_;
    evaluation_.aggregate(mu);
    pairs_.forget();
    trust_ = {};
    scale_ = 0.0;
    reach_ = 1.0;
    growth_limit_ = rule::growth_that_restarts;
    share_ = rule::first_share;
    since_refresh_ = blurred_ = 0;
    without_progress_ = 0;
    const auto status = begin();
    reference_ = std::max(first, reference_); // that of the first ψ: near its solution the next one's says nothing
    return status;
  }

  /// Where ∇ψ = 0, ∇y f = −μ/(1 − μ) ∇yF: it must vanish with μ, or the lower level has no minimizer.
  [[nodiscard]] bool lower_level_is_met() {
    const double mu = evaluation_.mu();
    if (mu == 0.0) {
      return true;
    }
    const double before = std::exchange(lower_slope_, mu / (1.0 - mu) * evaluation_.upper_slope());
    return lower_slope_ <= rule::fall_with_mu * before || lower_slope_ <= evaluation_.rounding_of_gradient(here_.at);
  }

  [[nodiscard]] LinearStatus begin_aggregated() {
    if (!can_aggregate_ || evaluation_.mu() > 0.0) {
      return LinearStatus::singular;
    }
    reference_ = reference_error_ = 0.0;
    sharpened_ = false;
    lower_slope_ = infinity;
    return begin_with(rule::first_mu);
  }

  /// d anew at x; how far it was from what the interpolation said steers the share.
  [[nodiscard]] LinearStatus refresh(double level) {
    assign(here_.d, carried_);
    const auto status = evaluation_.evaluate(here_, level);
    axpy(-1.0, here_.d, carried_);
    mismatch_ = norm(carried_);
    since_refresh_ = 0;
    ++found_.refreshes;
    return status;
  }

  /// d anew, so well that its error does not matter.
  [[nodiscard]] LinearStatus confirm(bool &converged) {
    if (reference_ == 0.0) { // the start is stationary
      converged = true;
      return LinearStatus::converged;
    }
    const double goal = rule::nearly * tolerance_ * (reference_ - reference_error_);
    const auto status = refresh(0.05 * goal);
    converged = status == LinearStatus::converged && norm(here_.d) + evaluation_.error(here_) <= goal;
    if (!converged) {
      share_ = std::max(share_ * rule::poor_match, rule::smallest_share);
    }
    return status;
  }

  [[nodiscard]] LinearStatus advance(StepReport &outcome) {
    bool tightened = false;
    choose_move();
    for (int shortening = 0;;) {
      auto status = evaluate_trial();
      if (status != LinearStatus::converged) { // too far: the lower level is not what it is here
        if (++shortening > rule::most_shortenings) {
          return status;
        }
        scale(0.1, move_);
        continue;
      }
      status = sharpen_reference();
      if (status != LinearStatus::converged) {
        return status;
      }
      evaluation_.learn(here_, trial_);
      assign(trial_.d, change_);
      axpy(-1.0, here_.d, change_);
      const double curvature = dot(move_, change_);
      const double slope = dot(move_, here_.d);
      const double t = curvature > 0.0 ? -slope / curvature : 1.0;
      if (trust_.given() && curvature > 0.0 && interpolation_holds(t, slope, curvature)) {
        learn_pair(curvature);
        std::swap(here_, mixed_);
        ++found_.interpolated;
        return settle(outcome);
      }
      const bool lost_trust = trust_.lose();
      if (!lost_trust && falls(here_, trial_, slope)) {
        learn_pair(curvature);
        trust_.learn(curvature > 0.0 && predicts(here_, trial_, slope + 0.5 * curvature, rule::calm_match));
        if (!(curvature > 0.0)) {
          reach_ *= 4.0; // φ bends down along p: farther next time
        }
        std::swap(here_, trial_);
        return settle(outcome);
      }
      if (lost_trust || (!tightened && shortening >= rule::shortenings_that_doubt_d)) { // d itself may be what is wrong
        tightened = !lost_trust;
        shortening = 0;
        if (tightened) {
          pairs_.forget();
        }
        share_ = std::max(0.3 * share_, rule::smallest_share);
        status = refresh(share_ * norm(here_.d));
        if (status != LinearStatus::converged) {
          return status;
        }
        choose_move();
        continue;
      }
      if (++shortening > rule::most_shortenings) {
        outcome.stuck = true;
        outcome.failure = "no step along the direction lowers F";
        return LinearStatus::converged;
      }
      scale(std::clamp(t, 0.1, 0.5), move_);
    }
  }

  void choose_move() {
    pairs_.direction(here_.d, move_);
    if (!pairs_.empty() || scale_ > 0.0) {
      scale(pairs_.empty() ? reach_ * scale_ : reach_, move_);
      return;
    }
    const double length = norm(here_.d);
    const double value = std::abs(here_.value); // Polyak's step towards F = 0
    const bool says_something = value > 0.0 && std::isfinite(value) && length > 0.0;
    scale(says_something ? reach_ * value / (length * length) : reach_, move_);
  }

  [[nodiscard]] LinearStatus evaluate_trial() {
    assign(here_.at.x, trial_.at.x);
    assign(here_.at.y, trial_.at.y);
    assign(here_.at.v, trial_.at.v);
    axpy(1.0, move_, trial_.at.x);
    return evaluation_.evaluate(trial_, evaluation_.knows_gains() ? share_ * norm(here_.d) : 0.0);
  }

  /// The start's ‖d‖ is what everything is measured by: once the gains are known it must be right to a per cent.
  [[nodiscard]] LinearStatus sharpen_reference() {
    constexpr double accuracy = 0.01;
    if (evaluation_.knows_gains()) {
      return LinearStatus::converged;
    }
    evaluation_.learn(here_, trial_);
    if (std::exchange(sharpened_, true)) {
      return LinearStatus::converged;
    }
    auto status = LinearStatus::converged;
    if (evaluation_.error(here_) > accuracy * reference_) {
      status = refresh(accuracy * reference_);
      reference_ = best_norm_ = norm(here_.d);
      assign(here_.d, direction_);
    }
    reference_error_ = std::min(evaluation_.error(here_), 0.5 * reference_);
    return status;
  }

  /// Puts the state of the line search's minimum into mixed_, and asks F there whether φ is the quadratic it seems.
  [[nodiscard]] bool interpolation_holds(double t, double slope, double curvature) {
    interpolate(here_, trial_, t, mixed_);
    evaluation_.measure_value(mixed_);
    return predicts(here_, mixed_, t * slope + 0.5 * t * t * curvature, rule::poor_match);
  }

  void learn_pair(double curvature) {
    if (curvature > 100.0 * precision(move_) * norm(move_) * norm(change_)) {
      pairs_.add(move_, change_, curvature);
      scale_ = curvature / dot(change_, change_);
      reach_ = 1.0;
    }
  }

  /// Where nothing can be improved: the point at which ‖d‖ was smallest.
  void give_best() {
    if (norm(here_.d) > best_norm_) {
      here_.at = best_;
      if (refresh(share_ * best_norm_) != LinearStatus::converged) {
        here_.at = best_;
      }
    }
    assign(here_.d, direction_);
  }

  /// After a move: d anew where it is due, back to the best point where ‖d‖ has run away, an end where nothing moves.
  [[nodiscard]] LinearStatus settle(StepReport &outcome) {
    auto status = LinearStatus::converged;
    double length = norm(here_.d);
    if (++since_refresh_ >= rule::most_steps_without_refresh || evaluation_.error(here_) > rule::poor_match * length) {
      status = refresh(share_ * length);
      length = norm(here_.d);
      if (mismatch_ > rule::poor_match * length) {
        share_ = std::max(0.5 * share_, rule::smallest_share);
      } else if (mismatch_ < rule::good_match * length) {
        share_ = std::min(1.2 * share_, rule::largest_share);
      }
    }
    blurred_ = evaluation_.error(here_) > rule::poor_match * length ? blurred_ + 1 : 0;
    if (blurred_ > rule::most_blurred_steps) {
      outcome.stuck = true;
      outcome.failure = "rounding leaves an error in y and v that d feels";
    }
    if (status == LinearStatus::converged && length > growth_limit_ * best_norm_) {
      here_.at = best_;
      pairs_.forget();
      ++found_.restarts;
      growth_limit_ *= 10.0; // where φ is badly conditioned ‖d‖ may grow on its way: never restart for the same twice
      share_ = std::max(rule::poor_match * share_, rule::smallest_share);
      status = refresh(share_ * best_norm_);
      length = best_norm_ = norm(here_.d);
    }
    if (length < best_norm_) {
      best_norm_ = length;
      best_ = here_.at;
      without_progress_ = 0;
    } else if (++without_progress_ > rule::most_steps_without_progress) {
      outcome.stuck = true;
      outcome.failure = "the norm of d has not fallen for long";
    }
    return status;
  }

  double asked_; ///< of the caller
  double tolerance_;
  bool claimed_ = false;                           ///< by the last step
  LinearStatus refuted_ = LinearStatus::converged; ///< what a refuted claim says of the lower level
  double next_mu_ = 0.0;                           ///< after a refuted claim; zero: as it is
  int refutations_ = 0;
  bool can_aggregate_;
  Hypergradient<ProblemView<V>> evaluation_;
  SecantPairs<V> pairs_;
  Estimate<V> here_;
  Estimate<V> trial_;
  Estimate<V> mixed_;
  State<V> best_;
  V direction_;
  V move_;
  V change_;
  V carried_;
  double reference_ = 0.0; ///< ‖d‖ at the start
  double reference_error_ = 0.0;
  bool sharpened_ = false;        ///< the reference is right
  double lower_slope_ = infinity; ///< ‖∇y f‖ where ψ was last minimal
  double best_norm_ = 0.0;
  double share_ = rule::first_share;
  double mismatch_ = 0.0; ///< of d as carried along and as computed anew
  double scale_ = 0.0;    ///< pᵀΔd/ΔdᵀΔd of the last pair
  double reach_ = 1.0;
  double growth_limit_ = rule::growth_that_restarts;
  QuadraticTrust trust_;
  int since_refresh_ = 0;
  int blurred_ = 0; ///< steps in a row after which d's error was too large although y and v were solved anew
  std::int64_t without_progress_ = 0;
  Findings found_;
};

} // namespace duplex::automatic
