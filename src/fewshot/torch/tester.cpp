#include "fewshot/torch/tester.hpp"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace duplex::fewshot {

namespace {

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

Tester::Tester(const Settings &settings, const at::Tensor &images, const Tensors &x)
    : settings_(settings.completed()), x_(x.list()), problem_(settings_.shape, settings_.meta_batch, images, x_),
      predicted_(at::zeros({settings_.meta_batch, settings_.shape.query_samples()}, x_[0].options().dtype(at::kLong))),
      testing_(settings_.graph, x_) {}

void Tester::prepare() {
  for (int call = 0; LaunchGraph::supports(x_) && call < Repeated::calls_until_replayed; ++call) {
    testing_.run([this] { adapt_and_predict(); });
  }
}

void Tester::adapt_and_predict() {
  const c10::NoGradGuard no_graph;
  const auto features = problem_.features(x_[0]);
  const Heads heads = problem_.heads(features);
  auto state = heads.start();
  auto lower = heads.lower();
  Tensors gradient = zeros_like(state.y);
  for (std::int64_t k = 0; k < settings_.test_steps; ++k) {
    lower.at(state.x, state.y);
    lower.grad_y(gradient);
    axpy(-settings_.head_step, gradient, state.y);
  }
  predicted_.copy_(predictions(features[1], state.y));
}

void Tester::test(TaskBatch &batch) {
  load(batch.shots, problem_.shots());
  load(batch.queries, problem_.queries());
  testing_.run([this] { adapt_and_predict(); });
}

std::optional<Evaluation> Tester::evaluate(TaskSampler tasks, std::int64_t count, const std::atomic<bool> *interrupt) {
  const auto right = at::arange(settings_.shape.query_samples(), predicted_.options()).remainder_(settings_.shape.ways);
  std::vector<at::Tensor> parts;
  for (std::int64_t done = 0; done < count; done += settings_.meta_batch) {
    if (interrupt != nullptr && interrupt->load()) {
      return std::nullopt;
    }
    auto batch = tasks.draw(settings_.meta_batch);
    test(batch);
    parts.push_back(predicted_.eq(right).to(at::kFloat).mean(1));
  }
  const auto all = at::cat(parts).to(at::kCPU, at::kDouble).narrow(0, 0, count);
  const double deviation = all.std().item<double>() / std::sqrt(static_cast<double>(count));
  return Evaluation{all.mean().item<double>(), student_quantile(count - 1) * deviation};
}

std::vector<Mistake> Tester::mistakes(TaskSampler tasks, std::size_t most) {
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

} // namespace duplex::fewshot
