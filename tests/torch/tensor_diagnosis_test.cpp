// What a run on tensors says of itself when it breaks.

#include "torch_support.hpp"

#include <limits>

namespace duplex::testing {
namespace {

/// √y, no number where y is negative: y and x walk from 1 towards −1.5.
TEST(DiagnosisOnTensors, NamesTheLevelAndTheStepOfALossThatBecomesNaN) {
  const auto f = [](const auto &x, const auto &y) { return 0.5 * (y[0] - x[0]).square().sum(); };
  const auto upper = [](const auto &x, const auto &y) {
    return 0.5 * (x[0] + 3).square().sum() + 0.5 * y[0].square().sum();
  };
  const auto root = [](const at::Tensor &y) { return 1e-9 * y.sqrt().sum(); };
  const Tensors one({at::ones(1, at::kDouble)});
  const TensorProblem lower_breaks(
      upper, [=](const auto &x, const auto &y) { return f(x, y) + root(y[0]); }, one, one);
  const TensorProblem upper_breaks([=](const auto &x, const auto &y) { return upper(x, y) + root(y[0]); }, f, one, one);
  const TensorProblem sound(upper, f, one, one);
  const auto expect_messages = [&](const auto &solver, std::int64_t later) {
    auto state = sound.start();
    std::int64_t crossing = 0;
    Monitor<Tensors> monitor;
    monitor.stop_when = [&](const Progress<Tensors> &progress) {
      crossing = progress.iteration;
      return progress.state.y[0].template item<double>() < 0.0;
    };
    ASSERT_EQ(solve(sound, solver, state, {}, monitor).termination, Termination::predicate);
    const auto message = [&](const TensorProblem &problem) {
      auto from = problem.start();
      return solve(problem, solver, from).message;
    };
    EXPECT_CONTAINS(message(upper_breaks), "upper level: the loss F is NaN at step " + std::to_string(crossing));
    EXPECT_CONTAINS(message(lower_breaks),
                    "lower level: the loss f is NaN at step " + std::to_string(crossing + later));
  };
  expect_messages(Bagdc{.alpha = 0.2, .beta = 0.5}, 0);
  expect_messages(Nosa{.alpha = 0.2, .beta = 0.5}, 1); // which meets f at y⁺ in its next step
  expect_messages(Rhg{.alpha = 0.2, .beta = 0.5, .inner = 1}, 1);
  expect_messages(Cg{.alpha = 0.2, .beta = 0.5, .inner = 1}, 0);
}

TEST(DiagnosisOnTensors, NamesTheVariableThatIsNotFinite) {
  const auto problem = counter_example_on_tensors<double>(at::eye(3, at::kDouble), {Vec::Ones(3), Vec::Ones(3), {}});
  const auto message = [&](const auto &solver) {
    auto state = problem.start();
    scale(10.0, state.y);
    return solve(problem, solver, state, {.divergence_factor = infinity}).message;
  };
  constexpr double largest = std::numeric_limits<double>::max();
  EXPECT_EQ(message(Bagdc{.alpha = 0.1, .beta = largest}),
            "lower level: y is not finite at step 1; try a smaller beta");
  EXPECT_EQ(message(Rhg{.beta = 1e200, .inner = 3}), "lower level: y is not finite at step 1; try a smaller beta");
  EXPECT_EQ(message(Bagdc{.alpha = 0.1, .beta = 0.2, .eta = largest, .dual = DualStep::constant}),
            "multiplier v is not finite at step 1; try a smaller eta");
  EXPECT_CONTAINS(message(Nosa{.beta = 3.0}), "the steps of y are too long, beta = 3 with 2/λ = 2");
}

} // namespace
} // namespace duplex::testing
