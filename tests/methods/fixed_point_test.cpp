// Where each method ends, in closed form: the naive accelerations at the wrong
// point, BAGDC at the right one. With S_T = A⁻¹(I − (I − βA)^T) on the
// counter-example and ρ = 1 − (1 − β)^T on the problem with many lower minimizers.

#include "support.hpp"

#include <ostream>

namespace duplex::testing {
namespace {

constexpr double relative_tolerance = 1e-9;

struct Case {
  double condition;
  bool dense;
};

void PrintTo(const Case &c, std::ostream *out) {
  *out << (c.dense ? "dense" : "diagonal") << " A of condition " << c.condition;
}

/// The eigenvalues of A lie in [1, κ] and β = ½/κ, so that y converges as
/// (1 − ½/κ)^k, x as (1 − α)^k or faster; z₀ is no eigenvector.
class CounterExampleLimit : public ::testing::TestWithParam<Case> {
protected:
  CounterExampleLimit() {
    const Vec spectrum = log_spaced_spectrum<double>(n, GetParam().condition, 1.0);
    a_ = GetParam().dense ? DenseSpd<double>::with_spectrum(spectrum, 11).entries() : Mat(spectrum.asDiagonal());
  }

  /// g(A) for a function g of the eigenvalues.
  template <class Function> [[nodiscard]] Mat function_of_a(const Function &g) const {
    const auto spectral = dense::symmetric_spectrum<double>(a_);
    const Vec values = spectral.values.unaryExpr(g);
    return spectral.vectors * values.asDiagonal() * spectral.vectors.transpose();
  }

  [[nodiscard]] Mat partial_inverse(std::int64_t steps) const {
    return function_of_a([&](double a) { return (1.0 - std::pow(1.0 - beta_ * a, static_cast<double>(steps))) / a; });
  }

  [[nodiscard]] Vec solved(const Mat &matrix) const {
    Vec out;
    dense::SymmetricFactor<double>(Mat::Identity(n, n) + matrix).solve(z0_, out);
    return out;
  }

  [[nodiscard]] Vec true_y() const { return solved(a_); }
  [[nodiscard]] Vec true_x() const { return a_ * true_y(); }

  template <class S> [[nodiscard]] State<Vec> settle(const S &solver, double y0 = 2.0) const {
    const AnyProblem<Vec> problem = GetParam().dense
                                        ? AnyProblem<Vec>(CounterExample(DenseSpd<double>(a_), z0_))
                                        : AnyProblem<Vec>(CounterExample(DiagonalSpd<double>(a_.diagonal()), z0_));
    State<Vec> state{Vec::Constant(n, 2.0), Vec::Constant(n, y0), {}};
    const auto steps = static_cast<std::int64_t>(500.0 + 80.0 * GetParam().condition);
    EXPECT_EQ(run_steps(problem, solver, state, steps).termination, Termination::max_iterations);
    return state;
  }

