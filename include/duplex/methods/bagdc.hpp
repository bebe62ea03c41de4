#pragma once
// Bilevel Alternating Gradient with Dual Correction (Algorithm 1), with ψ = μ_k λ F + (1 − μ_k) f:
//
//   y⁺ = y − β_k ∇yψ(x, y)
//   v⁺ = v + η_k (∇yF(x, y⁺) − ∇²yyψ(x, y⁺) v)
//   d  = ∇xF(x, y⁺) − ∇²xyψ(x, y) v⁺            x⁺ = x − α_k d
//
// Cost of a step with μ = 0: three gradients, one Hessian product (two with a line search on η), one cross product.
// Memory: six vectors beside the state; 4m + 6 more with mixing = m, which is not the paper's.

#include <duplex/method.hpp>
#include <duplex/problem/fused.hpp>
#include <duplex/step/multiplier_rule.hpp>

#include <cstdint>
#include <string_view>
#include <utility>

namespace duplex {

struct Bagdc {
  static constexpr std::string_view name = "bagdc";
  static constexpr std::string_view title = "Bilevel Alternating Gradient with Dual Correction: a single loop";
  // Thirteen members, because each is an option of Algorithm 1 that a caller sets by itself.
  double alpha = 0.0; ///< Zero, here and in the next: not given, which is refused.
  double beta = 0.0;
  double eta = 1.0;
  DualStep dual = DualStep::adaptive;
  double relaxation = 0.9;
  double eta_cap = infinity;
  double mu = 0.0;
  double mu_decay = 1.0 / 12.0;
  double lambda = 1.0;
  Schedule schedule = Schedule::constant;
  int mixing = 0;
  bool fused = true;
  UpperRule upper = {};

  template <class Self, class Visit> static void fields(Self &self, Visit &&visit) {
    visit("alpha", self.alpha, finite_non_negative, "upper step size (theorem: factor of mu^11)", Role::upper_step);
    visit("beta", self.beta, finite_non_negative, "lower step size", Role::lower_step);
    visit_multiplier_fields(self, visit);
    visit_schedule_fields(self, visit);
    visit("mixing", self.mixing, mixing_bound, "pairs of Anderson mixing of the steps of y and v (0: none)");
    visit("fused", self.fused, any_number, "use the problem's fused step where it has one");
    UpperRule::fields(self.upper, visit);
  }

  [[nodiscard]] MethodTraits traits() const {
    refuse_contradictions();
    return {.upper = upper, .aggregates = mu > 0.0, .repeats = dual == DualStep::constant && mu == 0.0 && mixing == 0};
  }
  /// Throws InvalidInput where steps are missing or options contradict one another.
  void refuse_contradictions() const;
  template <SecondOrderProblem P> class Run;
};

template <SecondOrderProblem P> class Bagdc::Run : public MethodRun<VectorOf<P>> {
public:
  using V = VectorOf<P>;
  Run(const Bagdc &options, const P &problem, const State<V> &start)
      : policy_(StepPolicy::of(options)), lambda_(options.lambda), psi_(problem), psi_next_(problem),
        upper_(problem.upper()), y_mover_(options.mixing, start.y), multiplier_(options, start.v),
        y_next_(zeros_like(start.y)), gradient_(y_next_), direction_(zeros_like(start.x)), cross_(direction_) {
    if (options.fused && options.mu == 0.0) {
      fused_ = FusedStep<P>(problem, options.dual, options.mixing > 0, start);
    }
  }

  StepReport step(State<V> &s, std::int64_t k, UpperUpdate<V> &move) override {
    return step_by(policy_.at(k), s, move);
  }
  StepReport step_by(StepSizes size, State<V> &s, UpperUpdate<V> &move) {
    if (fused_) {
      size.eta = fused_.step(s, size, multiplier_.with(y_mover_), move, direction_);
      return {.steps = size, .moved_x = true};
    }
    psi_.weigh(size.mu, lambda_);
    psi_.at(s.x, s.y);
    psi_.grad_y(gradient_);
    assign(s.y, y_next_);
    y_mover_.move(-size.beta, gradient_, y_next_); // y⁺ = y − β ∇yψ(x, y)

    psi_next_.weigh(size.mu, lambda_);
    psi_next_.at(s.x, y_next_);
    upper_.at(s.x, y_next_);
    size.eta = multiplier_.move(psi_next_, upper_, size.eta, s.v); // v⁺ = v + η (∇yF(x, y⁺) − ∇²yyψ(x, y⁺) v)

    implicit_direction(psi_, upper_, s.v, direction_, cross_); // d = ∇xF(x, y⁺) − ∇²xyψ(x, y) v⁺
    std::swap(s.y, y_next_);
    return {.steps = size};
  }

  [[nodiscard]] const V &direction() const override { return direction_; }
  /// y before the step, which has changed places with y⁺; a fused step keeps none.
  [[nodiscard]] const V *lower_point() const override { return fused_ ? nullptr : &y_next_; }
  [[nodiscard]] Mover<V> &y_mover() { return y_mover_; }

  template <class Archive> void archive(Archive &members) {
    members("y mover", y_mover_);
    members("multiplier", multiplier_);
    members("fused", fused_);
  }

private:
  StepPolicy policy_;
  double lambda_;
  AggregatedLower<P> psi_;
  AggregatedLower<P> psi_next_;
  UpperOf<P> upper_;
  FusedStep<P> fused_;
  Mover<V> y_mover_;
  MultiplierRule<V> multiplier_;
  V y_next_;
  V gradient_;
  V direction_;
  V cross_;
};

} // namespace duplex
