// Stochastic BAGDC: its steps written out by hand, BAGDC where nothing is drawn, and its noise.

#include "noisy_problem.hpp"
#include "saved_run.hpp"

#include <cmath>

namespace duplex::testing {
namespace {

TEST(Sbagdc, RefusesWrongOptions) {
  const auto problem = bent();
  const auto refusal_of = [&](const Sbagdc &method) {
    auto state = problem.start();
    return refusal([&] { (void)run_steps(problem, method, state, 1); });
  };
  EXPECT_EQ(refusal_of({.alpha = 0.0}), "sbagdc: alpha = 0, expected > 0 and finite");
  EXPECT_EQ(refusal_of({.eta = -1.0}), "sbagdc: eta = -1, expected > 0 and finite");
  EXPECT_EQ(refusal_of({.decay = -0.5}), "sbagdc: decay = -0.5, expected >= 0 and finite");
  EXPECT_EQ(refusal_of({.period = 0.0}), "sbagdc: period = 0, expected > 0 and finite");
}

/// f = ½y² − xy and F = ½(x − 1)² + ½y², from 2, 2, 0.
TEST(Sbagdc, MovesEachVariableAtTheNewestPointOfThoseBeforeItBySmallerAndSmallerSteps) {
  const CounterExample problem(IdentityMatrix(1), Vec::Ones(1).eval());
  const Sbagdc method{.alpha = 0.1, .beta = 0.3, .eta = 0.4, .decay = 0.5};
  double x = 2.0;
  double y = 2.0;
  double v = 0.0;
  double k = 1.0;
  for (const auto &step : record(problem, method, problem.start(), 20)) {
    const double share = std::pow(k, -method.decay);
    k += 1.0;
    y -= share * method.beta * (y - x);
    v -= share * method.eta * (v - y);
    const double d = x - 1.0 + v;
    x -= share * method.alpha * d;
    EXPECT_NEAR(step.state.x[0], x, 1e-14);
    EXPECT_NEAR(step.state.y[0], y, 1e-14);
    EXPECT_NEAR(step.state.v[0], v, 1e-14);
    EXPECT_NEAR(step.direction[0], d, 1e-14);
  }
}

TEST(Sbagdc, IsBagdcWhereNothingIsDrawnAndTheCrossTermIsConstant) {
  const auto problem = QuadraticSettings{.n = 6, .m = 8}.generate<double>();
  const auto end_of = [&](const auto &method) {
    auto state = problem.start();
    (void)run_steps(problem, method, state, 50);
    return state.x;
  };
  const Vec expected = end_of(Bagdc{.alpha = 0.1, .beta = 0.3, .eta = 0.3, .dual = DualStep::constant});
  EXPECT_LE(relative_error(end_of(Sbagdc{.alpha = 0.1, .beta = 0.3, .eta = 0.3, .decay = 0.0}), expected), 1e-12);
  const Sbagdc reduced{.alpha = 0.1, .beta = 0.3, .eta = 0.3, .reduced = true, .period = 10.0};
  EXPECT_LE(relative_error(end_of(reduced), expected), 1e-12) << "what changes from point to point sums up";
}

double error_of(const NoisySum &problem, const Sbagdc &method, std::int64_t steps) {
  auto state = problem.start();
  const auto summary = solve(in_batches(problem, 4), method, state, {.max_iterations = steps, .seed = 3});
  EXPECT_FALSE(summary.failed()) << summary.brief();
  return relative_error(state.x, problem.answer_x());
}

TEST(Sbagdc, ConvergesLinearlyWhereReducedAndEndsInANoiseWithStepsThatStay) {
  const NoisySum problem(40, 30, 4);
  const Sbagdc reduced{.alpha = 0.05, .beta = 0.2, .eta = 0.2, .reduced = true};
  const double first = error_of(problem, reduced, 100);
  const double second = error_of(problem, reduced, 200);
  EXPECT_LT(second, 0.1 * first);
  EXPECT_LT(error_of(problem, reduced, 300), 0.1 * second);
  EXPECT_LT(error_of(problem, reduced, 1200), 1e-10);
  EXPECT_GT(error_of(problem, {.alpha = 0.05, .beta = 0.2, .eta = 0.2, .decay = 0.0}, 1200), 1e-3);
}

} // namespace
} // namespace duplex::testing
