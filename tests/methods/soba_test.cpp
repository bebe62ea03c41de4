// SOBA and its moving average: their steps written out by hand, their rate, and the noise that they end in.

#include "noisy_problem.hpp"
#include "saved_run.hpp"

#include <cmath>
#include <utility>

namespace duplex::testing {
namespace {

template <class S> std::string refusal_of_joint(const S &solver) {
  const auto problem = bent();
  auto state = problem.start();
  return refusal([&] { (void)run_steps(problem, solver, state, 1); });
}

TEST(Soba, RefusesWrongOptions) {
  EXPECT_EQ(refusal_of_joint(Soba{.alpha = 0.0}), "soba: alpha = 0, expected > 0 and finite");
  EXPECT_EQ(refusal_of_joint(Soba{.eta = -1.0}), "soba: eta = -1, expected > 0 and finite");
  EXPECT_EQ(refusal_of_joint(Soba{.decay = -0.5}), "soba: decay = -0.5, expected >= 0 and finite");
  EXPECT_CONTAINS(refusal_of_joint(MaSoba{.averaging = 0.0}), "ma-soba: averaging = 0, expected > 0");
  EXPECT_CONTAINS(refusal_of_joint(MaSoba{.averaging = 1.5}), "ma-soba: averaging = 1.5");
}

/// x, y, v and the average of f = ½y² − xy and F = ½(x − 1)² + ½y², from 2, 2, 0.
struct ByHand {
  double x = 2.0;
  double y = 2.0;
  double v = 0.0;
  double h = 0.0;
  void step(const MaSoba &method, std::int64_t k) {
    const double theta = k == 0 ? 1.0 : method.averaging;
    const double share = std::pow(static_cast<double>(k + 1), -method.decay);
    const double g = y - x;
    const double r = v - y;
    h = (1.0 - theta) * h + theta * (x - 1.0 + v);
    y -= share * method.beta * g;
    v -= share * method.eta * r;
    x -= share * method.alpha * h;
  }
};

TEST(Soba, MovesAllVariablesFromOnePointBySmallerAndSmallerSteps) {
  const CounterExample problem(IdentityMatrix(1), Vec::Ones(1).eval());
  const MaSoba averaged{.alpha = 0.1, .beta = 0.3, .eta = 0.4, .decay = 0.5, .averaging = 0.25};
  ByHand hand;
  std::int64_t k = 0;
  for (const auto &step : record(problem, averaged, problem.start(), 20)) {
    hand.step(averaged, k++);
    EXPECT_NEAR(step.state.x[0], hand.x, 1e-14);
    EXPECT_NEAR(step.state.y[0], hand.y, 1e-14);
    EXPECT_NEAR(step.state.v[0], hand.v, 1e-14);
    EXPECT_NEAR(step.direction[0], hand.h, 1e-14);
  }
  const MaSoba all_of_the_last{.alpha = 0.1, .beta = 0.3, .eta = 0.4, .averaging = 1.0};
  const Soba plain{.alpha = 0.1, .beta = 0.3, .eta = 0.4};
  const auto one = record(problem, all_of_the_last, problem.start(), 20);
  const auto other = record(problem, plain, problem.start(), 20);
  EXPECT_TRUE(same_bits(one.back().state, other.back().state));
}

TEST(Soba, ConvergesLinearlyWithConstantStepsWhereNothingIsDrawn) {
  const auto problem = QuadraticSettings{.n = 6, .m = 8}.generate<double>();
  const auto answer = problem.answer();
  ASSERT_TRUE(answer);
  const auto error_after = [&](std::int64_t steps) {
    auto state = problem.start();
    (void)run_steps(problem, Soba{.alpha = 0.2, .beta = 0.8, .eta = 0.8, .decay = 0.0}, state, steps);
    return relative_error(state.x, answer->x);
  };
  const double first = error_after(300);
  const double second = error_after(600);
  const double third = error_after(900);
  EXPECT_LT(second, 0.1 * first);
  EXPECT_NEAR(std::log(third / second), std::log(second / first), 0.2 * std::abs(std::log(second / first)));
}

/// The mean of ‖x − x*‖/‖x*‖ at the end of a run, over seeds.
template <class S> double error_of(const Noisy &problem, const S &method) {
  double sum = 0.0;
  for (std::uint64_t seed = 0; seed < 4; ++seed) {
    auto state = problem.start();
    const auto summary = solve(problem, method, state, {.max_iterations = 8000, .seed = seed});
    EXPECT_FALSE(summary.failed()) << summary.brief();
    sum += relative_error(state.x, problem.answer_x());
  }
  return sum / 4.0;
}

TEST(Soba, EndsInANoiseOfTheSizeOfItsStepsWhereSamplesAreDrawn) {
  const Noisy problem(40, 5, 4);
  const auto with_alpha = [](double alpha) {
    return Soba{.alpha = alpha, .beta = 4.0 * alpha, .eta = 4.0 * alpha, .decay = 0.0};
  };
  const double large = error_of(problem, with_alpha(0.1));
  const double small = error_of(problem, with_alpha(0.1 / 16.0));
  EXPECT_GT(large, 0.02) << "a floor that is there";
  EXPECT_LT(small, 0.5 * large) << "a quarter, by its theory";
  EXPECT_LT(error_of(problem, Soba{.alpha = 0.1, .beta = 0.4, .eta = 0.4}), 0.5 * large) << "steps that shrink";
}

/// The mean of ‖d‖ over the last half of a run.
template <class S> double length_of_directions(const Noisy &problem, const S &method) {
  constexpr std::int64_t steps = 2000;
  const auto run = record(problem, method, problem.start(), steps);
  double sum = 0.0;
  for (std::size_t k = steps / 2; k < run.size(); ++k) {
    sum += run[k].direction.norm();
  }
  return 2.0 * sum / steps;
}

TEST(MaSoba, MovesXByLessOfTheNoiseOfASampleThanSobaDoes) {
  const Noisy problem(40, 5, 4);
  const double of_samples = length_of_directions(problem, Soba{.alpha = 0.01, .beta = 0.04, .eta = 0.04, .decay = 0.0});
  const double of_averages =
      length_of_directions(problem, MaSoba{.alpha = 0.01, .beta = 0.04, .eta = 0.04, .decay = 0.0, .averaging = 0.05});
  EXPECT_LT(of_averages, 0.5 * of_samples) << "√(θ/(2 − θ)) = .16 of the noise, by its theory";
}

TEST(Soba, GoesOnToTheSameBits) {
  const Noisy problem(20, 3, 4);
  expect_same_bits(problem, Soba{}, "soba");
  expect_same_bits(problem, MaSoba{}, "ma-soba");
}

} // namespace
} // namespace duplex::testing
