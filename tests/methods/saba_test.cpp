// SABA, SRBA and SPABA: what they refuse, what their steps cost, and that they end in no noise.

#include "noisy_problem.hpp"

#include <string>
#include <vector>

namespace duplex::testing {
namespace {

template <class S> std::string refusal_of_option(const S &solver) {
  const auto problem = bent();
  auto state = problem.start();
  return refusal([&] { (void)run_steps(problem, solver, state, 1); });
}

TEST(Saba, RefusesWrongOptionsAsItsKinDo) {
  EXPECT_EQ(refusal_of_option(Saba{.alpha = 0.0}), "saba: alpha = 0, expected > 0 and finite");
  EXPECT_EQ(refusal_of_option(Saba{.eta = -1.0}), "saba: eta = -1, expected > 0 and finite");
  EXPECT_EQ(refusal_of_option(Srba{.period = 0.0}), "srba: period = 0, expected > 0 and finite");
  EXPECT_EQ(refusal_of_option(Spaba{.period = -1.0}), "spaba: period = -1, expected > 0 and finite");
}

/// Two million samples that are all alike, of a million variables: a table of them takes 50 TB.
class ManyAlike : public NoisyInWhole {
public:
  explicit ManyAlike(const Noisy &one) : NoisyInWhole(one) {}
  using NoisyInWhole::lower;
  using NoisyInWhole::upper;
  [[nodiscard]] Noisy::Lower lower(const Batch & /*batch*/) const { return lower(); }
  [[nodiscard]] Noisy::Upper upper(const Batch & /*batch*/) const { return upper(); }
  [[nodiscard]] static Index lower_samples() { return 2'000'000; }
  [[nodiscard]] static Index upper_samples() { return 1; }
};

TEST(Saba, RefusesTablesThatAreLargerThanMemoryBeforeItAsksForThem) {
  const Noisy one(1, 1'000'000, 1);
  const ManyAlike problem(one);
  const auto batches = in_batches(problem, 1);
  auto state = problem.start();
  const std::string message = refusal([&] { (void)run_steps(batches, Saba{}, state, 1); });
  EXPECT_CONTAINS(message,
                  "saba: tables of 2000000 and 1 batches (srba and spaba keep none; larger batches are fewer)");
  EXPECT_CONTAINS(message, "GB are needed");
}

template <class P, class S> double error_of_batches(const P &problem, const S &method, std::int64_t steps) {
  auto state = problem.start();
  const auto summary = solve(in_batches(problem, 4), method, state, {.max_iterations = steps, .seed = 3});
  EXPECT_FALSE(summary.failed()) << summary.brief();
  return relative_error(state.x, problem.answer_x());
}

TEST(Saba, AndItsKinConvergeLinearlyWithConstantStepsWhereSobaEndsInANoise) {
  const NoisySum problem(40, 30, 4);
  const auto expect_linear = [&](const auto &method) {
    const double first = error_of_batches(problem, method, 100);
    const double second = error_of_batches(problem, method, 200);
    const double third = error_of_batches(problem, method, 300);
    EXPECT_LT(second, 0.1 * first) << method.name;
    EXPECT_LT(third, 0.1 * second) << method.name;
    EXPECT_LT(error_of_batches(problem, method, 1200), 1e-10) << method.name;
  };
  expect_linear(Saba{.alpha = 0.05, .beta = 0.2, .eta = 0.2});
  expect_linear(Srba{.alpha = 0.05, .beta = 0.2, .eta = 0.2});
  expect_linear(Spaba{.alpha = 0.05, .beta = 0.2, .eta = 0.2});
  EXPECT_GT(error_of_batches(problem, Soba{.alpha = 0.05, .beta = 0.2, .eta = 0.2, .decay = 0.0}, 1200), 1e-3);
}

TEST(Saba, AndItsKinAreSobaWithConstantStepsWhereNothingIsDrawn) {
  const auto problem = bent();
  const Soba soba{.alpha = 0.1, .beta = 0.2, .eta = 0.2, .decay = 0.0};
  auto expected = problem.start();
  (void)run_steps(problem, soba, expected, 200);
  const auto end_of = [&](const auto &method) {
    auto state = problem.start();
    (void)run_steps(problem, method, state, 200);
    return state;
  };
  EXPECT_TRUE(same_bits(end_of(Srba{}), expected));
  EXPECT_TRUE(same_bits(end_of(Spaba{}), expected));
  for (const auto &state : {end_of(Saba{}), end_of(Srba{.period = 20.0}), end_of(Spaba{.period = 20.0})}) {
    EXPECT_LE(relative_error(state.x, expected.x), 1e-13);
    EXPECT_LE(relative_error(state.y, expected.y), 1e-13);
    EXPECT_LE(relative_error(state.v, expected.v), 1e-13);
  }
}

/// Passes over both levels of each step.
template <class S> std::vector<double> passes_of_steps(const S &method, std::int64_t steps) {
  const NoisySum problem(10, 7, 2); // in batches of two: five and four
  std::vector<double> passes;
  double before = 0.0;
  for (const auto &step : record(in_batches(problem, 2), method, problem.start(), steps)) {
    const double now = step.counters.lower_passes + step.counters.upper_passes;
    passes.push_back(now - before);
    before = now;
  }
  return passes;
}

TEST(Srba, TakesDirectionsOfTheWholeEverySoManySteps) {
  const auto passes = passes_of_steps(Srba{.period = 0.33}, 10); // .33 · 9 = 2.97
  for (std::size_t k = 0; k < passes.size(); ++k) {
    EXPECT_NEAR(passes[k], k % 3 == 0 ? 5.0 : 6.0 / 5.0 + 4.0 / 4.0, 1e-12) << k;
  }
}

TEST(Saba, TakesAPassForItsTablesAndABatchForEveryStep) {
  const auto passes = passes_of_steps(Saba{}, 10);
  for (std::size_t k = 0; k < passes.size(); ++k) {
    EXPECT_NEAR(passes[k], (k == 0 ? 5.0 : 0.0) + 3.0 / 5.0 + 2.0 / 4.0, 1e-12) << k;
  }
}

TEST(Saba, AndItsKinAreMendedByRecovery) {
  const NoisySum problem(40, 30, 4);
  const auto batches = in_batches(problem, 4);
  const auto expect_mended = [&](auto wild) {
    wild.beta = 60.0;
    auto alone = problem.start();
    EXPECT_TRUE(solve(batches, wild, alone, {.max_iterations = 2000}).failed()) << wild.name;
    auto state = problem.start();
    const auto summary = solve(batches, wild, state, {.max_iterations = 4000, .recoveries = 12});
    EXPECT_FALSE(summary.failed()) << summary.brief();
    EXPECT_FALSE(summary.recoveries.empty()) << wild.name;
    EXPECT_LT(relative_error(state.x, problem.answer_x()), 1e-6) << wild.name;
  };
  expect_mended(Saba{.alpha = 0.05});
  expect_mended(Srba{.alpha = 0.05});
  expect_mended(Spaba{.alpha = 0.05});
}

} // namespace
} // namespace duplex::testing
