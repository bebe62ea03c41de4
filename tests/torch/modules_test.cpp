// Problems from modules: x and y are their parameters.

#include "torch_support.hpp"

#include <duplex/torch/modules.hpp>

#include <torch/nn/functional/loss.h>
#include <torch/nn/modules/linear.h>
#include <torch/utils.h>

namespace duplex::testing {
namespace {

using torch::nn::Linear;

struct Data {
  at::Tensor inputs = at::linspace(-1, 1, 24).reshape({8, 3});
  at::Tensor targets = at::linspace(0, 1, 16).reshape({8, 2});
};

auto loss_on(const Data &data, double penalty) {
  return [data, penalty](Linear &features, Linear &head) {
    const auto out = head->forward(at::tanh(features->forward(data.inputs)));
    at::Tensor loss = (out - data.targets).square().mean();
    for (const auto &parameter : head->parameters()) {
      loss = loss + penalty * parameter.square().sum();
    }
    return loss;
  };
}

/// The same written out on tensors.
auto tensor_loss_on(const Data &data, double penalty) {
  return [data, penalty](const std::vector<at::Tensor> &x, const std::vector<at::Tensor> &y) {
    const auto out = at::linear(at::tanh(at::linear(data.inputs, x[0], x[1])), y[0], y[1]);
    return (out - data.targets).square().mean() + penalty * y[0].square().sum() + penalty * y[1].square().sum();
  };
}

TEST(ModuleProblem, HasTheIteratesOfTheSameLossesOnTensors) {
  torch::manual_seed(1);
  Linear features(3, 4);
  Linear head(4, 2);
  const Data data;
  const auto modules = module_problem(features, head, loss_on(data, 0.0), loss_on(data, 0.1));
  const TensorProblem tensors(tensor_loss_on(data, 0.0), tensor_loss_on(data, 0.1), parameters_of(*features),
                              parameters_of(*head));
  for (const auto dual : {DualStep::constant, DualStep::adaptive}) {
    expect_the_same_run(tensors, modules, Bagdc{.alpha = 0.3, .beta = 0.3, .eta = 0.5, .dual = dual}, 50, 1e-5);
  }
}

TEST(ModuleProblem, LeavesTheModulesAloneUntilTheyAreLoaded) {
  torch::manual_seed(1);
  Linear features(3, 4);
  Linear head(4, 2);
  const Vec before = entries_of(parameters_of(*features));
  const auto problem = module_problem(features, head, loss_on({}, 0.0), loss_on({}, 0.1));
  auto state = problem.start();
  (void)run_steps(problem, Bagdc{.alpha = 0.3, .beta = 0.3}, state, 5);
  EXPECT_TRUE(same_bits(entries_of(parameters_of(*features)), before));
  load_parameters(state.x, *features);
  EXPECT_TRUE(same_bits(entries_of(parameters_of(*features)), entries_of(state.x)));
}

TEST(ModuleProblem, RefusesParametersOfAnotherModule) {
  torch::manual_seed(1);
  Linear features(3, 4);
  Linear head(4, 2);
  EXPECT_CONTAINS(refusal([&] { load_parameters(parameters_of(*features), *head); }), "'weight' has another shape");
  EXPECT_CONTAINS(refusal([&] { load_parameters(Tensors({at::ones(2)}), *head); }), "2 parameters, given are 1");
}

TEST(ModuleProblem, KeepsTwoEvaluationsApart) {
  torch::manual_seed(1);
  Linear features(3, 4);
  Linear head(4, 2);
  const auto problem = module_problem(features, head, loss_on({}, 0.0), loss_on({}, 0.1));
  const auto state = problem.start();
  Tensors elsewhere = state.y;
  scale(3.0, elsewhere);
  auto here = problem.lower();
  auto there = problem.lower();
  Tensors before;
  Tensors after;
  here.at(state.x, state.y);
  here.cross_xy(state.y, before);
  here.at(state.x, state.y);
  here.grad_y(after); // the pass is done, then the other evaluation moves
  there.at(state.x, elsewhere);
  there.grad_y(after);
  here.cross_xy(state.y, after);
  EXPECT_TRUE(same_bits(entries_of(after), entries_of(before)));
}

} // namespace
} // namespace duplex::testing
