#pragma once
// The main part of an automatic run. One step of x costs an evaluation of the hypergradient at x + p, p by
// limited-memory BFGS, with y and v moved by conjugate gradients just far enough that d's error is a small share of
// ‖d‖. Everything is a ratio of measured quantities, so that no unit of F, f, x or y matters. Its parts:
//   CurrentPoint     where the run is, and d there as accurate as a step needs
//   UpperSearch      the move of x along p
//   BestPoint        what the run goes back to, and what it leaves where nothing can be improved
//   MuContinuation   ψ = μF + (1 − μ)f in the lower level's place where the lower Hessian is found to be singular
//   SuccessClaim     when d is small enough; the loop verifies that by other means (verification.hpp)
//
// Needs a problem that is the same at every step. Memory: up to 4·40 vectors of y's size for directions that conjugate
// gradients have met, 2·20 of x's size for secant pairs, and about five states.

#include <duplex/method.hpp>
#include <duplex/methods/automatic/best_point.hpp>
#include <duplex/methods/automatic/current_point.hpp>
#include <duplex/methods/automatic/dead_ends.hpp>
#include <duplex/methods/automatic/mu_continuation.hpp>
#include <duplex/methods/automatic/sharp_reference.hpp>
#include <duplex/methods/automatic/success_claim.hpp>
#include <duplex/methods/automatic/texts.hpp>
#include <duplex/methods/automatic/upper_search.hpp>
#include <duplex/problem/lower_units.hpp>
#include <duplex/problem/problem_view.hpp>

#include <cstddef>
#include <string>

