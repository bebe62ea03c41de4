// How v moves, against formulas worked out by hand.

#include "support.hpp"

#include <duplex/step/multiplier_rule.hpp>

namespace duplex::testing {
namespace {

/// ∇²yyψ = diag(2, 8), ∇yF = b.
struct Level {
  Vec b = Vec::Constant(2, 4.0);
  void grad_y(Vec &out) const { out = b; }
  static void hess_yy(const Vec &v, Vec &out) { out = Vec(Eigen::Vector2d(2.0 * v[0], 8.0 * v[1])); }
};

double moved(const Bagdc &options, int times, Vec &v) {
  MultiplierRule<Vec> rule(options, v);
  Level level;
  double eta = 0.0;
  for (int k = 0; k < times; ++k) {
    eta = rule.move(level, level, options.eta, v);
  }
  return eta;
}

TEST(MultiplierRule, ThatIsConstantMovesByEtaTimesTheResidual) {
  Vec v = Vec::Ones(2);
  EXPECT_EQ(moved({.eta = 0.25, .dual = DualStep::constant}, 1, v), 0.25);
  EXPECT_EQ(v[0], 1.0 + 0.25 * (4.0 - 2.0));
  EXPECT_EQ(v[1], 1.0 + 0.25 * (4.0 - 8.0));
}

TEST(MultiplierRule, ThatIsAdaptiveMinimizesAlongTheResidual) {
  Vec v = Vec::Zero(2);
  EXPECT_DOUBLE_EQ(moved({.dual = DualStep::adaptive}, 1, v), 32.0 / (2.0 * 16.0 + 8.0 * 16.0));
  Vec relaxed = Vec::Zero(2);
  EXPECT_DOUBLE_EQ(moved({.dual = DualStep::relaxed, .relaxation = 0.5}, 1, relaxed), 0.5 * 0.2);
  Vec capped = Vec::Zero(2);
  EXPECT_DOUBLE_EQ(moved({.dual = DualStep::adaptive, .eta_cap = 0.1}, 1, capped), 0.1);
}

TEST(MultiplierRule, ThatIsConjugateSolvesTwoDimensionsInTwoSteps) {
  Vec v = Vec::Zero(2);
  (void)moved({.dual = DualStep::polak_ribiere}, 2, v);
  EXPECT_NEAR(v[0], 2.0, 1e-14);
  EXPECT_NEAR(v[1], 0.5, 1e-14);
}

TEST(MultiplierRule, ThatIsMixedEndsWhereThePlainOneEnds) {
  Vec v = Vec::Zero(2);
  (void)moved({.eta = 0.1, .dual = DualStep::constant, .mixing = 2}, 8, v);
  EXPECT_NEAR(v[0], 2.0, 1e-6);
  EXPECT_NEAR(v[1], 0.5, 1e-6);
}

} // namespace
} // namespace duplex::testing
