#pragma once
// Random quadratic bilevel problems in random units, and the best constant steps of BAGDC on each, found by a search
// that knows the spectra and sees the true hypergradient.

#include <duplex/problems/quadratic.hpp>

#include <cstdint>

namespace duplex::reproduce {

/// φ(x) = ½xᵀΦx + cᵀx + constant.
struct ScaledQuadratic {
  Quadratic<double> problem;
  Eigen::MatrixXd reduced_hessian; ///< Φ
  Eigen::VectorXd reduced_linear;  ///< c = ∇φ(0)
  double condition = 1.0;          ///< of the lower level

  /// ‖∇φ(x)‖ / ‖∇φ(0)‖
  [[nodiscard]] double relative_gradient(const Eigen::VectorXd &x) const {
    return (reduced_hessian * x + reduced_linear).norm() / reduced_linear.norm();
  }
};

/// Log-uniform: n and m in 2…300, the lower condition in 1…10³, the upper in 1…100, the lower cross term in .1…1, and
/// the units of F, f, x and y in 10⁻³…10³. G is full, so that both levels have cross terms.
[[nodiscard]] ScaledQuadratic draw_scaled_quadratic(std::uint64_t seed);

inline constexpr std::int64_t products_of_a_constant_step = 5;

struct ConstantSteps {
  std::int64_t products = 0; ///< to the tolerance; 0: not within the limit
  std::int64_t trials = 0;
};

/// A grid over α and β = η, then a search along each of α, β and η by ever smaller factors. A trial ends when it
/// cannot beat the best: the decay of ‖∇φ‖ over its last half, which only gets slower, says so.
[[nodiscard]] ConstantSteps search_constant_steps(const ScaledQuadratic &instance, double tolerance,
                                                  std::int64_t most_products);

} // namespace duplex::reproduce
