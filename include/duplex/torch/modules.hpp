#pragma once
// A bilevel problem from modules: the parameters of one as x, of another as y.
//
//   auto problem = module_problem(backbone, head,
//       [=](auto &backbone, auto &head) { return loss(head->forward(backbone->forward(queries)), labels); },
//       [=](auto &backbone, auto &head) { return loss(head->forward(backbone->forward(shots)), labels); });
//   auto state = problem.start();              // the modules' parameters as they are now
//   ... solve(problem, Bagdc{...}, state, ...);
//   load_parameters(state.x, *backbone);       // and back into the module
//
// Modules must be Cloneable and are used functionally: every evaluation has clones of its own whose parameters stand at
// its point, so that two evaluations at different points do not disturb each other. All parameters are variables, and
// running statistics of a normalization stay with the clones.

#include <duplex/torch/sampled_problem.hpp>
#include <duplex/torch/tensor_problem.hpp>

#include <torch/nn/module.h>
#include <torch/nn/pimpl.h>

#include <memory>
#include <utility>
#include <vector>

namespace duplex {

/// The module's parameters, sharing their memory with it.
[[nodiscard]] Tensors parameters_of(const torch::nn::Module &module);

/// Copies the numbers into the module. Throws InvalidInput where the shapes differ.
void load_parameters(const Tensors &source, torch::nn::Module &module);

/// Lets the module's parameters be the given numbers, without a copy, and puts them into the list instead.
void stand_at(std::vector<at::Tensor> &variables, torch::nn::Module &module);

/// A module of its own, with the same parameters.
template <class Holder> [[nodiscard]] Holder clone_of(const Holder &module) {
  auto copy = std::dynamic_pointer_cast<typename Holder::ContainedType>(module->clone());
  if (copy == nullptr) {
    throw InvalidInput("the module " + module->name() + " does not clone itself: derive it from torch::nn::Cloneable");
  }
  return Holder(std::move(copy));
}

/// loss(x module, y module), or loss(x module, y module, sample), as a function of their parameters.
template <class XModule, class YModule, class Loss> class ModuleLoss {
public:
  ModuleLoss(XModule x, YModule y, Loss loss) : x_(std::move(x)), y_(std::move(y)), loss_(std::move(loss)) {}
  ModuleLoss(const ModuleLoss &other) : x_(clone_of(other.x_)), y_(clone_of(other.y_)), loss_(other.loss_) {}
  ModuleLoss(ModuleLoss &&) noexcept = default;
  ModuleLoss &operator=(const ModuleLoss &) = delete;
  ModuleLoss &operator=(ModuleLoss &&) noexcept = default;
  ~ModuleLoss() = default;

  template <class... Sample>
  at::Tensor operator()(std::vector<at::Tensor> &x, std::vector<at::Tensor> &y, const Sample &...sample) {
    stand_at(x, *x_);
    stand_at(y, *y_);
    return loss_(x_, y_, sample...);
  }

private:
  XModule x_;
  YModule y_;
  Loss loss_;
};

/// Modules are holders such as torch::nn::Linear. Throws InvalidInput as TensorProblem does.
template <class XModule, class YModule, class UpperLoss, class LowerLoss>
[[nodiscard]] TensorProblem module_problem(const XModule &x, const YModule &y, UpperLoss upper, LowerLoss lower) {
  return TensorProblem(ModuleLoss<XModule, YModule, UpperLoss>(clone_of(x), clone_of(y), std::move(upper)),
                       ModuleLoss<XModule, YModule, LowerLoss>(clone_of(x), clone_of(y), std::move(lower)),
                       parameters_of(*x), parameters_of(*y));
}

/// The same with losses that take a sample, which is drawn for every step.
template <class XModule, class YModule, class UpperLoss, class LowerLoss>
[[nodiscard]] SampledTensorProblem module_problem(const XModule &x, const YModule &y, UpperLoss upper, LowerLoss lower,
                                                  TensorDraw draw) {
  return SampledTensorProblem(ModuleLoss<XModule, YModule, UpperLoss>(clone_of(x), clone_of(y), std::move(upper)),
                              ModuleLoss<XModule, YModule, LowerLoss>(clone_of(x), clone_of(y), std::move(lower)),
                              std::move(draw), parameters_of(*x), parameters_of(*y));
}

} // namespace duplex
