#include "fewshot/torch/learner.hpp"

#include "fewshot/torch/backbone.hpp"

#include <duplex/torch/captured.hpp>

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <torch/csrc/autograd/autograd.h>

#include <utility>

namespace duplex::fewshot {

namespace {

/// The same memory under another name.
Tensors shared(const Tensors &of) { return Tensors(of.list()); }

} // namespace

Learner::Learner(const Settings &settings, at::Tensor images, const Tensors &backbone, TaskSampler tasks)
    : settings_(settings.completed()),
      solver_(head_solver(settings_.solver, settings_.head_steps, settings_.head_step)), images_(images.size(0)),
      tasks_(std::move(tasks), settings_.meta_batch, backbone[0].device()), state_{.x = Tensors({flattened(backbone)}),
                                                                                   .y = {},
                                                                                   .v = {}},
      problem_(settings_.shape, settings_.meta_batch, std::move(images), state_.x), direction_(zeros_like(state_.x)),
      learning_(settings_.graph, state_.x) {
  state_.y = problem_.heads_at_zero();
  state_.v = problem_.heads_at_zero();
  if (settings_.pool > 0) {
    pool_.emplace(tasks_.draw(settings_.pool), settings_.pool, state_.y);
  }
}

Tensors Learner::backbone() const { return Tensors(unflattened(state_.x[0])); }

void Learner::prepare() {
  if (!LaunchGraph::supports(state_.x)) {
    return;
  }
  TaskQueue(tasks_).next(problem_.shots(), problem_.queries()); // of a copy: the tasks themselves are still to come
  for (int call = 0; call < Repeated::calls_until_replayed; ++call) {
    learning_.run([this] { find_direction(); });
  }
  set_zero(state_.y);
  set_zero(state_.v);
  (void)norm(direction_); // waits
}

std::string Learner::step() {
  take_tasks();
  failure_.clear();
  learning_.run([this] { find_direction(); });
  if (pool_) {
    pool_->take_back(state_.y, state_.v);
  }
  return failure_;
}

void Learner::take_tasks() {
  if (pool_) {
    pool_->lend(problem_.shots(), problem_.queries(), state_.y, state_.v);
  } else {
    tasks_.next(problem_.shots(), problem_.queries());
  }
}

void Learner::find_direction() {
  auto found = settings_.features == Features::kept ? direction_on_features() : direction_through_backbone();
  failure_ = std::move(found.failure);
  if (failure_.empty()) {
    direction_.copy_from(found.direction.list());
  }
}

HeadSteps Learner::direction_on_features() {
  const c10::AutoGradMode with_graph(true);
  const auto backbone = state_.x[0].detach().requires_grad_(true);
  const auto features = problem_.features(backbone);
  HeadSteps found;
  {
    const c10::NoGradGuard no_graph;
    auto state = first_state(Tensors(features));
    found = solver_.on_features(problem_.heads(features), state);
    keep(state);
  }
  if (found.failure.empty()) { // by one backward pass from the features to the backbone
    found.direction = Tensors(torch::autograd::grad(features, {backbone}, found.direction.list()));
  }
  return found;
}

HeadSteps Learner::direction_through_backbone() {
  auto state = first_state(state_.x);
  auto found = solver_.through_backbone(problem_, state);
  keep(state);
  return found;
}

State<Tensors> Learner::first_state(const Tensors &x) const {
  if (pool_) {
    return {shared(x), state_.y, state_.v};
  }
  return {shared(x), zeros_like(state_.y), zeros_like(state_.v)};
}

void Learner::keep(const State<Tensors> &state) {
  assign(state.y, state_.y);
  assign(state.v, state_.v);
}

void Learner::go_on() {
  tasks_.go_on();
  if (pool_) {
    pool_->go_on(images_);
  }
}

} // namespace duplex::fewshot
