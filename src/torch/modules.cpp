#include <duplex/torch/modules.hpp>

#include <c10/core/GradMode.h>

#include <string>

namespace duplex {

namespace {

void require_same_count(std::size_t given, std::size_t held) {
  if (given != held) {
    throw InvalidInput("the module has " + std::to_string(held) + " parameters, given are " + std::to_string(given));
  }
}

} // namespace

Tensors parameters_of(const torch::nn::Module &module) { return Tensors(module.parameters()); }

void load_parameters(const Tensors &source, torch::nn::Module &module) {
  const c10::NoGradGuard no_graph;
  const auto parameters = module.named_parameters();
  require_same_count(source.count(), parameters.size());
  for (std::size_t i = 0; i < source.count(); ++i) {
    if (parameters[i].value().sizes() != source[i].sizes()) {
      throw InvalidInput("the module's parameter '" + parameters[i].key() + "' has another shape than tensor " +
                         std::to_string(i));
    }
  }
  for (std::size_t i = 0; i < source.count(); ++i) {
    parameters[i].value().copy_(source[i]);
  }
}

void stand_at(std::vector<at::Tensor> &variables, torch::nn::Module &module) {
  auto parameters = module.parameters();
  require_same_count(variables.size(), parameters.size());
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    parameters[i].set_data(variables[i]);
    parameters[i].requires_grad_(true);
  }
  variables = std::move(parameters);
}

} // namespace duplex
