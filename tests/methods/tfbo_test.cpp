// The tuning-free methods, step by step against formulas written out by hand, and where they end.

#include "support.hpp"

#include "saved_run.hpp"
#include "two_numbers.hpp"

#include <duplex/problems/counter_example.hpp>
#include <duplex/problems/quadratic.hpp>
#include <duplex/problems/ridge.hpp>

#include <limits>

#include <cmath>

namespace duplex::testing {
namespace {

template <class S> std::string refusal_of(const S &solver) {
  const auto problem = bent();
  auto state = problem.start();
  return refusal([&] { (void)run_steps(problem, solver, state, 1); });
}

TEST(TuningFree, RefusesWrongOptions) {
  EXPECT_EQ(refusal_of(STfbo{.alpha = 0.0}), "s-tfbo: alpha = 0, expected > 0 and finite");
  EXPECT_EQ(refusal_of(STfbo{.eta = -1.0}), "s-tfbo: eta = -1, expected > 0 and finite");
  EXPECT_EQ(refusal_of(DTfbo{.beta = infinity}), "d-tfbo: beta = inf, expected > 0 and finite");
  EXPECT_EQ(refusal_of(DTfbo{.epsilon = -1e-3}), "d-tfbo: epsilon = -0.001, expected >= 0 and finite");
  EXPECT_EQ(refusal_of(DTfbo{.inner = 0}), "d-tfbo: inner = 0, expected a whole number >= 1");
}

/// f = y² − xy and F = ½(x + 6)² + ½(y − 1)²; `broken_below` is where f stops being a number.
auto in_two_numbers(double broken_below = -infinity) {
  return InTwoNumbers([=](double x, double y) {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    return Scalars{.fy = y < broken_below ? nan : 2.0 * y - x,
                   .fyy = 2.0,
                   .fxy = -1.0,
                   .value = 0.5 * (x + 6.0) * (x + 6.0) + 0.5 * (y - 1.0) * (y - 1.0),
                   .fx = x + 6.0,
                   .gy = y - 1.0};
  });
}

State<Vec> numbers(double x, double y, double v) {
  return {Vec::Constant(1, x), Vec::Constant(1, y), Vec::Constant(1, v)};
}

TEST(STfbo, TakesTheStepOfThreePythagoreanTriples) { // (3, 4, 5), (5, 12, 13) and (8, 15, 17)
  const STfbo solver{.alpha = 1.0 / 8.0, .beta = 1.0 / 3.0, .eta = 1.0 / 5.0};
  const auto step = record(in_two_numbers(), solver, numbers(2.0, 3.0, 7.0), 1).front();
  EXPECT_DOUBLE_EQ(step.direction[0], 15.0);            // x + 6 + v
  EXPECT_DOUBLE_EQ(step.state.y[0], 3.0 - 4.0 / 5.0);   // 2y − x = 4
  EXPECT_DOUBLE_EQ(step.state.v[0], 7.0 - 12.0 / 13.0); // 2v − (y − 1) = 12, and 13 > 5
  EXPECT_DOUBLE_EQ(step.state.x[0], 2.0 - 15.0 / (17.0 * 13.0));
  EXPECT_DOUBLE_EQ(step.steps.beta, 1.0 / 5.0);
  EXPECT_DOUBLE_EQ(step.steps.eta, 1.0 / 13.0);
  EXPECT_DOUBLE_EQ(step.steps.alpha, 1.0 / (17.0 * 13.0));
}

TEST(STfbo, MovesAllVariablesFromOnePoint) {
  double x = 2.0;
  double y = 3.0;
  double v = 7.0;
  double a = 0.5;
  double b = 2.0;
  double c = 1.0;
  const STfbo solver{.alpha = 2.0, .beta = 0.5, .eta = 1.0};
  for (const auto &step : record(in_two_numbers(), solver, numbers(x, y, v), 40)) {
    const double g = 2.0 * y - x;
    const double r = 2.0 * v - (y - 1.0);
    const double d = x + 6.0 + v;
    a = std::sqrt(a * a + d * d);
    b = std::sqrt(b * b + g * g);
    c = std::sqrt(c * c + r * r);
    const double largest = std::max(b, c);
    y -= g / b;
    v -= r / largest;
    x -= d / (a * largest);
    ASSERT_NEAR(step.direction[0], d, 1e-13);
    ASSERT_NEAR(step.state.x[0], x, 1e-13);
    ASSERT_NEAR(step.state.y[0], y, 1e-13);
    ASSERT_NEAR(step.state.v[0], v, 1e-13);
  }
}

/// Sixty steps of D-TFBO by hand.
void expect_steps_by_hand(const DTfbo &o) {
  double x = 2.0;
  double y = 3.0;
  double v = 7.0;
  double a2 = 1.0 / (o.alpha * o.alpha);
  double b2 = 0.0;
  double c2 = 0.0;
  int k = 0;
  for (const auto &step : record(in_two_numbers(), o, numbers(x, y, v), 60)) {
    if (k++ == 0 || o.cold_steps) {
      b2 = 1.0 / (o.beta * o.beta);
      c2 = 1.0 / (o.eta * o.eta);
    }
    std::int64_t steps_of_y = 0;
    for (double g = 2.0 * y - x; g * g > o.epsilon && steps_of_y < o.inner; g = 2.0 * y - x, ++steps_of_y) {
      b2 += g * g;
      y -= g / std::sqrt(b2);
    }
    std::int64_t steps_of_v = 0;
    for (double r = 2.0 * v - y + 1.0; r * r > o.epsilon && steps_of_v < o.inner; r = 2.0 * v - y + 1.0, ++steps_of_v) {
      c2 += r * r;
      v -= r / std::sqrt(c2);
    }
    const double d = x + 6.0 + v;
    a2 += d * d;
    x -= d / std::sqrt(a2);
    ASSERT_NEAR(step.direction[0], d, 1e-12) << "step " << k;
    ASSERT_NEAR(step.state.x[0], x, 1e-12) << "step " << k;
    ASSERT_NEAR(step.state.y[0], y, 1e-12) << "step " << k;
    ASSERT_NEAR(step.state.v[0], v, 1e-12) << "step " << k;
    ASSERT_NEAR(step.steps.alpha, 1.0 / std::sqrt(a2), 1e-12) << "step " << k;
    ASSERT_NEAR(step.steps.beta, 1.0 / std::sqrt(b2), 1e-12) << "step " << k;
    ASSERT_NEAR(step.steps.eta, 1.0 / std::sqrt(c2), 1e-12) << "step " << k;
  }
}

TEST(DTfbo, EndsItsInnerLoopsByToleranceOrByTheirSteps) {
  for (const bool cold : {true, false}) {
    expect_steps_by_hand({.alpha = 2.0, .beta = 0.3, .eta = 0.7, .epsilon = 1e-3, .cold_steps = cold});
    expect_steps_by_hand({.alpha = 2.0, .beta = 0.3, .eta = 0.7, .epsilon = 0.0, .inner = 3, .cold_steps = cold});
    expect_steps_by_hand({.epsilon = 1e-2, .inner = 4, .cold_steps = cold});
  }
}

TEST(DTfbo, MovesNeitherYNorVWhereBothAreGoodEnough) {
  const auto step = record(in_two_numbers(), DTfbo{.epsilon = 1e6}, numbers(2.0, 3.0, 7.0), 1).front();
  EXPECT_EQ(step.state.y[0], 3.0);
  EXPECT_EQ(step.state.v[0], 7.0);
  EXPECT_EQ(step.counters.gradients, 3);
  EXPECT_EQ(step.counters.hessian_products, 1);
  EXPECT_EQ(step.counters.cross_products, 1);
}

TEST(DTfbo, PaysNoEvaluationMoreThanItsStepsWhereTheyAreUsedUp) {
  const DTfbo solver{.epsilon = 0.0, .inner = 5};
  const auto problem = bent();
  const auto step = record(problem, solver, problem.start(), 1).front();
  EXPECT_EQ(step.counters.gradients, 5 + 2);
  EXPECT_EQ(step.counters.hessian_products, 5);
  EXPECT_EQ(step.counters.cross_products, 1);
}

TEST(DTfbo, GivesTheExactHypergradientWhereItsInnerLoopsConverge) {
  const auto problem = bent();
  const auto start = problem.start();
  ExactSolver exact(problem);
  const auto &truth = exact.at(start.x, start.y);
  const auto step = record(problem, DTfbo{.epsilon = 1e-28}, start, 1).front();
  EXPECT_LE(relative_error(step.direction, truth.hypergradient), 1e-12);
  EXPECT_LE(relative_error(step.state.y, truth.y), 1e-12);
  EXPECT_LE(relative_error(step.state.v, truth.v), 1e-12);
}

template <class S> void expect_nothing_moves_where_f_breaks(const S &solver) {
  auto state = numbers(2.0, 3.0, 7.0);
  const auto summary = run_steps(in_two_numbers(4.0), solver, state, 5);
  EXPECT_EQ(summary.termination, Termination::step_failed);
  EXPECT_EQ(summary.iterations, 1);
  EXPECT_CONTAINS(summary.message, "lower level: the gradient of f is not finite at step 1");
  EXPECT_CONTAINS(summary.message, "(‖∇y f‖² is not finite)");
  EXPECT_TRUE(same_bits(state, numbers(2.0, 3.0, 7.0)));
}

TEST(TuningFree, StopsBeforeItMovesWhereAGradientIsNotFinite) {
  expect_nothing_moves_where_f_breaks(STfbo{});
  expect_nothing_moves_where_f_breaks(DTfbo{});
}

TEST(TuningFree, SaysWhereSquaresOverflowAlthoughNumbersDoNot) {
  using V = Eigen::VectorXf;
  const CounterExample<float, IdentityMatrix> problem(IdentityMatrix(2), V::Ones(2));
  const auto message = [&](const auto &solver) {
    State<V> state{V::Constant(2, 1e25F), V::Zero(2), {}};
    const auto summary = run_steps(problem, solver, state, 10);
    EXPECT_TRUE(summary.failed());
    EXPECT_TRUE(all_finite(state.x) && all_finite(state.y) && all_finite(state.v));
    return summary.message;
  };
  EXPECT_EQ(message(STfbo{}), "step 1: ‖∇y f‖² is not finite");
  EXPECT_EQ(message(DTfbo{}), "step 1: ‖∇y f‖² is not finite");
}

/// ‖∇φ‖ at the end beside that at the start.
template <class P, class S> double slope_left(const P &problem, const S &solver, std::int64_t steps) {
  ExactSolver exact(problem);
  auto state = problem.start();
  const double before = exact.at(state.x, state.y).hypergradient.norm();
  EXPECT_EQ(run_steps(problem, solver, state, steps).termination, Termination::max_iterations);
  return exact.at(state.x, state.y).hypergradient.norm() / before;
}

TEST(TuningFree, ConvergesOnTheCounterExampleWithoutSteps) {
  for (const double condition : {1.0, 10.0}) {
    const Vec spectrum = log_spaced_spectrum<double>(5, condition, 1.0);
    const CounterExample problem(DiagonalSpd<double>(spectrum), Vec::Ones(5).eval(), 1.0);
    EXPECT_LE(slope_left(problem, STfbo{}, 2000), 1e-8) << condition;
    for (const double end : {1e-12, 1e-18}) { // inner loops leave gradients of √ε
      EXPECT_LE(slope_left(problem, DTfbo{.epsilon = end}, 200), 10.0 * std::sqrt(end)) << condition;
      EXPECT_LE(slope_left(problem, DTfbo{.epsilon = end, .cold_steps = false}, 200), 10.0 * std::sqrt(end))
          << condition;
    }
  }
}

TEST(TuningFree, ConvergesOnRidgeAtLeastAsFastAsTheRootOfTheSteps) {
  const auto problem = RidgeSettings{}.generate<double>();
  EXPECT_LE(slope_left(problem, STfbo{}, 8000), 0.5 * slope_left(problem, STfbo{}, 2000));
  EXPECT_LE(slope_left(problem, DTfbo{}, 400), 0.5 * slope_left(problem, DTfbo{}, 100));
}

TEST(TuningFree, GoesOnToTheSameBitsWithItsAccumulators) {
  const auto problem = QuadraticSettings{.n = 7, .m = 5, .seed = 3}.make<double>();
  expect_same_bits(problem, STfbo{}, "s-tfbo");
  expect_same_bits(problem, DTfbo{.epsilon = 1e-6}, "d-tfbo");
  expect_same_bits(problem, DTfbo{.epsilon = 1e-6, .cold_steps = false}, "d-tfbo with warm steps");
}

} // namespace
} // namespace duplex::testing
