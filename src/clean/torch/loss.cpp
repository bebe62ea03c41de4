#include "clean/torch/loss.hpp"

#include <ATen/ATen.h>

namespace duplex::clean {

at::Tensor scores_of(const std::vector<at::Tensor> &y, const at::Tensor &features) {
  return at::addmm(y[3], at::relu(at::addmm(y[1], features, y[0].t())), y[2].t());
}

at::Tensor losses_of(const std::vector<at::Tensor> &y, const NetworkSamples &samples) {
  constexpr double least = 1e-30; // of a likelihood, whose logarithm is taken
  const auto log_p = at::log_softmax(scores_of(y, samples.features), 1);
  return -at::logsumexp(log_p + samples.likelihoods.clamp_min(least).log(), {1});
}

at::Tensor penalty_of(const std::vector<at::Tensor> &y, double rho) {
  return 0.5 * rho * (y[0].square().sum() + y[2].square().sum());
}

} // namespace duplex::clean