namespace duplex::automatic {

struct GovernorOptions {
  double tolerance = 1e-5;     ///< on ‖∇φ‖ over that where the governor begins
  std::size_t directions = 40; ///< recycled between inner solves
  std::size_t pairs = 20;      ///< of limited-memory BFGS, and three times as many where x is small
};

template <VectorSpace V> class Governor {
public:
  Governor(const ProblemView<V> &problem, const State<V> &start, const GovernorOptions &options)
      : units_(problem), current_(units_.view(), units_.entered(start), options.directions),
        search_(options.pairs, start, problem.x_scale()), best_(units_.entered(start)),
        continuation_(offers_aggregation(problem)), claim_(options.tolerance), direction_(zeros_like(start.x)) {}

  /// Before the first step: from another point than the start; with y* and v* at the start, which were measured.
  void start_at(const State<V> &point) { current_.state() = units_.entered(point); }
  void begin_at(const SlopeMeter<V> &truth) { current_.begin_at(truth); }
  [[nodiscard]] bool has_begun() const { return found_.steps > 0; }
  /// φ was seen to fall without end: there is nothing to come nearer to.
  [[nodiscard]] bool has_no_end() const { return best_.has_no_end(); }

  /// One step; x, y and v are the state's. Moves x unless the run is at its end.
  StepReport step(State<V> &state) {
    StepReport report{.moved_x = true};
    const double mu = current_.mu();
    LinearStatus status = prepare();
    if (status == LinearStatus::converged && claim_.is_near(current_.slope())) {
      status = confirm();
    }
    if (status == LinearStatus::singular) {
      status = begin_aggregated();
    }
    current_.free_direction(direction_);
    ++found_.steps;
    const bool met_by_next_mu = current_.mu() != mu && claim_.is_near(current_.slope());
    if (status == LinearStatus::converged && !claim_.is_made() && !met_by_next_mu) {
      status = advance(report);
      if (status == LinearStatus::singular) {
        status = begin_aggregated();
      }
      const double slope = norm(direction_);
      report.steps.alpha = slope > 0.0 ? current_.distance_from(state.x) / slope : 0.0;
      found_.note_alpha(report.steps.alpha);
    }
    if (SlopeReport why; claim_.is_made() && search_.denies_success(current_, claim_.reference(), why)) {
      claim_.withdraw();
      automatic::stop<V>(report, "||d|| is as small as asked for", why);
    }
    report.claims = claim_.claimed_tolerance();
    report.steps.beta = current_.hypergradient().work().beta;
    report.steps.eta = current_.hypergradient().work().eta;
    report.steps.mu = current_.mu();
    end_where_nothing_helps(status, report, best_, current_, direction_);
    state = current_.state();
    units_.leave(state);
    return report;
  }

  [[nodiscard]] const V &direction() const { return direction_; }

  /// What became of the claim of the last step, whose truth is in the same units. False where there is nothing left to
  /// try.
  [[nodiscard]] bool learn(const Verdict &verdict, const SlopeMeter<V> &truth) {
    if (verdict.holds()) {
      return true;
    }
    claim_.withdraw();
    if (!verdict.known()) { // where H is assembled it is known not to be singular
      if (current_.hypergradient().is_direct() || !continuation_.can_begin(current_.mu())) {
        return false;
      }
      continuation_.suspect();
      return true;
    }
    if (!claim_.learn(verdict)) {
      return false;
    }
    if (current_.mu() > 0.0) {
      return continuation_.ask_for_smaller(current_.mu());
    }
    current_.take(truth);
    current_.tighten();
    return true;
  }

  template <class Archive> void archive(Archive &members) {
    members("units", units_);
    members("current", current_);
    members("search", search_);
    members("best", best_);
    members("continuation", continuation_);
    members("claim", claim_);
    members("direction", direction_);
    members("found", found_);
  }

  /// What was estimated and chosen, for people.
  [[nodiscard]] std::string explanation() const {
    auto found = found_;
    current_.report(found);
    search_.report(found);
    best_.report(found);
    found.relative_direction = claim_.reference() > 0.0 ? norm(direction_) / claim_.reference() : 0.0;
    return text_of(found);
  }

private:
  /// d at x, for the lower level that the last claim's verdict asks for. `singular` where that is ψ.
  [[nodiscard]] LinearStatus prepare() {
    const auto status = has_begun() ? LinearStatus::converged : begin();
    claim_.go_on();
    if (continuation_.take_suspicion()) {
      return LinearStatus::singular;
    }
    const double mu = continuation_.take_asked();
    return mu > 0.0 ? begin_with(mu) : status;
  }

  [[nodiscard]] LinearStatus begin() {
    const auto status = current_.begin();
    claim_.begin(current_.slope());
    best_.begin(current_);
    return status;
  }

  /// From where x is, with ψ = μF + (1 − μ)f for the lower level.
  [[nodiscard]] LinearStatus begin_with(double mu) {
    current_.aggregate(mu);
    search_.forget();
    return begin();
  }

  /// The lower Hessian is singular: ψ takes the lower level's place, where that is possible and has not been done yet.
  [[nodiscard]] LinearStatus begin_aggregated() {
    if (!continuation_.can_begin(current_.mu())) {
      return LinearStatus::singular;
    }
    claim_.forget_reference();
    return begin_with(continuation_.begin());
  }

  /// Claims success where d, computed so well that its error does not matter, is small enough, the lower level is met,
  /// and μ is as small as the tolerance; goes on with a smaller μ where that alone is missing.
  [[nodiscard]] LinearStatus confirm() {
    if (claim_.reference() > 0.0) {
      const double goal = claim_.goal();
      const auto status = current_.refresh(0.05 * goal);
      if (status != LinearStatus::converged || !(current_.slope() + current_.error() <= goal)) {
        current_.tighten();
        return status;
      }
    } else if (current_.box().exists()) { // the start is stationary, by a d that may be a rough one
      const auto status = current_.refresh(claim_.tolerance() * norm(current_.d()));
      claim_.begin(current_.slope());
      best_.remeasure(current_.slope());
      if (status != LinearStatus::converged || claim_.reference() > 0.0) {
        return status;
      }
    } // otherwise what is free of d vanishes at the start
    auto &hypergradient = current_.hypergradient();
    const double mu = current_.mu();
    if (!continuation_.lower_level_is_met(mu, hypergradient.upper_slope(),
                                          hypergradient.rounding_of_gradient(current_.state().y))) {
      return LinearStatus::singular;
    }
    if (!MuContinuation::is_over(mu, claim_.tolerance())) {
      return begin_with(MuContinuation::next(mu, claim_.tolerance()));
    }
    claim_.make();
    return LinearStatus::converged;
  }

  [[nodiscard]] LinearStatus advance(StepReport &report) {
    const auto status = search_.move(current_, [this] {
      const auto sharpened = sharpen_reference(claim_, current_, best_);
      current_.free_direction(direction_);
      return sharpened;
    });
    if (search_.is_exhausted()) {
      stop(report, "no step along the direction lowers F");
      return status;
    }
    return status == LinearStatus::converged ? settle(report) : status;
  }

  /// After a move: d anew where it is due, back to the best point where ‖d‖ has run away, an end where nothing moves.
  [[nodiscard]] LinearStatus settle(StepReport &report) {
    auto status = current_.refresh_if_due();
    if (current_.is_blurred()) {
      stop(report, "rounding leaves an error in y and v that d feels");
    }
    if (status == LinearStatus::converged && best_.ran_away(current_)) {
      search_.forget_pairs();
      status = best_.go_back(current_);
    }
    best_.note(current_);
    if (best_.falls_without_end(current_)) {
      report.failure = unbounded_text(best_.first_value(), current_.estimate().value, norm(current_.state().x));
    }
    if (search_.take_suspicion() && search_.probe(current_).finding == SlopeFinding::wrong) {
      stop(report, "steps have disagreed with d");
    }
    if (best_.is_stalled()) {
      stop(report, "the norm of d has not fallen for long");
    }
    return status;
  }

  void stop(StepReport &report, const char *why) { automatic::stop<V>(report, why, search_.probe(current_)); }

  LowerUnits<V> units_; ///< in which y and v are solved for
  CurrentPoint<V> current_;
  UpperSearch<V> search_;
  BestPoint<V> best_;
  MuContinuation continuation_;
  SuccessClaim claim_;
  V direction_; ///< d at x before the step
  Findings found_;
};

} // namespace duplex::automatic
