#pragma once
// Bilevel Optimization Made Easy (BOME; Liu, Ye, Wright, Stone and Liu, 2022), with gradients alone. With
// q = f(x, y) − f(x, z), z held where T steps of descent from y have led, and ∇q = (∇x f(x, y) − ∇x f(x, z), ∇y f(x,
// y)):
//
//   λ = max(0, η − ⟨∇F, ∇q⟩/‖∇q‖²)               (x, y)⁺ = (x, y) − α (∇F + λ∇q)(x, y)
//
// so that q falls at least as fast as descent on q with the step ηα would make it. d is the part of x; the state's v is
// λ(z − y).
// Cost of a step: T + 5 gradients. Memory: three vectors like y, three like x.

#include <duplex/method.hpp>
#include <duplex/methods/penalty/penalized_levels.hpp>

#include <algorithm>
#include <cstdint>
#include <string_view>

namespace duplex {

struct Bome {
  static constexpr std::string_view name = "bome";
  static constexpr std::string_view title = "Gradients alone: descent on F that makes the lower level's excess fall";

  double alpha = 0.1;
  double beta = 0.2;
  std::int64_t inner = 10;
  double control = 0.5;
  UpperRule upper = {};

  template <class Self, class Visit> static void fields(Self &self, Visit &&visit) {
    visit_penalty_fields(self, visit);
    visit("control", self.control, finite_positive,
          "eta, how fast the lower level's excess falls beside plain descent");
    UpperRule::fields(self.upper, visit);
  }

  [[nodiscard]] MethodTraits traits() const { return {.upper = upper, .penalizes = true, .solves_inside = true}; }

  template <PenalizableProblem P> class Run;
};

template <PenalizableProblem P> class Bome::Run final : public MethodRun<VectorOf<P>> {
public:
  using V = VectorOf<P>;

  Run(const Bome &options, const P &problem, const State<V> &start)
      : options_(options), levels_(problem, start), minimizer_(zeros_like(start.y)) {}

  StepReport step(State<V> &s, std::int64_t /*k*/, UpperUpdate<V> & /*upper*/) override {
    assign(s.y, minimizer_);
    levels_.descend(s.x, options_.beta, options_.inner, minimizer_);
    levels_.stand_at(s.x, s.y);
    levels_.take_slopes_in_y();
    levels_.take_slopes_in_x(s.x, minimizer_);
    const double square = levels_.gap_square();
    const double penalty = square > 0.0 ? std::max(0.0, options_.control - levels_.gap_along_upper() / square) : 0.0;
    levels_.set_direction(penalty, s.y, minimizer_, s.v);
    levels_.move(options_.alpha, 1.0, penalty, s.y);
    // Where descent on F alone serves the lower level too, d is ∇xF, and may be zero where x is far from any solution.
    return {.steps = {.alpha = options_.alpha, .beta = options_.beta}, .tentative = penalty == 0.0};
  }

  [[nodiscard]] const V &direction() const override { return levels_.direction(); }
  template <class Archive> void archive(Archive & /*members*/) {} // nothing is carried from step to step

private:
  Bome options_;
  PenalizedLevels<P> levels_;
  V minimizer_; ///< z
};

} // namespace duplex
