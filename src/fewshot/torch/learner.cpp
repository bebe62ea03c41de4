#include "fewshot/torch/learner.hpp"

#include "data/double_mnist.hpp"
#include "fewshot/torch/failure.hpp"

#include <duplex/space/archive.hpp>

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <torch/csrc/autograd/autograd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <stdexcept>
#include <utility>

namespace duplex::fewshot {

namespace {

constexpr double brightest = 255.0;

at::Tensor wanted_of(std::int64_t tasks, std::int64_t samples, std::int64_t ways, const at::TensorOptions &options) {
  const auto labels = at::arange(samples, at::kLong).remainder(ways);
  return at::one_hot(labels, ways).to(options).unsqueeze(0).repeat({tasks, 1, 1});
}

Tensors flattened(const Tensors &tensors) {
  std::vector<at::Tensor> parts;
  for (const auto &tensor : tensors) {
    parts.push_back(tensor.flatten());
  }
  return Tensors({at::cat(parts)});
}

Tensors views_into(const Tensors &flat, const Tensors &like) {
  std::vector<at::Tensor> views;
  std::int64_t begin = 0;
  for (const auto &tensor : like) {
    views.push_back(flat[0].narrow(0, begin, tensor.numel()).view(tensor.sizes()));
    begin += tensor.numel();
  }
  return Tensors(std::move(views));
}

/// Of Student's distribution, 97.5 %, by Cornish and Fisher's expansion; by its own values where that is no good.
double student_quantile(std::int64_t freedom) {
  constexpr std::array<double, 3> first{12.7062, 4.3027, 3.1824};
  if (freedom <= static_cast<std::int64_t>(first.size())) {
    return first[static_cast<std::size_t>(std::max<std::int64_t>(freedom, 1) - 1)];
  }
  constexpr double z = 1.959964;
  const auto n = static_cast<double>(freedom);
  return z + (z * z * z + z) / (4.0 * n) + (5.0 * std::pow(z, 5) + 16.0 * z * z * z + 3.0 * z) / (96.0 * n * n);
}

/// Copies image numbers from the host.
void load(std::vector<std::int64_t> &numbers, const at::Tensor &into) {
  into.copy_(at::from_blob(numbers.data(), {static_cast<std::int64_t>(numbers.size())}, at::kLong));
}

} // namespace

Learner::Learner(const Settings &settings, at::Tensor images, const Tensors &backbone, TaskSampler sampler)
    : settings_(settings.completed()),
      solver_(head_solver(settings_.solver, settings_.head_steps, settings_.head_step)), images_(std::move(images)),
      flat_backbone_(flattened(backbone)), flat_direction_(zeros_like(flat_backbone_)),
      first_(zeros_like(flat_backbone_)), second_(zeros_like(flat_backbone_)),
      backbone_(views_into(flat_backbone_, backbone)), direction_(views_into(flat_direction_, backbone)),
      tasks_(std::move(sampler), settings_.meta_batch, backbone[0].device()), learning_(settings_.graph, backbone_),
      testing_(settings_.graph, backbone_) {
  const auto options = backbone_[0].options();
  const auto &shape = settings_.shape;
  const auto tasks = settings_.meta_batch;
  shots_ = at::zeros({shape.shot_samples() * tasks}, options.dtype(at::kLong));
  queries_ = at::zeros({shape.query_samples() * tasks}, options.dtype(at::kLong));
  shots_wanted_ = wanted_of(tasks, shape.shot_samples(), shape.ways, options);
  queries_wanted_ = wanted_of(tasks, shape.query_samples(), shape.ways, options);
  watched_ = at::zeros({3}, options.dtype(at::kLong));
  predicted_ = at::zeros({tasks, shape.query_samples()}, options.dtype(at::kLong));
  heads_ =
      Tensors({at::zeros({tasks, feature_count, shape.ways}, options), at::zeros({tasks, 1, shape.ways}, options)});
  multipliers_ = zeros_like(heads_);
  if (settings_.features == Features::recomputed) {
    through_backbone_.emplace([this](auto &x, auto &y) { return loss(x, y, queries_, queries_wanted_); },
                              [this](auto &x, auto &y) { return loss(x, y, shots_, shots_wanted_); }, backbone_,
                              heads_);
  }
}

void Learner::take_tasks() {
  if (settings_.pool == 0) {
    tasks_.next(shots_, queries_);
    return;
  }
  if (!pool_) {
    pool_.emplace(tasks_.draw(settings_.pool), settings_.pool, heads_);
  }
  pool_->lend(shots_, queries_, heads_, multipliers_);
}

at::Tensor Learner::pixels(const at::Tensor &numbers) const {
  constexpr auto side = data::DoubleMnist::side;
  return images_.index_select(0, numbers).to(backbone_[0].scalar_type()).div_(brightest).view({-1, 1, side, side});
}

State<Tensors> Learner::first_state(Tensors x) const {
  if (settings_.pool > 0) {
    return {std::move(x), heads_, multipliers_};
  }
  return {std::move(x), zeros_like(heads_), zeros_like(multipliers_)};
}

void Learner::keep(const State<Tensors> &state) {
  heads_.copy_from(state.y.list());
  multipliers_.copy_from(state.v.list());
}

void Learner::find_direction() {
  if (through_backbone_) {
    find_direction_through_backbone();
  } else {
    find_direction_on_features();
  }
  watch_levels();
}

/// On the device, since to look at every step would be to wait for it. The first that broke counts: all follow.
void Learner::watch_levels() {
  const c10::NoGradGuard no_graph;
  const auto finite = [](const Tensors &tensors) {
    auto sum = tensors[0].sum();
    for (std::size_t i = 1; i < tensors.count(); ++i) {
      sum = sum + tensors[i].sum();
    }
    return sum.isfinite();
  };
  const auto lower_broke =
      finite(flat_backbone_).logical_and(finite(heads_).logical_and(finite(multipliers_)).logical_not());
  const auto upper_broke = finite(flat_direction_).logical_not();
  auto count = watched_[0];
  count.add_(1);
  const auto level = lower_broke.to(at::kLong).add(upper_broke.logical_and(lower_broke.logical_not()).to(at::kLong), 2);
  const auto first = watched_[1].eq(0).logical_and(level.ne(0)).to(at::kLong);
  watched_[1].add_(first * level);
  watched_[2].add_(first * count);
}

void Learner::find_direction_on_features() {
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
    const Heads heads(Tensors({shots, queries}), shots_wanted_, queries_wanted_);
    auto state = first_state(Tensors({shots, queries}));
    direction = solver_.on_features(heads, state);
    keep(state);
  }
  direction_.copy_from(torch::autograd::grad({shots, queries}, leaves, direction.list(), false, false, true));
}