  static constexpr Index n = 7;
  const double alpha_ = 0.1;
  const double beta_ = 0.5 / GetParam().condition;
  const Vec z0_ = random_vector(n, 5);
  Mat a_;
};

TEST_P(CounterExampleLimit, OfNosaIsWrongByTheFactorBeta) {
  const Vec x = settle(Nosa{.alpha = alpha_, .beta = beta_}).x;
  EXPECT_LE(relative_error(x, z0_ / (1.0 + beta_)), relative_tolerance);
  EXPECT_GT(relative_error(x, true_x()), 0.1);
}

TEST_P(CounterExampleLimit, OfNaiveNeumannIsThatOfNosa) {
  const Vec x = settle(Neumann{.alpha = alpha_, .beta = beta_, .naive = true}).x;
  EXPECT_LE(relative_error(x, z0_ / (1.0 + beta_)), relative_tolerance);
}

TEST_P(CounterExampleLimit, OfOneStepCgDependsOnTheRayleighQuotient) {
  const double r = z0_.dot(a_ * z0_) / z0_.squaredNorm();
  const Vec x = settle(Cg{.alpha = alpha_, .beta = beta_, .naive = true}).x;
  EXPECT_LE(relative_error(x, z0_ * r / (1.0 + r)), relative_tolerance);
  if (GetParam().condition > 1.0) { // every z₀ is an eigenvector of I
    EXPECT_GT(relative_error(x, true_x()), 0.02);
  }
}

TEST_P(CounterExampleLimit, OfNeumannSeriesIsThatOfItsPartialSum) {
  for (const std::int64_t m : {0, 1, 4, 20}) {
    const Vec x = settle(Neumann{.alpha = alpha_, .beta = beta_, .inner = 3, .terms = m + 1}).x;
    EXPECT_LE(relative_error(x, solved(partial_inverse(m + 1))), relative_tolerance) << "M = " << m;
  }
}

TEST_P(CounterExampleLimit, OfWarmRhgIsThatOfAPartialSum) {
  for (const std::int64_t t : {1, 2, 5, 12}) {
    const Vec x = settle(Rhg{.alpha = alpha_, .beta = beta_, .inner = t}).x;
    EXPECT_LE(relative_error(x, solved(partial_inverse(t))), relative_tolerance) << "T = " << t;
  }
}

TEST_P(CounterExampleLimit, OfColdRhgFromZeroUsesThePartialSumTwice) {
  for (const std::int64_t t : {1, 2, 5, 12}) {
    const Mat s = partial_inverse(t);
    const Vec x = settle(Rhg{.alpha = alpha_, .beta = beta_, .inner = t, .inner_start = InnerStart::cold}, 0.0).x;
    EXPECT_LE(relative_error(x, solved(s * a_ * s)), relative_tolerance) << "T = " << t;
  }
}

TEST_P(CounterExampleLimit, OfTruncatedRhgIsThatOfTheStepsItKeeps) {
  const Vec x = settle(Rhg{.alpha = alpha_, .beta = beta_, .inner = 9, .kept = 4}).x;
  EXPECT_LE(relative_error(x, solved(partial_inverse(4))), relative_tolerance);
}

TEST_P(CounterExampleLimit, OfBagdcIsTheTruthForEveryDualRule) {
  for (const auto dual : {DualStep::constant, DualStep::adaptive, DualStep::relaxed, DualStep::polak_ribiere}) {
    const auto state = settle(Bagdc{.alpha = alpha_, .beta = beta_, .eta = 1.0 / GetParam().condition, .dual = dual});
    EXPECT_LE(relative_error(state.x, true_x()), relative_tolerance) << name_of(dual);
    EXPECT_LE(relative_error(state.y, true_y()), relative_tolerance) << name_of(dual);
    EXPECT_LE(relative_error(state.v, true_y()), relative_tolerance) << name_of(dual);
  }
}

TEST_P(CounterExampleLimit, OfConvergedCgIsTheTruth) {
  const auto state = settle(Cg{.alpha = alpha_, .beta = beta_, .inner = 10, .epsilon = 1e-14});
  EXPECT_LE(relative_error(state.x, true_x()), relative_tolerance);
  EXPECT_LE(relative_error(state.v, true_y()), relative_tolerance);
}

TEST_P(CounterExampleLimit, IsWhatTheProblemGivesAsItsAnswer) {
  const auto answer = CounterExample(DenseSpd<double>(a_), z0_).answer();
  ASSERT_TRUE(answer.has_value());
  EXPECT_LE(relative_error(answer->x, true_x()), 1e-14);
  EXPECT_LE(relative_error(answer->y, true_y()), 1e-14);
  EXPECT_LE(relative_error(answer->v, true_y()), 1e-14);
  EXPECT_NEAR(answer->value, 0.5 * z0_.dot(true_y()), 1e-14 * z0_.squaredNorm());
}

INSTANTIATE_TEST_SUITE_P(AllMatrices, CounterExampleLimit,
                         ::testing::Values(Case{1.0, false}, Case{1.0, true}, Case{10.0, false}, Case{10.0, true},
                                           Case{100.0, false}, Case{100.0, true}));

TEST(PaperCounterExample, ConvergesToHalfWithBagdc) {
  const AnyProblem<Vec> problem = CounterExample(IdentityMatrix(100), Vec::Ones(100).eval());
  auto state = problem.start();
  (void)run_steps(problem, with_given_steps, state, 400);
  for (const Vec *block : {&state.x, &state.y, &state.v}) {
    EXPECT_LE((block->array() - 0.5).abs().maxCoeff(), 1e-13);
  }
}

TEST(PaperCounterExample, GivesRhgTheRelativeErrorOfItsHorizon) {
  const AnyProblem<Vec> problem = CounterExample(IdentityMatrix(3), Vec::Ones(3).eval());
  for (const std::int64_t t : {1, 5, 10, 20, 100}) {
    auto state = problem.start();
    (void)run_steps(problem, Rhg{.alpha = 0.2, .beta = 0.2, .inner = t}, state, 300);
    const double q = std::pow(0.8, static_cast<double>(t));
    EXPECT_NEAR(relative_error(state.x, Vec::Constant(3, 0.5)), q / (2.0 - q), 1e-14) << "T = " << t;
  }
}

/// y₂ starts at c and descent on f never moves it; y₁ starts at `y1`.
class ManyMinimizers : public ::testing::TestWithParam<double> {
protected:
  template <class S> [[nodiscard]] double settle(const S &solver, double y1, std::int64_t steps = 400) const {
    const AnyProblem<Vec> problem = MultipleMinimizers<double>(2);
    State<Vec> state{Vec::Constant(2, 0.01), (Vec(4) << y1, y1, c_, c_).finished(), {}};
    EXPECT_EQ(run_steps(problem, solver, state, steps).termination, Termination::max_iterations);
    EXPECT_EQ(state.x[0], state.x[1]);
    return state.x[0];
  }
  static double rho(std::int64_t steps) { return 1.0 - std::pow(1.0 - beta, static_cast<double>(steps)); }

