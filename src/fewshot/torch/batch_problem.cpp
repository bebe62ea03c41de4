#include "fewshot/torch/batch_problem.hpp"

#include "data/double_mnist.hpp"
#include "fewshot/torch/backbone.hpp"

#include <ATen/ATen.h>

#include <utility>

namespace duplex::fewshot {

namespace {

at::Tensor wanted_of(std::int64_t tasks, std::int64_t samples, std::int64_t ways, const at::TensorOptions &options) {
  const auto labels = at::arange(samples, at::kLong).remainder(ways);
  return at::one_hot(labels, ways).to(options).unsqueeze(0).repeat({tasks, 1, 1});
}

at::Tensor features_at(const at::Tensor &flat_backbone, const at::Tensor &images, const at::Tensor &numbers,
                       std::int64_t tasks) {
  constexpr auto side = data::DoubleMnist::side;
  constexpr double brightest = 255.0;
  const auto pixels = images.index_select(0, numbers).to(flat_backbone.scalar_type()).div_(brightest);
  return features_of(unflattened(flat_backbone), pixels.view({-1, 1, side, side}), tasks);
}

} // namespace

BatchProblem::BatchProblem(const TaskShape &shape, std::int64_t tasks, at::Tensor images, const Tensors &x)
    : tasks_(tasks), images_(std::move(images)), x_size_(size(x)) {
  const auto options = x[0].options();
  shots_ = at::zeros({shape.shot_samples() * tasks}, options.dtype(at::kLong));
  queries_ = at::zeros({shape.query_samples() * tasks}, options.dtype(at::kLong));
  shots_wanted_ = wanted_of(tasks, shape.shot_samples(), shape.ways, options);
  queries_wanted_ = wanted_of(tasks, shape.query_samples(), shape.ways, options);
}

Index BatchProblem::y_size() const { return tasks_ * (feature_count + 1) * shots_wanted_.size(2); }

Tensors BatchProblem::heads_at_zero() const {
  const auto ways = shots_wanted_.size(2);
  const auto options = shots_wanted_.options();
  return Tensors({at::zeros({tasks_, feature_count, ways}, options), at::zeros({tasks_, 1, ways}, options)});
}

std::vector<at::Tensor> BatchProblem::features(const at::Tensor &flat_backbone) const {
  return {features_at(flat_backbone, images_, shots_, tasks_), features_at(flat_backbone, images_, queries_, tasks_)};
}

Heads BatchProblem::heads(const std::vector<at::Tensor> &features) const {
  return {Tensors(features), shots_wanted_, queries_wanted_};
}

BatchProblem::Evaluation BatchProblem::level(const at::Tensor &numbers, const at::Tensor &wanted,
                                             TensorProblem::Level level) const {
  return {[images = images_, tasks = tasks_, numbers, wanted](const auto &x, const auto &y) {
            return cross_entropy(features_at(x[0], images, numbers, tasks), y, wanted);
          },
          level};
}

} // namespace duplex::fewshot
