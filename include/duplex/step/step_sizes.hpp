#pragma once
// Step sizes of a single-loop run: constant, Theorem 3.1's schedules, and the
// rules that choose the multiplier's step η from the residual.

#include <duplex/core/fields.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>

namespace duplex {

/// The numbers that one step uses.
struct StepSizes {
  double alpha = 0.0; ///< upper
  double beta = 0.0;  ///< lower
  double eta = 0.0;   ///< multiplier
  double mu = 0.0;    ///< weight of λF in ψ
};

enum class Schedule : std::uint8_t { constant, theorem };

constexpr std::array<std::string_view, 2> schedule_names{"constant", "theorem"};
constexpr const auto &names_of(Schedule /*unused*/) { return schedule_names; }

/// How the multiplier moves, with r = ∇yF − Hv:
///   constant         v += η r
///   adaptive         v += (rᵀr / rᵀHr) r: the exact line search on ½vᵀHv − vᵀ∇yF
///   relaxed          the same times a factor below one
///   polak_ribiere    v += (rᵀp / pᵀHp) p, p = r + max(0, rᵀ(r − r₋)/r₋ᵀr₋) p₋
/// All but the first cost one more Hessian product a step.
enum class DualStep : std::uint8_t { constant, adaptive, relaxed, polak_ribiere };

constexpr std::array<std::string_view, 4> dual_step_names{"constant", "adaptive", "relaxed", "polak-ribiere"};
constexpr const auto &names_of(DualStep /*unused*/) { return dual_step_names; }

/// μ_k = μ̄ (k+1)^−p, and either constant α, β, η or Theorem 3.1's
/// α_k = ᾱ μ_k¹¹, η_k = η̄ μ_k⁴ with β constant.
struct StepPolicy {
  double alpha = 0.1;
  double beta = 0.2;
  double eta = 1.0;
  double mu = 0.0;
  double mu_decay = 1.0 / 12.0;
  Schedule schedule = Schedule::constant;

  /// The policy of a method whose options have the same names.
  template <class Options> [[nodiscard]] static StepPolicy of(const Options &options) {
    return {options.alpha, options.beta, options.eta, options.mu, options.mu_decay, options.schedule};
  }

  [[nodiscard]] StepSizes at(std::int64_t k) const {
    StepSizes steps{.alpha = alpha, .beta = beta, .eta = eta, .mu = mu};
    if (mu > 0.0) {
      steps.mu = mu * std::pow(static_cast<double>(k + 1), -mu_decay);
    }
    if (schedule == Schedule::theorem) {
      const double mu2 = steps.mu * steps.mu;
      const double mu4 = mu2 * mu2;
      steps.alpha = alpha * mu4 * mu4 * mu2 * steps.mu;
      steps.eta = eta * mu4;
    }
    return steps;
  }
};

/// The options of a StepPolicy beside its steps, and those of the aggregated lower level, for a method's own fields().
template <class Self, class Visit> void visit_schedule_fields(Self &self, Visit &&visit) {
  visit("mu", self.mu, below_one, "mu_k = mu (k+1)^-mu-decay weighs F in the lower level (0: strongly convex f)");
  visit("mu-decay", self.mu_decay, finite_non_negative, "exponent of mu_k");
  visit("lambda", self.lambda, finite_positive, "scale of F in the aggregated lower level");
  visit("schedule", self.schedule, any_number, "constant steps or those of Theorem 3.1");
}

/// η from a squared length of the residual and a curvature along it. Where the
/// curvature is not positive, as on a singular Hessian, the line search has no
/// minimum and the previous η is kept.
class LineSearch {
public:
  LineSearch(double first, double cap) : last_(std::min(first, cap)), cap_(cap) {}

  /// rᵀp / pᵀHp, guarded and capped.
  [[nodiscard]] double step(double slope, double curvature, double squared_length) {
    constexpr double negligible = 1e-12;
    if (curvature > negligible * squared_length) {
      last_ = std::min(slope / curvature, cap_);
    }
    return last_;
  }

  template <class Archive> void archive(Archive &members) { members("last", last_); }

private:
  double last_;
  double cap_;
};

} // namespace duplex