void Learner::find_direction_through_backbone() {
  auto state = first_state(backbone_);
  direction_.copy_from(solver_.through_backbone(*through_backbone_, state).list());
  keep(state);
}

at::Tensor Learner::loss(const std::vector<at::Tensor> &backbone, const std::vector<at::Tensor> &heads,
                         const at::Tensor &numbers, const at::Tensor &wanted) const {
  return cross_entropy(features_of(backbone, pixels(numbers), settings_.meta_batch), heads, wanted);
}

void Learner::prepare() {
  if (!LaunchGraph::supports(backbone_)) {
    return;
  }
  TaskQueue(tasks_).next(shots_, queries_); // of a copy: the tasks themselves are still to come
  for (int call = 0; call < Repeated::calls_until_replayed; ++call) {
    learning_.run([this] { find_direction(); });
    testing_.run([this] { adapt_and_test(); });
  }
  watched_.zero_();
}

void Learner::step() {
  take_tasks();
  learning_.run([this] { find_direction(); });
  if (pool_) {
    pool_->take_back(heads_, multipliers_);
  }
  adam_update(UpperRule{}, settings_.alpha, ++steps_, flat_direction_, first_, second_, flat_backbone_);
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
    axpy(-settings_.head_step, gradient, state.y);
  }
  predicted_.copy_(predictions(queries, state.y));
}

void Learner::test(TaskBatch &batch) {
  load(batch.shots, shots_);
  load(batch.queries, queries_);
  testing_.run([this] { adapt_and_test(); });
}

Evaluation Learner::evaluate(TaskSampler tasks, std::int64_t count, const std::atomic<bool> *interrupt) {
  const auto right = at::arange(settings_.shape.query_samples(), predicted_.options()).remainder_(settings_.shape.ways);
  std::vector<at::Tensor> parts;
  for (std::int64_t done = 0; done < count; done += settings_.meta_batch) {
    if (interrupt != nullptr && interrupt->load()) {
      throw Interrupted("interrupted");
    }
    auto batch = tasks.draw(settings_.meta_batch);
    test(batch);
    parts.push_back(predicted_.eq(right).to(at::kFloat).mean(1));
  }
  const auto all = at::cat(parts).to(at::kCPU, at::kDouble).narrow(0, 0, count);
  const double deviation = all.std().item<double>() / std::sqrt(static_cast<double>(count));
  return {all.mean().item<double>(), student_quantile(count - 1) * deviation};
}

std::vector<Mistake> Learner::mistakes(TaskSampler tasks, std::size_t most) {
  constexpr int batches = 4;
  const auto count = settings_.meta_batch;
  std::vector<Mistake> found;
  for (int k = 0; k < batches && found.size() < most; ++k) {
    auto batch = tasks.draw(count);
    test(batch);
    const auto predicted = predicted_.cpu();
    for (std::int64_t task = 0; task < count; ++task) {
      for (std::int64_t sample = 0; sample < settings_.shape.query_samples() && found.size() < most; ++sample) {
        const auto way = predicted[task][sample].item<std::int64_t>();
        if (way != sample % settings_.shape.ways) {
          const auto of_that_way = batch.shots[static_cast<std::size_t>(way * count + task)];
          found.push_back({batch.queries[static_cast<std::size_t>(sample * count + task)],
                           of_that_way / settings_.images_per_class});
        }
      }
    }
  }
  return found;
}

void Learner::require_finite() const {
  const auto seen = watched_.cpu();
  const auto level = seen[1].item<std::int64_t>();
  if (level == 0) {
    return;
  }
  const auto step = steps_ - seen[0].item<std::int64_t>() + seen[2].item<std::int64_t>();
  throw TrainingFailed((level == 1 ? "few-shot, lower level: the heads are not finite at step "
                                   : "few-shot, upper level: the backbone or its direction is not finite at step ") +
                       std::to_string(step) + "; try a smaller " +
                       (level == 1 ? "--head-step" : "--alpha or --head-step"));
}

void Learner::save(SavedState &into) {
  StateWriter members(into);
  archive(members);
}

void Learner::restore(const SavedState &from) {
  StateReader members(from);
  members("steps", steps_);
  if (settings_.pool > 0 && steps_ > 0) {
    TaskBatch tasks;
    tasks.shots.resize(static_cast<std::size_t>(settings_.pool * settings_.shape.shot_samples()));
    tasks.queries.resize(static_cast<std::size_t>(settings_.pool * settings_.shape.query_samples()));
    pool_.emplace(std::move(tasks), settings_.pool, heads_);
  }
  archive(members);
  tasks_.go_on();
  if (pool_) {
    pool_->go_on(images_.size(0));
  }
  watched_.zero_();
}

} // namespace duplex::fewshot
