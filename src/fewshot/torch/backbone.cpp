#include "fewshot/torch/backbone.hpp"

#include <ATen/ATen.h>

#include <cmath>
#include <random>

namespace duplex::fewshot {

namespace {

constexpr std::int64_t kernel = 3;
constexpr std::size_t per_block = 4; // parameters

std::int64_t inputs_of(std::int64_t block) { return block == 0 ? 1 : channels; }

} // namespace

Tensors fresh_backbone(std::uint64_t seed, const at::Device &device, at::ScalarType type) {
  std::mt19937_64 generator(seed);
  const auto uniform = [&](at::IntArrayRef shape, double bound) {
    at::Tensor numbers = at::empty(shape, at::kDouble);
    for (std::int64_t i = 0; i < numbers.numel(); ++i) {
      constexpr double unit = 0x1p-53;
      numbers.data_ptr<double>()[i] = bound * (2.0 * unit * static_cast<double>(generator() >> 11U) - 1.0);
    }
    return numbers.to(device, type);
  };
  std::vector<at::Tensor> parameters;
  for (std::int64_t block = 0; block < blocks; ++block) {
    const std::int64_t inputs = inputs_of(block);
    const double bound = 1.0 / std::sqrt(static_cast<double>(inputs * kernel * kernel)); // as PyTorch's convolutions
    parameters.push_back(uniform({channels, inputs, kernel, kernel}, bound));
    parameters.push_back(uniform({channels}, bound));
    parameters.push_back(at::ones({channels}, at::device(device).dtype(type)));
    parameters.push_back(at::zeros({channels}, at::device(device).dtype(type)));
  }
  return Tensors(std::move(parameters));
}

at::Tensor flattened(const Tensors &backbone) {
  std::vector<at::Tensor> parts;
  for (const auto &parameter : backbone) {
    parts.push_back(parameter.flatten());
  }
  return at::cat(parts);
}

std::vector<at::Tensor> unflattened(const at::Tensor &flat) {
  std::vector<std::int64_t> sizes;
  for (std::int64_t block = 0; block < blocks; ++block) {
    sizes.insert(sizes.end(), {channels * inputs_of(block) * kernel * kernel, channels, channels, channels});
  }
  auto parameters = at::split_with_sizes(flat, sizes); // whose derivative is one concatenation
  for (std::int64_t block = 0; block < blocks; ++block) {
    auto &weights = parameters[per_block * static_cast<std::size_t>(block)];
    weights = weights.view({channels, inputs_of(block), kernel, kernel});
  }
  return parameters;
}

at::Tensor features_of(const std::vector<at::Tensor> &backbone, const at::Tensor &pixels, std::int64_t tasks) {
  constexpr double epsilon = 1e-5;
  const std::int64_t samples = pixels.size(0) / tasks;
  at::Tensor h = pixels;
  for (std::size_t block = 0; block < static_cast<std::size_t>(blocks); ++block) {
    const at::Tensor *const parameters = backbone.data() + per_block * block;
    h = at::max_pool2d(at::conv2d(h, parameters[0], {}, 1, 1), 2);
    h = at::relu(h + parameters[1].view({1, channels, 1, 1}));
    // A task's samples lie `tasks` apart, so that its channels are channels of their own in this view.
    const auto side = h.size(2);
    h = at::batch_norm(h.view({samples, tasks * channels, side, side}), parameters[2].repeat({tasks}),
                       parameters[3].repeat({tasks}), {}, {}, true, 0.0, epsilon, true)
            .view({samples * tasks, channels, side, side});
  }
  return h.view({samples, tasks, feature_count}).transpose(0, 1).contiguous();
}

} // namespace duplex::fewshot
