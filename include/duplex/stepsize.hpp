#pragma once
// Step sizes of a single-loop run: constant, Theorem 3.1's schedules, and the
// rules that choose the multiplier's step η from the residual.

#include <duplex/fields.hpp>

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

/// What a step reports to the loop.
struct StepOutcome {
  StepSizes steps;
  std::string failure;     ///< empty unless the method could not do the step
  bool stuck = false;      ///< that is because nothing can be improved: the state is as good as it gets
  bool not_finite = false; ///< what failed met NaN or infinity
  bool moved_x = false;    ///< the step has moved x itself, by the rule that the loop handed to it
  bool tentative = false;  ///< d is not meant to be the hypergradient yet: no tolerance is judged by it
  double claims = 0.0; ///< the method takes ‖∇φ‖ to be this small beside the first, and x has stayed; zero: it does not
};

enum class Schedule : std::uint8_t { constant, theorem };

constexpr std::array<std::string_view, 2> schedule_names{"constant", "theorem"};
constexpr const auto &names_of(Schedule /*unused*/) { return schedule_names; }

/// Who chooses α, β and η: the run itself from what it measures (governed.hpp), unless the caller gives one of them or
/// a rule for them; or the caller, with defaults for what is not given.
enum class Steps : std::uint8_t { automatic, given };

constexpr std::array<std::string_view, 2> steps_names{"automatic", "given"};
constexpr const auto &names_of(Steps /*unused*/) { return steps_names; }

/// Whether a run of this solver chooses its own steps.
template <class S> [[nodiscard]] bool chooses_its_steps(const S &solver) {
  if constexpr (requires { solver.governs(); }) {
    return solver.governs();
  } else {
    return false;
  }
}

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
