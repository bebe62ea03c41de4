// A governor driven by hand on problems whose hypergradient is known in closed form.

#include "archived.hpp"
#include "follower.hpp"
#include "support.hpp"

#include <duplex/methods/automatic/governor.hpp>

#include <optional>

namespace duplex::testing {
namespace {

using automatic::Governor;

/// F = ½‖x − z‖² + ½yᵀAy, f = ½yᵀAy − xᵀy: y* = A⁻¹x and ∇φ = x − z + A⁻¹x.
struct SmallProblem {
  Vec spectrum = log_spaced_spectrum<double>(6, 50.0, 0.1);
  Vec target = Vec(Vec::Ones(6));
  CounterExample<double, DiagonalSpd<double>> problem{DiagonalSpd<double>(spectrum), target, 0.0};
  ProblemView<Vec> view{problem};

  [[nodiscard]] double slope(const Vec &x) const { return (x - target + x.cwiseQuotient(spectrum)).norm(); }
};

/// Steps until the governor claims something, at most so many; none where it did not.
std::optional<StepReport> step_until_claim(Governor<Vec> &governor, State<Vec> &state, int most = 200) {
  for (int k = 0; k < most; ++k) {
    const StepReport report = governor.step(state);
    EXPECT_EQ(report.failure.text(), "");
    if (report.claims > 0.0) {
      return report;
    }
  }
  return std::nullopt;
}

TEST(AGovernor, RefusesASavedStateOfAnotherProblem) {
  const SmallProblem small;
  auto state = small.problem.start();
  Governor<Vec> governor(small.view, state, {});
  (void)governor.step(state);
  const auto other = QuadraticSettings{.n = 2, .m = 3}.generate<double>();
  Governor<Vec> stranger(ProblemView<Vec>(other), other.start(), {});
  EXPECT_CONTAINS(refusal([&] { read_back(written(governor), stranger); }), "of another length");
}

TEST(AGovernor, SaysThatTheLowerLevelIsNotConvex) {
  auto data = QuadraticSettings{.n = 3, .m = 4}.generate<double>().data();
  data.lower_hessian.diagonal().array() -= 2.0;
  const Quadratic<double> problem(std::move(data));
  auto state = problem.start();
  Governor<Vec> governor(ProblemView<Vec>(problem), state, {});
  const auto report = governor.step(state);
  EXPECT_CONTAINS(report.failure.text(), "the lower Hessian is indefinite");
  EXPECT_FALSE(report.stuck);
  EXPECT_EQ(report.claims, 0.0);
}

TEST(AGovernor, ClaimsOnlyWhereTheHypergradientIsSmall) {
  const SmallProblem small;
  for (const double tolerance : {1e-2, 1e-5, 1e-9}) {
    auto state = small.problem.start();
    const double first = small.slope(state.x);
    Governor<Vec> governor(small.view, state, {.tolerance = tolerance});
    EXPECT_FALSE(governor.has_begun());
    bool claimed = false;
    for (int k = 0; k < 100 && !claimed; ++k) {
      const Vec before = state.x;
      const auto report = governor.step(state);
      EXPECT_TRUE(report.moved_x);
      claimed = report.claims > 0.0;
      if (claimed) {
        EXPECT_EQ(report.claims, tolerance);
        EXPECT_LE(small.slope(state.x), tolerance * first);
        EXPECT_TRUE(same_bits(state.x, before)) << "x stays where success is claimed";
      } else {
        EXPECT_GT(report.steps.alpha, 0.0);
        EXPECT_NEAR((state.x - before).norm(), report.steps.alpha * governor.direction().norm(), 1e-12);
      }
    }
    EXPECT_TRUE(claimed) << tolerance;
    EXPECT_TRUE(governor.has_begun());
  }
}

TEST(AGovernor, GoesOnBeyondAClaimThatNobodyRefuted) {
  const SmallProblem small;
  auto state = small.problem.start();
  Governor<Vec> governor(small.view, state, {.tolerance = 1e-2});
  ASSERT_TRUE(step_until_claim(governor, state));
  const auto second = step_until_claim(governor, state);
  ASSERT_TRUE(second);
  EXPECT_DOUBLE_EQ(second->claims, 1e-3);
}

TEST(AGovernor, LearnsFromARefutedVerdict) {
  const SmallProblem small;
  auto state = small.problem.start();
  Governor<Vec> governor(small.view, state, {.tolerance = 0.1});
  const auto claim = step_until_claim(governor, state);
  ASSERT_TRUE(claim);
  SlopeMeter<Vec> truth(small.view);
  // The start is said to have been a thousand times flatter than it seemed: the claim does not hold beside it.
  const auto measured = truth.at(state.x, state.y, {.relative = 1e-6});
  const double first = 1e-3 * small.slope(small.problem.start().x);
  const Verdict refuted{.tolerance = claim->claims, .first = {.norm = first}, .slope = measured};
  ASSERT_FALSE(refuted.holds());
  EXPECT_TRUE(governor.learn(refuted, truth));
  const auto second = step_until_claim(governor, state);
  ASSERT_TRUE(second);
  EXPECT_EQ(second->claims, claim->claims) << "the tolerance is as before";
  EXPECT_LE(small.slope(state.x), second->claims * first);
}

TEST(AGovernor, GivesUpAfterManyRefutationsOrWhereRoundingHidesTheTruth) {
  const SmallProblem small;
  auto state = small.problem.start();
  Governor<Vec> governor(small.view, state, {.tolerance = 0.1});
  const auto claim = step_until_claim(governor, state);
  ASSERT_TRUE(claim);
  SlopeMeter<Vec> truth(small.view);
  const auto measured = truth.at(state.x, state.y, {.relative = 1e-6});
  const Verdict hidden{.tolerance = 1e-3, .first = {.norm = 1.0}, .slope = {.norm = 1e-3, .error = 1e-2}};
  ASSERT_TRUE(hidden.hidden_by_rounding());
  EXPECT_FALSE(governor.learn(hidden, truth));
  const Verdict refuted{.tolerance = 1e-3, .first = {.norm = 1e-9}, .slope = measured};
  ASSERT_FALSE(refuted.holds());
  int believed = 0;
  while (believed < 100 && governor.learn(refuted, truth)) {
    ++believed;
  }
  EXPECT_EQ(believed, automatic::rule::most_refutations);
}

/// φ = −x² below one and 10 above: it falls towards a cliff at one, over which no step lowers it, and |∇φ| grows on the
/// way. The slope beyond the cliff does not show it.
struct Cliff {
  static double value(double x) { return x < 1.0 ? -x * x : 10.0; }
  static double slope(double x) { return -2.0 * x; }
};

TEST(AGovernor, GivesTheBestStateWhereItIsStuck) {
  const Follower<Cliff> problem;
  State<Vec> state{Vec::Constant(1, 0.1), Vec::Constant(1, 0.1), Vec::Zero(1)};
  Governor<Vec> governor(ProblemView<Vec>(problem), state, {});
  double farthest = 0.0;
  StepReport report;
  for (int k = 0; k < 2000 && !report.stuck; ++k) {
    report = governor.step(state);
    ASSERT_TRUE(report.stuck || report.failure.empty()) << report.failure.text();
    EXPECT_EQ(report.claims, 0.0);
    farthest = std::max(farthest, state.x[0]);
  }
  ASSERT_TRUE(report.stuck);
  EXPECT_CONTAINS(report.failure.text(), "F(x, y*(x))") << "differences of which were asked";
  EXPECT_GT(farthest, 0.9) << "it went to the cliff";
  EXPECT_EQ(state.x[0], 0.1) << "and came back to where the slope was smallest";
  EXPECT_NEAR(governor.direction()[0], -0.2, 1e-3);
}

TEST(AGovernor, IsStuckWhereRoundingHidesWhatIsAskedFor) {
  const auto problem = QuadraticSettings{.n = 8, .m = 20, .condition = 300.0}.generate<float>();
  auto state = problem.start();
  Governor<Eigen::VectorXf> governor(ProblemView<Eigen::VectorXf>(problem), state, {.tolerance = 1e-12});
  StepReport report;
  for (int k = 0; k < 3000 && !report.stuck; ++k) {
    report = governor.step(state);
    ASSERT_TRUE(report.stuck || report.failure.empty()) << report.failure.text();
    EXPECT_EQ(report.claims, 0.0);
  }
  ASSERT_TRUE(report.stuck);
  EXPECT_CONTAINS(report.failure.text(), "ask for less, or use doubles");
}

TEST(AGovernor, TakesMuFromOneHalfToTheToleranceWhereTheLowerLevelIsSingular) {
  const MultipleMinimizers<double> problem(1001, 0.01); // too many for H to be assembled
  auto state = problem.start();
  Governor<Vec> governor(ProblemView<Vec>(problem), state, {.tolerance = 1e-4});
  std::vector<double> weights;
  StepReport report;
  for (int k = 0; k < 200 && !(report.claims > 0.0); ++k) {
    report = governor.step(state);
    ASSERT_EQ(report.failure.text(), "");
    ASSERT_TRUE(report.steps.mu > 0.0 || k == 0)
        << "v has a right-hand side, by which it shows, from the second step on";
    if (report.steps.mu > 0.0 && (weights.empty() || report.steps.mu != weights.back())) {
      weights.push_back(report.steps.mu);
    }
  }
  ASSERT_GT(report.claims, 0.0);
  ASSERT_GE(weights.size(), 2U);
  EXPECT_EQ(weights.front(), 0.5);
  for (std::size_t i = 1; i < weights.size(); ++i) {
    EXPECT_DOUBLE_EQ(weights[i], std::max(0.1 * weights[i - 1], 1e-4));
  }
  EXPECT_EQ(weights.back(), 1e-4);
  EXPECT_LE((state.x.array() - 1.0).abs().maxCoeff(), 1e-3);
  EXPECT_CONTAINS(governor.explanation(), "mu: the lower Hessian is singular");

  SlopeMeter<Vec> truth{ProblemView<Vec>(problem)};
  const Verdict refuted{.tolerance = 1e-4, .first = {.norm = 1.0}, .slope = {.norm = 1.0}};
  EXPECT_TRUE(governor.learn(refuted, truth));
  EXPECT_DOUBLE_EQ(governor.step(state).steps.mu, 1e-5) << "what is left is what mu is off by";
}

TEST(AGovernor, SwitchesMuOnWhereAClaimCannotBeVerified) {
  const auto problem = QuadraticSettings{.n = 3, .m = 4}.generate<double>();
  auto state = problem.start();
  Governor<Vec> governor(ProblemView<Vec>(problem), state, {});
  ASSERT_TRUE(step_until_claim(governor, state));
  SlopeMeter<Vec> truth{ProblemView<Vec>(problem)};
  EXPECT_TRUE(governor.learn({.tolerance = 1e-5, .first = {}, .slope = {.unavailable = "it is singular"}}, truth));
  EXPECT_EQ(governor.step(state).steps.mu, 0.5);
}

template <class P> void expect_the_same_bits_after_a_restore(const P &problem, int steps) {
  for (int saved_at = 0; saved_at < steps; ++saved_at) {
    const ProblemView<Vec> view(problem);
    auto state = problem.start();
    Governor<Vec> governor(view, state, {.tolerance = 1e-6});
    for (int k = 0; k < saved_at; ++k) {
      (void)governor.step(state);
    }
    const SavedState saved = written(governor);
    auto restored_state = state;
    Governor<Vec> restored(view, problem.start(), {.tolerance = 1e-6});
    read_back(saved, restored);
    for (int k = saved_at; k < steps; ++k) {
      const auto report = governor.step(state);
      const auto again = restored.step(restored_state);
      ASSERT_TRUE(same_bits(state, restored_state)) << "saved at " << saved_at << ", step " << k;
      ASSERT_TRUE(same_bits(governor.direction(), restored.direction())) << "saved at " << saved_at;
      ASSERT_EQ(report.claims, again.claims);
      ASSERT_EQ(report.steps.alpha, again.steps.alpha);
      ASSERT_EQ(report.steps.mu, again.steps.mu);
    }
    EXPECT_EQ(governor.explanation(), restored.explanation());
  }
}

TEST(AGovernor, ThatIsRestoredInMidRunGoesOnToTheSameBits) {
  expect_the_same_bits_after_a_restore(SmallProblem{}.problem, 12);
  expect_the_same_bits_after_a_restore(bent(), 12);
  expect_the_same_bits_after_a_restore(MultipleMinimizers<double>(2, 0.01), 12);
}

TEST(AGovernor, ThatIsRestoredWithAnotherToleranceIsAskedForThat) {
  const SmallProblem small;
  auto state = small.problem.start();
  Governor<Vec> governor(small.view, state, {.tolerance = 1e-3});
  ASSERT_TRUE(step_until_claim(governor, state));
  Governor<Vec> tighter(small.view, state, {.tolerance = 1e-8});
  read_back(written(governor), tighter);
  const auto claim = step_until_claim(tighter, state);
  ASSERT_TRUE(claim);
  EXPECT_EQ(claim->claims, 1e-8);
  EXPECT_LE(small.slope(state.x), 1e-8 * small.slope(small.problem.start().x));
}

} // namespace
} // namespace duplex::testing
