#pragma once
// What Theorem 3.3 promises where f is strongly convex in y: the step sizes that
// suffice, and the Lyapunov value that then never increases.

#include <duplex/measure/exact.hpp>

#include <algorithm>
#include <cmath>

namespace duplex {

/// Constants of a problem, over the region that a run visits.
struct ProblemConstants {
  double sigma = 1.0;            ///< strong convexity of f(x, ·)
  double lower_lipschitz = 1.0;  ///< L: Lipschitz constant of ∇f
  double upper_lipschitz = 1.0;  ///< L_F: Lipschitz constant of ∇F
  double second_lipschitz = 0.0; ///< ρ: Lipschitz constant of f's second derivatives
  double upper_slope = 0.0;      ///< sup‖∇yF‖, used only where ρ > 0
};

/// V = φ(x) + a‖y − y*(x)‖² + b‖v − v*(x)‖². The paper's general analysis has
/// a = b = ½; Theorem 3.3's has the weights below.
struct LyapunovWeights {
  double lower = 0.5;
  double multiplier = 0.5;
};

struct SufficientSteps {
  double alpha = 0.0;
  double beta = 0.0;
  double eta = 0.0;
  LyapunovWeights weights;
};

/// With κ = L/σ, C_v = sup‖∇yF‖/σ, M = L_F + ρC_v, L_v = (1+κ)(L_F + ρC_v)/σ
/// and L_φ = (1+κ)M + L·L_v:
///   β, η ≤ 2/(σ+L),
///   α ≤ min{ 1/(2L_φ), ½ [M²(1+4κ²)κ²/(βσ)² + 6L²L_v²/(ησ)²]^(−1/2) },
/// and V with b = 2αL²/(ησ), a = αM²(1+4κ²)/(βσ) does not increase, so that
/// min_{k≤K}‖∇φ(x_k)‖² ≤ 2(V_0 − inf φ)/(α(K+1)). β and η are shrunk by
/// `fraction` of their bounds.
[[nodiscard]] inline SufficientSteps sufficient_steps(const ProblemConstants &c, double fraction = 1.0) {
  if (!(c.sigma > 0.0) || !(c.lower_lipschitz >= c.sigma) || !(fraction > 0.0 && fraction <= 1.0)) {
    throw InvalidInput("sufficient_steps: sigma = " + field_text(c.sigma) +
                       ", lower_lipschitz = " + field_text(c.lower_lipschitz) + ", fraction = " + field_text(fraction) +
                       ", expected 0 < sigma <= lower_lipschitz and 0 < fraction <= 1");
  }
  const double kappa = c.lower_lipschitz / c.sigma;
  const double multiplier_bound = c.upper_slope / c.sigma;
  const double m = c.upper_lipschitz + c.second_lipschitz * multiplier_bound;
  const double lv = (1.0 + kappa) * m / c.sigma;
  const double lphi = (1.0 + kappa) * m + c.lower_lipschitz * lv;
  SufficientSteps steps;
  steps.beta = steps.eta = fraction * 2.0 / (c.sigma + c.lower_lipschitz);
  const double lower_term = m * m * (1.0 + 4.0 * kappa * kappa) * kappa * kappa / std::pow(steps.beta * c.sigma, 2);
  const double dual_term = 6.0 * std::pow(c.lower_lipschitz * lv, 2) / std::pow(steps.eta * c.sigma, 2);
  steps.alpha = std::min(0.5 / lphi, 0.5 / std::sqrt(lower_term + dual_term));
  steps.weights.multiplier = 2.0 * steps.alpha * std::pow(c.lower_lipschitz, 2) / (steps.eta * c.sigma);
  steps.weights.lower = steps.alpha * m * m * (1.0 + 4.0 * kappa * kappa) / (steps.beta * c.sigma);
  return steps;
}

/// V at a state, with the exact point of its x.
template <VectorSpace V>
[[nodiscard]] double lyapunov_value(const ExactPoint<V> &exact, const State<V> &state, const LyapunovWeights &weights,
                                    V &scratch) {
  const double lower = distance(state.y, exact.y, scratch);
  const double multiplier = distance(state.v, exact.v, scratch);
  return exact.value + weights.lower * lower * lower + weights.multiplier * multiplier * multiplier;
}

} // namespace duplex
