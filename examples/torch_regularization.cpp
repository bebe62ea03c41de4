// A network's regularization, one penalty per layer, tuned on validation data by BAGDC.

#include <duplex/duplex.hpp>
#include <duplex/torch/tensor_problem.hpp>

#include <ATen/ATen.h>

#include <cstdio>

using namespace duplex;

struct Data {
  at::Tensor inputs;
  at::Tensor targets;
};

// A sine of one of ten inputs, and noise: too few samples for so many weights.
Data samples(std::int64_t count) {
  const at::Tensor inputs = at::randn({count, 10});
  return {inputs, at::sin(2 * inputs.narrow(1, 0, 1)) + 0.3 * at::randn({count, 1})};
}

at::Tensor misfit(const Data &data, const std::vector<at::Tensor> &y) {
  const auto hidden = at::tanh(at::linear(data.inputs, y[0], y[1]));
  return (at::linear(hidden, y[2], y[3]) - data.targets).square().mean();
}

int main() {
  at::manual_seed(3);
  const Data training = samples(40);
  const Data validation = samples(200);

  // x: logarithms of two penalties; y: weights and biases of two layers.
  const TensorProblem problem(
      [=](const auto &, const auto &y) { return misfit(validation, y); },
      [=](const auto &x, const auto &y) {
        const auto penalties = x[0].exp();
        return misfit(training, y) + penalties[0] * y[0].square().sum() + penalties[1] * y[2].square().sum();
      },
      Tensors({at::full({2}, -6.0)}),
      Tensors({0.3 * at::randn({32, 10}), at::zeros({32}), 0.3 * at::randn({1, 32}), at::zeros({1})}));

  auto state = problem.start();
  const auto run = [&](double alpha) {
    const Bagdc solver{
        .alpha = alpha, .beta = 0.1, .eta = 0.1, .dual = DualStep::constant, .upper = {UpperMethod::adam}};
    const Summary summary = solve(problem, solver, state, {.max_iterations = 2000});
    std::printf("%s\n  penalties %.1e and %.1e\n", summary.brief().c_str(), state.x[0][0].exp().item<double>(),
                state.x[0][1].exp().item<double>());
    return misfit(validation, state.y.list()).item<double>();
  };
  const double before = run(1e-12); // the penalties stay, the network is trained
  const double after = run(0.005);  // both move
  std::printf("validation error %s from %.3f to %.3f\n", after < before ? "fell" : "ROSE", before, after);
  return after < before ? 0 : 1;
}