  static constexpr double beta = 0.2;
  const double c_ = GetParam();
};

TEST_P(ManyMinimizers, HoldWarmRhgAndNeumannAtTheSameWrongPoint) {
  for (const std::int64_t t : {1, 3, 20}) {
    const double expected = (rho(t) + c_) / (1.0 + rho(t));
    EXPECT_NEAR(settle(Rhg{.beta = beta, .inner = t}, 0.01), expected, relative_tolerance);
    EXPECT_NEAR(settle(Neumann{.beta = beta, .inner = 5, .terms = t}, 0.01), expected, relative_tolerance);
  }
}

TEST_P(ManyMinimizers, HoldColdRhgAtAnotherWrongPoint) {
  for (const std::int64_t t : {1, 3, 20}) {
    const double expected = (rho(t) + c_) / (1.0 + rho(t) * rho(t));
    EXPECT_NEAR(settle(Rhg{.beta = beta, .inner = t, .inner_start = InnerStart::cold}, 0.0), expected,
                relative_tolerance);
  }
}

TEST_P(ManyMinimizers, HoldNosaWhereBetaWeighsThem) {
  EXPECT_NEAR(settle(Nosa{.beta = beta}, 0.01), (beta + c_) / (1.0 + beta), relative_tolerance);
}

TEST_P(ManyMinimizers, HoldDampedCgAtAWrongPoint) {
  for (const double damping : {1e-3, 0.5}) { // v₁ = (y₁ − e)/(1 + ε), so x − c + (x − e)/(1 + ε) = 0
    EXPECT_NEAR(settle(Cg{.beta = beta, .inner = 20, .damping = damping}, 0.01),
                (c_ * (1.0 + damping) + 1.0) / (2.0 + damping), relative_tolerance);
  }
}

TEST_P(ManyMinimizers, HoldBagdcWithoutAggregationHalfway) { // v₁ = y₁ − e, so x − c + x − e = 0
  EXPECT_NEAR(settle(Bagdc{.alpha = 0.1, .beta = beta, .dual = DualStep::constant}, 0.01), 0.5 * (c_ + 1.0),
              relative_tolerance);
}

TEST_P(ManyMinimizers, LetBagdcWithDecreasingMuReachTheOptimum) {
  const Bagdc solver{.alpha = 0.1, .beta = 0.5, .mu = 0.5, .mu_decay = 1.0 / 12.0};
  EXPECT_NEAR(settle(solver, 0.01, 1000), 1.0, relative_tolerance);
}

TEST_P(ManyMinimizers, LetBagdcWithTheTheoremsScheduleReachTheOptimum) {
  const Bagdc solver{.alpha = 204.8,
                     .beta = 0.5,
                     .eta = 8.0,
                     .dual = DualStep::constant,
                     .mu = 0.5,
                     .mu_decay = 0.05,
                     .schedule = Schedule::theorem};
  EXPECT_NEAR(settle(solver, 0.01, 100'000), 1.0, 1e-8);
}

TEST_P(ManyMinimizers, LetBdaReachTheOptimum) {
  EXPECT_NEAR(settle(Bda{.alpha = 0.5, .beta = 0.5, .inner = 20, .aggregation = 0.3}, 0.01, 600), 1.0,
              relative_tolerance);
}

INSTANTIATE_TEST_SUITE_P(FreeLowerPart, ManyMinimizers, ::testing::Values(0.0, 0.01, -0.7));

TEST(ManyMinimizersTruth, IsNearAfterAHundredStepsFromThePapersStart) {
  const AnyProblem<Vec> problem = MultipleMinimizers<double>(100);
  auto state = problem.start();
  (void)run_steps(problem, Bagdc{.alpha = 0.1, .beta = 0.5, .mu = 0.5}, state, 100);
  EXPECT_NEAR(state.x.minCoeff(), 0.986, 5e-4);
  EXPECT_NEAR(state.x.maxCoeff(), 0.986, 5e-4);
}

TEST(ManyMinimizersTruth, StopsUndampedCgWithAMessageThatNamesTheSingularHessian) {
  const AnyProblem<Vec> problem = MultipleMinimizers<double>(3);
  auto state = problem.start();
  const auto summary = run_steps(problem, Cg{.inner = 5}, state, 100);
  EXPECT_EQ(summary.termination, Termination::step_failed);
  EXPECT_TRUE(summary.failed());
  EXPECT_EQ(summary.iterations, 2); // at first y₂ = x, and the system is consistent
  EXPECT_CONTAINS(summary.message, "step 2: conjugate gradients met zero curvature");
  EXPECT_CONTAINS(summary.message, "singular");
}

TEST(ManyMinimizersTruth, LetsCgGoOnWhereItsDampingIsLostInRounding) {
  const AnyProblem<Vec> problem = MultipleMinimizers<double>(3);
  auto state = problem.start();
  EXPECT_FALSE(run_steps(problem, Cg{.inner = 5, .damping = 1e-30}, state, 100).failed());
  EXPECT_TRUE(state.v.allFinite());
}

} // namespace
} // namespace duplex::testing
