#pragma once
// Moreau Envelope based Hessian-free Algorithm (MEHA; Liu, Liu, Yao, Zeng and Zhang, 2024), with gradients alone, for
// lower levels that need not be convex. f − min f is replaced by f − (its Moreau envelope), which z finds:
//
//   z⁺ = z − β (∇y f(x, z) + (z − y)/γ)
//   d  = ∇xF(x, y) + c (∇x f(x, y) − ∇x f(x, z⁺))               x⁺ = x − (α/c) d                c = c₀ (k + 1)^p
//   y⁺ = y − β ((∇yF/c + ∇y f)(x⁺, y) − (y − z⁺)/γ)
//
// A step here begins with that of y which the step of x before has made possible. The state's v is c(z⁺ − y). With c
// held d is wrong by O(1/c).
// Cost of a step: 6 gradients, without an inner loop. Memory: three vectors like y, three like x.

#include <duplex/method.hpp>
#include <duplex/methods/penalty/penalized_levels.hpp>

#include <cmath>
#include <cstdint>
#include <string_view>
#include <utility>

namespace duplex {

struct Meha {
  static constexpr std::string_view name = "meha";
  static constexpr std::string_view title = "Gradients alone, a single loop, by the Moreau envelope of the lower level";

  double alpha = 0.1;
  double beta = 0.2;
  double penalty = 1.0;
  double penalty_exponent = 0.25;
  double proximal = 10.0;
  UpperRule upper = {};

  template <class Self, class Visit> static void fields(Self &self, Visit &&visit) {
    visit_step_fields(self, visit);
    visit("penalty", self.penalty, finite_positive, "c0, the weight of f beside F, at the first step");
    visit("penalty-exponent", self.penalty_exponent, Bound{.low = 0.0, .high = 0.5, .high_open = true},
          "p, by which the weight grows as (k+1)^p");
    visit("proximal", self.proximal, finite_positive, "gamma, over which the Moreau envelope looks");
    UpperRule::fields(self.upper, visit);
  }

  [[nodiscard]] MethodTraits traits() const { return {.upper = upper, .penalizes = true}; }

  template <PenalizableProblem P> class Run;
};

template <PenalizableProblem P> class Meha::Run final : public MethodRun<VectorOf<P>> {
public:
  using V = VectorOf<P>;

  Run(const Meha &options, const P &problem, const State<V> &start)
      : options_(options), levels_(problem, start), envelope_(start.y) {}

  StepReport step(State<V> &s, std::int64_t k, UpperUpdate<V> & /*upper*/) override {
    const double nearness = 1.0 / options_.proximal;
    levels_.stand_at(s.x, s.y);
    levels_.take_slopes_in_y();
    if (std::exchange(has_begun_, true)) {
      levels_.move_away(options_.beta, 1.0 / weight_at(k - 1), nearness, envelope_, s.y);
    }
    levels_.descend(s.x, options_.beta, 1, envelope_, nearness, &s.y);
    levels_.stand_at(s.x, s.y);
    levels_.take_slopes_in_x(s.x, envelope_);
    levels_.set_direction(weight_at(k), s.y, envelope_, s.v);
    return {.steps = {.alpha = options_.alpha / weight_at(k), .beta = options_.beta}};
  }

  [[nodiscard]] const V &direction() const override { return levels_.direction(); }
  template <class Archive> void archive(Archive &members) {
    members("envelope", envelope_);
    members("has begun", has_begun_);
  }

private:
  /// c at step k.
  [[nodiscard]] double weight_at(std::int64_t k) const {
    return options_.penalty * std::pow(static_cast<double>(k + 1), options_.penalty_exponent);
  }

  Meha options_;
  PenalizedLevels<P> levels_;
  V envelope_; ///< z
  bool has_begun_ = false;
};

} // namespace duplex
