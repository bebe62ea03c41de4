#pragma once
// Bilevel Alternating Gradient with Dual Correction (the paper's Algorithm 1).
// With ψ = μ_k λ F + (1 − μ_k) f, in Gauss–Seidel order:
//
//   y⁺ = y − β_k ∇yψ(x, y)
//   v⁺ = v + η_k (∇yF(x, y⁺) − ∇²yyψ(x, y⁺) v)
//   d  = ∇xF(x, y⁺) − ∇²xyψ(x, y) v⁺            x⁺ = x − α_k d
//
// Cost of a step with μ = 0: three gradients, one Hessian product, one cross
// product; one more Hessian product with a line search on η. Memory: six
// vectors beside the state. Keep μ = 0 where f is strongly convex in y.
//
// Beyond the paper: with mixing = m the steps of y and of v are those of Anderson mixing over
// their last m moves, at no product and 4m + 6 vectors more. Where no step is given the run finds its steps itself
// (governed.hpp), and opens with single steps where the scale of x is known (governed/opening.hpp).

#include <duplex/aggregate.hpp>
#include <duplex/fused.hpp>
#include <duplex/governed.hpp>
#include <duplex/governed/opening.hpp>
#include <duplex/mixing.hpp>
#include <duplex/solver.hpp>

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace duplex {

struct Bagdc {
  static constexpr std::string_view name = "bagdc";
  static constexpr std::string_view title =
      "Bilevel Alternating Gradient with Dual Correction: one loop, one multiplier";

  double alpha = 0.0; ///< 0 here and in the next two: not given
  double beta = 0.0;
  double eta = 0.0;
  DualStep dual = DualStep::adaptive;
  double relaxation = 0.9;
  double eta_cap = infinity;
  double mu = 0.0;
  double mu_decay = 1.0 / 12.0;
  double lambda = 1.0;
  Schedule schedule = Schedule::constant;
  int mixing = 0;
  bool fused = true;
  Steps steps = Steps::automatic;
  double tolerance = 1e-5;
  bool opening = true;
  double upper_scale = 0.0;
  UpperRule upper = {};

  template <class Self, class Visit> static void fields(Self &self, Visit &&visit) {
    visit("alpha", self.alpha, finite_non_negative,
          "upper step size (schedule = theorem: its factor of mu^11; 0: the run's own, or 0.1)");
    visit("beta", self.beta, finite_non_negative, "lower step size (0: the run's own, or 0.2)");
    visit("eta", self.eta, finite_non_negative,
          "multiplier step size where dual = constant (theorem: factor of mu^4; 0: the run's own, or 1)");
    visit("dual", self.dual, any_number, "how the multiplier's step is chosen");
    visit("relaxation", self.relaxation, Bound{.low = 0.0, .high = 2.0, .low_open = true, .high_open = true},
          "factor on the line search where dual = relaxed");
    visit("eta-cap", self.eta_cap, positive, "largest step that a line search may take");
    visit("mu", self.mu, below_one, "mu_k = mu (k+1)^-mu-decay weighs F in the lower level (0: strongly convex f)");
    visit("mu-decay", self.mu_decay, finite_non_negative, "exponent of mu_k");
    visit("lambda", self.lambda, finite_positive, "scale of F in the aggregated lower level");
    visit("schedule", self.schedule, any_number, "constant steps or those of Theorem 3.1");
    visit("mixing", self.mixing, Bound{.low = 0.0, .high = most_mixed_pairs},
          "pairs of Anderson mixing of the steps of y and v (0: none)");
    visit("fused", self.fused, any_number, "use the problem's fused step where it has one");
    visit("steps", self.steps, any_number,
          "automatic: the run chooses all of them, unless one or a rule for one is given");
    visit("tolerance", self.tolerance, Bound{.low = 0.0, .high = 1.0, .low_open = true, .high_open = true},
          "automatic steps: stop when the hypergradient is verified to be this small beside the first exact one");
    visit("opening", self.opening, any_number, "automatic steps: open with single steps where the scale of x is known");
    visit("upper-scale", self.upper_scale, finite_non_negative,
          "automatic steps: a change of x that matters (0: as the problem says)");
    UpperRule::fields(self.upper, visit);
  }

  [[nodiscard]] bool needs_aggregation() const { return mu > 0.0; }

  /// Whether the run chooses its steps: none is given, and no rule for one.
  [[nodiscard]] bool governs() const {
    const Bagdc usual;
    return steps == Steps::automatic && alpha == 0.0 && beta == 0.0 && eta == 0.0 && dual == usual.dual &&
           relaxation == usual.relaxation && eta_cap == usual.eta_cap && mu == 0.0 && schedule == usual.schedule &&
           mixing == 0 && upper.method == UpperMethod::gradient;
  }

  /// What one step learns serves the next: they must see one problem.
  [[nodiscard]] bool refuses_samples() const { return governs(); }

  /// Whether every step is the same operations with the same numbers, and reads nothing of what they give.
  [[nodiscard]] bool repeats() const {
    return !governs() && dual == DualStep::constant && schedule == Schedule::constant && mu == 0.0 && mixing == 0;
  }

  [[nodiscard]] StepPolicy policy() const {
    const auto or_default = [](double given, double otherwise) { return given > 0.0 ? given : otherwise; };
    return {.alpha = or_default(alpha, 0.1),
            .beta = or_default(beta, 0.2),
            .eta = or_default(eta, 1.0),
            .mu = mu,
            .mu_decay = mu_decay,
            .schedule = schedule};
  }

  template <SecondOrderProblem P> class Run;
};

template <SecondOrderProblem P> class Bagdc::Run {
public:
  using V = VectorOf<P>;

  Run(const Bagdc &options, const P &problem, const State<V> &start)
      : options_(options), policy_(options.policy()), search_(policy_.eta, options.eta_cap), here_(problem),
        next_(problem), up_(problem.upper()), y_next_(zeros_like(start.y)), gradient_(zeros_like(start.y)),
        residual_(zeros_like(start.y)), product_(zeros_like(start.y)), direction_(zeros_like(start.x)),
        cross_(zeros_like(start.x)) {
    if (options.schedule == Schedule::theorem && options.mu == 0.0) {
      throw InvalidInput("bagdc: schedule = theorem with mu = 0, expected mu > 0 (its steps are powers of mu)");
    }
    if (options.schedule == Schedule::theorem && options.dual != DualStep::constant) {
      throw InvalidInput("bagdc: schedule = theorem with dual = " + field_text(options.dual) +
                         ", expected dual = constant (the schedule gives eta)");
    }
    const Bagdc usual;
    if (options.mu == 0.0 && options.mu_decay != usual.mu_decay) {
      refuse_ignored(name, "mu-decay", options.mu_decay, "mu > 0");
    }
    if (options.mu == 0.0 && options.lambda != usual.lambda) {
      refuse_ignored(name, "lambda", options.lambda, "mu > 0");
    }
    if (!options.governs() && options.tolerance != usual.tolerance) {
      throw InvalidInput(
          "bagdc: tolerance = " + field_text(options.tolerance) +
          " with steps that are given, expected direction-tolerance or kkt-tolerance of the run (it ends "
          "runs that choose their steps)");
    }
    if (!options.governs() && options.upper_scale > 0.0) {
      throw InvalidInput("bagdc: upper-scale = " + field_text(options.upper_scale) +
                         " with steps that are given, expected no step or rule beside it (it opens runs that choose "
                         "their steps)");
    }
    if (options.governs()) {
      governor_.emplace(problem, start, governed::GovernorOptions{.tolerance = options.tolerance});
      const double scale_of_x = options.upper_scale > 0.0 ? options.upper_scale : duplex::upper_scale(problem);
      if (options.opening && scale_of_x > 0.0) {
        opening_.emplace(scale_of_x, start);
        options_.dual = DualStep::constant;
        start_mixing(governed::rule::mixed_pairs, start);
        start_fused(problem, start);
      }
      return;
    }
    if (options.dual == DualStep::polak_ribiere) {
      residual_before_ = zeros_like(start.y);
      conjugate_ = zeros_like(start.y);
    }
    if (options.mixing > 0) {
      if (options.dual == DualStep::polak_ribiere) {
        throw InvalidInput("bagdc: mixing = " + field_text(options.mixing) +
                           " with dual = polak-ribiere, expected one of the other duals (both choose v's direction)");
      }
      start_mixing(options.mixing, start);
    }
    start_fused(problem, start);
  }

  StepOutcome step(State<V> &s, std::int64_t k, UpperUpdate<V> &move) {
    if (opens()) {
      return open(s);
    }
    if (governor_) {
      return governor_->step(s);
    }
    return single_step(s, policy_.at(k), move);
  }

  [[nodiscard]] const V &direction() const { return governs_now() ? governor_->direction() : direction_; }
  /// y before the step, which has changed places with y⁺; a fused step keeps none.
  [[nodiscard]] const V *lower_point() const { return fused_ || governs_now() ? nullptr : &y_next_; }
  /// What became of the last step's claim. False where there is nothing left to try.
  [[nodiscard]] bool learn(const Verdict &verdict, const SlopeMeter<V> &truth) {
    return governor_ && governor_->learn(verdict, truth);
  }
  /// What was measured and chosen, where the steps are automatic.
  [[nodiscard]] std::string explanation() const {
    std::string text;
    if (opening_) {
      text = opening_->explanation();
    }
    if (governor_ && (governor_->has_begun() || !opening_)) {
      text += (text.empty() ? "" : "\n") + governor_->explanation();
    }
    return text;
  }

  template <class Archive> void archive(Archive &members) {
    members("search", search_);
    members("residual before", residual_before_);
    members("conjugate", conjugate_);
    members("y mixing", y_mixing_);
    members("v mixing", v_mixing_);
    members("fused", fused_);
    members("opening", opening_);
    members("governor", governor_);
  }

private:
  [[nodiscard]] bool opens() const { return opening_ && !opening_->over(); }
  [[nodiscard]] bool governs_now() const { return governor_ && (!opening_ || governor_->has_begun()); }

  StepOutcome open(State<V> &s) {
    here_.weigh(0.0, options_.lambda);
    StepOutcome outcome = single_step(s, opening_->steps(here_, s, y_mixing_->restarts()), opening_->move());
    outcome.tentative = true;
    opening_->learn(direction_);
    if (const State<V> *back = opening_->way_back()) {
      s = *back;
      assign(opening_->last_good_direction(), direction_);
      outcome.moved_x = true;
    } else if (!std::exchange(outcome.moved_x, true)) {
      opening_->move().apply(outcome.steps.alpha, direction_, s.x);
    }
    if (opening_->over()) {
      governor_->start_at(s);
    }
    return outcome;
  }

  StepOutcome single_step(State<V> &s, StepSizes chosen, UpperUpdate<V> &move) {
    if (fused_) {
      chosen.eta = fused_->step(s, chosen, fused_rules(), move, direction_);
      return {.steps = chosen, .failure = {}, .moved_x = true};
    }
    here_.weigh(chosen.mu, options_.lambda);
    next_.weigh(chosen.mu, options_.lambda);

    here_.at(s.x, s.y);
    here_.grad_y(gradient_);
    assign(s.y, y_next_);
    advance(y_mixing(), -chosen.beta, gradient_, y_next_);

    next_.at(s.x, y_next_);
    up_.at(s.x, y_next_);
    up_.grad_y(residual_);
    next_.hess_yy(s.v, product_);
    axpy(-1.0, product_, residual_);
    chosen.eta = move_multiplier(s.v, chosen.eta);

    implicit_direction(here_, up_, s.v, direction_, cross_);
    std::swap(s.y, y_next_);
    return {.steps = chosen, .failure = {}};
  }

  void start_mixing(int pairs, const State<V> &start) {
    y_mixing_.emplace(pairs, start.y);
    v_mixing_.emplace(pairs, start.v);
  }

  void start_fused(const P &problem, const State<V> &start) {
    if constexpr (FusedProblem<P>) {
      if (options_.fused && options_.mu == 0.0) {
        fused_ = problem.fused_bagdc();
      }
      if (fused_ && !fused_->supports(options_.dual, y_mixing_.has_value())) {
        fused_.reset();
      }
      if (fused_) {
        fused_->begin(start);
      }
    }
  }

  [[nodiscard]] FusedRules<V> fused_rules() {
    return {.dual = options_.dual,
            .relaxation = relaxation(),
            .search = &search_,
            .y_mixing = y_mixing(),
            .v_mixing = v_mixing()};
  }

  [[nodiscard]] AndersonMixing<V> *y_mixing() { return y_mixing_ ? &*y_mixing_ : nullptr; }
  [[nodiscard]] AndersonMixing<V> *v_mixing() { return v_mixing_ ? &*v_mixing_ : nullptr; }

  [[nodiscard]] double relaxation() const { return options_.dual == DualStep::relaxed ? options_.relaxation : 1.0; }

  /// v moves along the residual r, or along a conjugate direction; returns η.
  double move_multiplier(V &v, double constant_eta) {
    switch (options_.dual) {
    case DualStep::constant:
      advance(v_mixing(), constant_eta, residual_, v);
      return constant_eta;
    case DualStep::adaptive:
    case DualStep::relaxed:
      return search_along(residual_, v);
    case DualStep::polak_ribiere:
      break;
    }
    const double rr_before = dot(residual_before_, residual_before_);
    const double rr = dot(residual_, residual_);
    const double mixed = dot(residual_, residual_before_);
    scale(rr_before > 0.0 ? std::max(0.0, (rr - mixed) / rr_before) : 0.0, conjugate_);
    axpy(1.0, residual_, conjugate_);
    if (!(dot(residual_, conjugate_) > 0.0)) { // the target moved: p no longer ascends, start afresh
      assign(residual_, conjugate_);
    }
    assign(residual_, residual_before_);
    return search_along(conjugate_, v);
  }

  double search_along(const V &p, V &v) {
    next_.hess_yy(p, product_);
    const double searched_eta = relaxation() * search_.step(dot(residual_, p), dot(p, product_), dot(p, p));
    advance(v_mixing(), searched_eta, p, v);
    return searched_eta;
  }

  struct NoFused {
    void begin(const State<V> & /*unused*/) {}
    [[nodiscard]] static bool supports(DualStep /*unused*/, bool /*unused*/) { return false; }
    static double step(State<V> & /*unused*/, const StepSizes &given, const FusedRules<V> & /*unused*/,
                       UpperUpdate<V> & /*unused*/, V & /*unused*/) {
      return given.eta;
    }
    template <class Archive> void archive(Archive & /*unused*/) {}
  };
  template <class Q> struct FusedType { using type = NoFused; };
  template <FusedProblem Q> struct FusedType<Q> { using type = FusedOf<Q>; };

  Bagdc options_;
  StepPolicy policy_;
  LineSearch search_;
  AggregatedLower<P> here_;
  AggregatedLower<P> next_;
  UpperOf<P> up_;
  std::optional<typename FusedType<P>::type> fused_;
  std::optional<governed::Opening<V>> opening_;
  std::optional<governed::Governor<P>> governor_;
  V y_next_;
  V gradient_;
  V residual_;
  V product_;
  V direction_;
  V cross_;
  V residual_before_;
  V conjugate_;
  std::optional<AndersonMixing<V>> y_mixing_;
  std::optional<AndersonMixing<V>> v_mixing_;
};

} // namespace duplex
