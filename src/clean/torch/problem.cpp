#include "clean/torch/problem.hpp"

#include <ATen/ATen.h>

namespace duplex::clean {

at::Tensor scores_of(const std::vector<at::Tensor> &y, const at::Tensor &features) {
  return at::addmm(y[3], at::relu(at::addmm(y[1], features, y[0].t())), y[2].t());
}

at::Tensor cross_entropies(const std::vector<at::Tensor> &y, const NetworkSamples &samples) {
  return -(samples.targets * at::log_softmax(scores_of(y, samples.features), 1)).sum(1);
}

at::Tensor penalty_of(const std::vector<at::Tensor> &y, double rho) {
  return 0.5 * rho * (y[0].square().sum() + y[2].square().sum());
}

TensorProblem network_cleaning(const NetworkSamples &training, const NetworkSamples &used, double rho,
                               const Tensors &start) {
  const Tensors x({at::zeros({training.rows()}, training.features.options())});
  return {[used](const auto & /*x*/, const auto &y) { return cross_entropies(y, used).mean(); },
          [training, rho](const auto &x_now, const auto &y) {
            return (x_now[0].sigmoid() * cross_entropies(y, training)).mean() + penalty_of(y, rho);
          },
          x, start};
}

} // namespace duplex::clean
