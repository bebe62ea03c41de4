#include "fewshot/learner.hpp"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <torch/csrc/autograd/autograd.h>

#include <cmath>
#include <utility>

namespace duplex::fewshot {

namespace {

constexpr double brightest = 255.0;

at::Tensor wanted_of(std::int64_t tasks, std::int64_t samples, std::int64_t ways, const at::TensorOptions &options) {
  const auto labels = at::arange(samples, at::kLong).remainder(ways);
  return at::one_hot(labels, ways).to(options).unsqueeze(0).repeat({tasks, 1, 1});
}

} // namespace

Learner::Learner(LearnerSettings settings, HeadSolver solver, at::Tensor images, Tensors backbone)
    : settings_(settings), solver_(std::move(solver)), images_(std::move(images)), backbone_(std::move(backbone)),
      direction_(zeros_like(backbone_)), first_(zeros_like(backbone_)), second_(zeros_like(backbone_)),
      learning_(backbone_), testing_(backbone_) {
  const auto options = backbone_[0].options();
  const auto &shape = settings_.shape;
  const auto tasks = settings_.meta_batch;
  shots_ = at::zeros({shape.shot_samples() * tasks}, options.dtype(at::kLong));
  queries_ = at::zeros({shape.query_samples() * tasks}, options.dtype(at::kLong));
  shots_wanted_ = wanted_of(tasks, shape.shot_samples(), shape.ways, options);
  queries_wanted_ = wanted_of(tasks, shape.query_samples(), shape.ways, options);
  correct_ = at::zeros({tasks}, options);
}

void Learner::Repeated::run(bool captures, const std::function<void()> &work) {
  constexpr int plain_calls = 2;
  if (!captures) {
    work();
  } else if (++calls_ <= plain_calls) {
    graph_.warm_up(work);
  } else {
    if (!graph_.captured()) {
      graph_.capture(work);
    }
    graph_.replay();
  }
}

void Learner::load(TaskBatch batch) {
  const auto copy = [](std::vector<std::int64_t> &from, at::Tensor &into) {
    into.copy_(at::from_blob(from.data(), {static_cast<std::int64_t>(from.size())}, at::kLong));
  };
  copy(batch.shots, shots_);
  copy(batch.queries, queries_);
}

at::Tensor Learner::pixels(const at::Tensor &numbers) const {
  constexpr auto side = data::DoubleMnist::side;
  return images_.index_select(0, numbers).to(backbone_[0].scalar_type()).div_(brightest).view({-1, 1, side, side});
}

void Learner::find_direction() {
  const c10::AutoGradMode with_graph(true);
  std::vector<at::Tensor> leaves;
  for (const auto &parameter : backbone_) {
    leaves.push_back(parameter.detach().requires_grad_(true));
  }
  const auto shots = features_of(leaves, pixels(shots_), settings_.meta_batch);
  const auto queries = features_of(leaves, pixels(queries_), settings_.meta_batch);
  Tensors direction;
  {
    const c10::NoGradGuard no_graph;
    direction = solver_(Heads(Tensors({shots, queries}), shots_wanted_, queries_wanted_));
  }
  direction_.copy_from(torch::autograd::grad({shots, queries}, leaves, direction.list(), false, false, true));
}

void Learner::step(TaskSampler &tasks) {
  load(tasks.draw(settings_.meta_batch));
  learning_.run(settings_.captures && LaunchGraph::supports(backbone_), [this] { find_direction(); });
  adam_update(UpperRule{}, settings_.alpha, ++steps_, direction_, first_, second_, backbone_);
}

void Learner::adapt_and_test() {
  const c10::NoGradGuard no_graph;
  const auto shots = features_of(backbone_.list(), pixels(shots_), settings_.meta_batch);
  const auto queries = features_of(backbone_.list(), pixels(queries_), settings_.meta_batch);
  const Heads heads(Tensors({shots, queries}), shots_wanted_, queries_wanted_);
  auto state = heads.start();
  auto lower = heads.lower();
  Tensors gradient = zeros_like(state.y);
  for (std::int64_t k = 0; k < settings_.test_steps; ++k) {
    lower.at(state.x, state.y);
    lower.grad_y(gradient);
    axpy(-settings_.test_step, gradient, state.y);
  }
  correct_.copy_(accuracy(queries, state.y, queries_wanted_));
}

Evaluation Learner::evaluate(TaskSampler &tasks, std::int64_t count) {
  std::vector<at::Tensor> parts;
  for (std::int64_t done = 0; done < count; done += settings_.meta_batch) {
    load(tasks.draw(settings_.meta_batch));
    testing_.run(settings_.captures && LaunchGraph::supports(backbone_), [this] { adapt_and_test(); });
    parts.push_back(correct_.clone());
  }
  const auto all = at::cat(parts).to(at::kCPU, at::kDouble).narrow(0, 0, count);
  constexpr double normal_quantile = 1.96;
  const double spread = count > 1 ? all.std().item<double>() : 0.0;
  return {all.mean().item<double>(), normal_quantile * spread / std::sqrt(static_cast<double>(count))};
}

} // namespace duplex::fewshot
