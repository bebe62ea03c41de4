#pragma once
// Penalty-based Bilevel Gradient Descent (V-PBGD; Shen and Chen, 2023), with gradients alone:
//
//   z ← y, then z ← z − β ∇y f(x, z)              T times
//   d = ∇xF(x, y) + γ (∇x f(x, y) − ∇x f(x, z))
//   y⁺ = y − α (∇yF/γ + ∇y f)(x, y)               x⁺ = x − (α/γ) d               γ⁺ = γ + δ
//
// which is gradient descent on F + γ (f − min f) with the step α/γ. The state's v is γ(z − y). With γ held d is wrong
// by O(1/γ), and by what T steps leave of the lower level. Cost of a step: T + 5 gradients. Memory: three vectors like
// y, three like x.

#include <duplex/method.hpp>
#include <duplex/methods/penalty/penalized_levels.hpp>

#include <cstdint>
#include <string_view>

namespace duplex {

struct Pbgd {
  static constexpr std::string_view name = "pbgd";
  static constexpr std::string_view title = "Gradients alone: descent on F with the lower level's excess as a penalty";

  double alpha = 0.1;
  double beta = 0.2;
  std::int64_t inner = 10;
  double penalty = 10.0;
  double penalty_growth = 0.0;
  UpperRule upper = {};

  template <class Self, class Visit> static void fields(Self &self, Visit &&visit) {
    visit_penalty_fields(self, visit);
    visit("penalty", self.penalty, finite_positive, "gamma, the weight of f beside F, at the first step");
    visit("penalty-growth", self.penalty_growth, finite_non_negative, "by which gamma grows at each step");
    UpperRule::fields(self.upper, visit);
  }

  [[nodiscard]] MethodTraits traits() const { return {.upper = upper, .penalizes = true, .solves_inside = true}; }

  template <PenalizableProblem P> class Run;
};

template <PenalizableProblem P> class Pbgd::Run final : public MethodRun<VectorOf<P>> {
public:
  using V = VectorOf<P>;

  Run(const Pbgd &options, const P &problem, const State<V> &start)
      : options_(options), levels_(problem, start), minimizer_(zeros_like(start.y)), penalty_(options.penalty) {}

  StepReport step(State<V> &s, std::int64_t /*k*/, UpperUpdate<V> & /*upper*/) override {
    assign(s.y, minimizer_);
    levels_.descend(s.x, options_.beta, options_.inner, minimizer_);
    levels_.stand_at(s.x, s.y);
    levels_.take_slopes_in_y();
    levels_.take_slopes_in_x(s.x, minimizer_);
    levels_.set_direction(penalty_, s.y, minimizer_, s.v);
    levels_.move(options_.alpha, 1.0 / penalty_, 1.0, s.y);
    const double upper_step = options_.alpha / penalty_;
    penalty_ += options_.penalty_growth;
    return {.steps = {.alpha = upper_step, .beta = options_.beta}};
  }

  [[nodiscard]] const V &direction() const override { return levels_.direction(); }
  template <class Archive> void archive(Archive &members) { members("penalty", penalty_); }

private:
  Pbgd options_;
  PenalizedLevels<P> levels_;
  V minimizer_; ///< z
  double penalty_;
};

} // namespace duplex
