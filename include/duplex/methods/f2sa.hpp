#pragma once
// Fully First-order Stochastic Approximation (F2SA; Kwon, Kwon, Wright and Nowak, 2023), with gradients alone:
//
//   z ← z − β ∇y f(x, z)                         T times
//   w ← w − β (∇yF/λ + ∇y f)(x, w)               T times
//   d = ∇xF(x, w) + λ (∇x f(x, w) − ∇x f(x, z))       x⁺ = x − α d       λ⁺ = λ + δ
//
// The state's y is z, which follows the lower level's minimizer, and its v is λ(z − w). With λ held d is wrong by
// O(1/λ); where λ grows so does what errors of z and w make of d.
// Cost of a step: 3T + 3 gradients. Memory: three vectors like y, three like x. The paper
// lets the step of x shrink as λ grows; here `alpha` stays.

#include <duplex/method.hpp>
#include <duplex/methods/penalty/penalized_levels.hpp>

#include <cstdint>
#include <string_view>

namespace duplex {

struct F2sa {
  static constexpr std::string_view name = "f2sa";
  static constexpr std::string_view title = "Gradients alone: the lower level and a penalized copy of it, side by side";

  double alpha = 0.1;
  double beta = 0.2;
  std::int64_t inner = 10;
  double penalty = 10.0;
  double penalty_growth = 0.1;
  UpperRule upper = {};

  template <class Self, class Visit> static void fields(Self &self, Visit &&visit) {
    visit_penalty_fields(self, visit);
    visit("penalty", self.penalty, finite_positive, "lambda, the weight of f beside F, at the first step");
    visit("penalty-growth", self.penalty_growth, finite_non_negative, "by which lambda grows at each step");
    UpperRule::fields(self.upper, visit);
  }

  [[nodiscard]] MethodTraits traits() const { return {.upper = upper, .penalizes = true, .solves_inside = true}; }

  template <PenalizableProblem P> class Run;
};

template <PenalizableProblem P> class F2sa::Run final : public MethodRun<VectorOf<P>> {
public:
  using V = VectorOf<P>;

  Run(const F2sa &options, const P &problem, const State<V> &start)
      : options_(options), levels_(problem, start), penalized_y_(start.y), penalty_(options.penalty) {}

  StepReport step(State<V> &s, std::int64_t /*k*/, UpperUpdate<V> & /*upper*/) override {
    levels_.descend(s.x, options_.beta, options_.inner, s.y);
    for (std::int64_t t = 0; t < options_.inner; ++t) {
      levels_.stand_at(s.x, penalized_y_);
      levels_.take_slopes_in_y();
      levels_.move(options_.beta, 1.0 / penalty_, 1.0, penalized_y_);
    }
    levels_.stand_at(s.x, penalized_y_);
    levels_.take_slopes_in_x(s.x, s.y);
    levels_.set_direction(penalty_, penalized_y_, s.y, s.v);
    penalty_ += options_.penalty_growth;
    return {.steps = {.alpha = options_.alpha, .beta = options_.beta}};
  }

  [[nodiscard]] const V &direction() const override { return levels_.direction(); }
  template <class Archive> void archive(Archive &members) {
    members("penalized y", penalized_y_);
    members("penalty", penalty_);
  }

private:
  F2sa options_;
  PenalizedLevels<P> levels_;
  V penalized_y_; ///< w
  double penalty_;
};

} // namespace duplex
