#include "reproduce/benchmark_tasks.hpp"

#include "clean/beliefs.hpp"
#include "data/dataset.hpp"
#include "data/demo.hpp"
#include "data/split.hpp"
#include "reproduce/ijcnn1_rows.hpp"
#include "reproduce/sampled_quadratic.hpp"

#include <duplex/core/error.hpp>
#include <duplex/core/random.hpp>
#include <duplex/problems/hyper_cleaning.hpp>
#include <duplex/problems/softmax.hpp>

#include <fmt/format.h>

#include <cmath>
#include <filesystem>
#include <memory>
#include <random>
#include <utility>

namespace duplex::reproduce {

namespace in_benchmark_tasks {
namespace {

using catalog::FloatVector;

constexpr BatchSizes batches{.lower = benchmark_batch, .upper = benchmark_batch};

LabelledSamples shared(FeatureTable features, std::vector<std::uint32_t> labels) {
  return {std::make_shared<const FeatureTable>(std::move(features)),
          std::make_shared<const std::vector<std::uint32_t>>(std::move(labels))};
}

/// Part of the samples that the weights y call by another name.
std::function<double(const State<FloatVector> &)> error_on(const LabelledSamples &samples, Index classes) {
  auto loss = std::make_shared<SoftmaxLoss<float>>(samples, classes);
  return [loss, labels = samples.labels](const State<FloatVector> &state) {
    loss->at(state.y);
    return 1.0 - clean::share_of_equal(clean::predicted(loss->probabilities()), *labels);
  };
}

struct Scaling {
  std::vector<float> scale;
  std::vector<float> shift;
};

/// To mean 0 and variance 1; a column that is constant is zero.
Scaling standardizing(const FeatureTable &features) {
  const auto rows = static_cast<double>(features.rows());
  Scaling out;
  for (Index j = 0; j < features.columns(); ++j) {
    double sum = 0.0;
    double squares = 0.0;
    for (Index i = 0; i < features.rows(); ++i) {
      const auto value = static_cast<double>(features.stored(i, j));
      sum += value;
      squares += value * value;
    }
    const double mean = sum / rows;
    const double deviation = std::sqrt(std::max(0.0, squares / rows - mean * mean));
    out.scale.push_back(deviation > 0.0 ? static_cast<float>(1.0 / deviation) : 0.0F);
    out.shift.push_back(deviation > 0.0 ? static_cast<float>(-mean / deviation) : 0.0F);
  }
  return out;
}

/// Hyper-cleaning of 20 000 images with 5000 trusted ones and MNIST's own 10 000 for the test; a label is drawn anew
/// with the probability p. f has .2‖y‖², x begins at −2, pixels are standardized by the training images. Each class has
/// a bias, which the benchmark's linear model has not.
Task mnist(const Settings &settings, double p) {
  constexpr Index classes = 10;
  const auto draw = [=](std::uint64_t seed) {
    auto demo = data::make_demo({.set = data::DemoSet::mnist,
                                 .folder = settings.mnist,
                                 .training = 20'000,
                                 .trusted = 5'000,
                                 .test = 1'000,
                                 .noise = {.fraction = p, .kind = data::NoiseKind::uniform, .seed = seed}});
    auto test = data::read_dataset(data::mnist_images(settings.mnist).second, {.interrupt = settings.interrupt});
    const Scaling scaling = standardizing(demo.training.features);
    for (FeatureTable *features : {&demo.training.features, &demo.trusted.features, &test.features}) {
      features->set_scaling(scaling.scale, scaling.shift);
    }
    const auto training = shared(std::move(demo.training.features), std::move(demo.training.labels));
    const auto trusted = shared(std::move(demo.trusted.features), std::move(demo.trusted.labels));
    const HyperCleaning<float> problem(training, trusted, classes, 0.4);
    TaskDraw out{.problem = {problem, batches},
                 .start = problem.start(),
                 .metric = error_on(shared(std::move(test.features), std::move(test.labels)), classes),
                 .lower_samples = static_cast<double>(problem.lower_samples()),
                 .upper_samples = static_cast<double>(problem.upper_samples())};
    out.start.x.setConstant(-2.0F);
    return out;
  };
  return {.name = fmt::format("mnist-{}", p),
          .metric = "test error",
          .judged = p < 0.6 ? Judged::by_time : Judged::not_at_all,
          .seconds = 2.0,
          .unit_of_alpha = 20'000.0,
          .goals = p < 0.6 ? std::vector{0.139, 0.136} : std::vector<double>{},
          .draw = draw};
}

/// A file's rows from `first` on, in a random order: batches are of rows that follow one another, and in the file those
/// may be alike.
LabelledSamples shuffled_rows(const data::Dataset &all, Index first, Index count) {
  std::mt19937_64 generator(static_cast<std::uint64_t>(first));
  std::vector<Index> rows;
  for (const auto row :
       draw_without_repetition(generator, static_cast<std::size_t>(count), static_cast<std::size_t>(count))) {
    rows.push_back(first + static_cast<Index>(row));
  }
  auto part = data::take_rows(all, rows);
  if (part.features.is_sparse()) {
    part.features.store_as_dense();
  }
  return shared(std::move(part.features), std::move(part.labels));
}

/// ijcnn1: 35 000 rows with 22 features, 14 990 held out, a penalty for each feature within e^±12. Draws differ in
/// their starts. The metric is φ itself, by Newton's method on the lower level in double precision.
Task ijcnn1_task(const Settings &settings) {
  const auto all = std::make_shared<const data::Dataset>(read_ijcnn1(settings, "benchmark"));
  const auto exact_problem = std::make_shared<const zoo::PenalizedLogistic>(penalties_of_ijcnn1(*all));
  const Index held_out = all->features.rows() - ijcnn1_training_rows;
  const PenalizedSoftmax<float> problem(
      {.training = shuffled_rows(*all, 0, ijcnn1_training_rows),
       .validation = shuffled_rows(*all, ijcnn1_training_rows, held_out),
       .classes = 2},
      {.penalties = Penalties::by_feature, .bias = false, .contrast = true, .limit = ijcnn1_limit});
  const auto draw = [problem, exact_problem](std::uint64_t seed) {
    const auto start = start_on_ijcnn1(problem.x_size(), seed);
    auto exact = std::make_shared<ExactPenalties>(*exact_problem);
    return TaskDraw{.problem = {problem, batches},
                    .start = {start.x.cast<float>(), start.y.cast<float>(), start.v.cast<float>()},
                    .metric = [exact_problem, exact](
                                  const State<FloatVector> &state) { return exact->at(state.x.cast<double>()).loss; },
                    .lower_samples = static_cast<double>(problem.lower_samples()),
                    .upper_samples = static_cast<double>(problem.upper_samples())};
  };
  return {.name = "ijcnn1",
          .metric = "exact validation loss",
          .judged = Judged::by_value,
          .seconds = 2.0,
          .unit_of_alpha = 100.0,
          .goals = {0.13, 0.1234}, // the latter a hundredth above the smallest that is known
          .draw = draw};
}

/// Covtype's shape, synthetic, or one with a part of its samples: 371 847, 92 962 that validate, 54 features, 7 classes
/// with a penalty each. The metric is the loss on what validates at the run's own y.
TaskDraw draw_of_covtype_shape(std::uint64_t seed, Index part) {
  const SoftmaxSettings data{.clouds = {.samples = 371'847 / part,
                                        .validation = 92'962 / part,
                                        .held_out = 0,
                                        .features = 54,
                                        .informative = 20,
                                        .separation = 1.5,
                                        .seed = seed},
                             .classes = 7,
                             .penalties = Penalties::by_class,
                             .start = -2.0};
  const auto problem = std::make_shared<const PenalizedSoftmax<float>>(data.generate<float>());
  auto upper = std::make_shared<PenalizedSoftmax<float>::Upper>(problem->upper());
  return {.problem = {*problem, batches},
          .start = problem->start(),
          .metric =
              [problem, upper](const State<FloatVector> &state) {
                upper->at(state.x, state.y);
                return upper->value();
              },
          .lower_samples = static_cast<double>(problem->lower_samples()),
          .upper_samples = static_cast<double>(problem->upper_samples())};
}

/// Steps are searched for on an eighth of the samples for an eighth of the time, in which a run makes as many passes.
Task covtype_shape() {
  constexpr Index part = 8;
  constexpr double seconds = 5.0;
  return {.name = "covtype-shape",
          .metric = "validation loss",
          .judged = Judged::by_samples,
          .seconds = seconds,
          .part_for_search = 0.15 / static_cast<double>(part),
          .unit_of_alpha = 10.0,
          .goals = {},
          .draw = [](std::uint64_t seed) { return draw_of_covtype_shape(seed, 1); },
          .draw_for_search = [](std::uint64_t seed) { return draw_of_covtype_shape(seed, part); }};
}

/// 32 768 and 1024 samples, 100 entries of y and 10 of x; ‖∇h‖² is known in closed form.
Task quadratic() {
  const auto draw = [](std::uint64_t seed) {
    const SampledQuadratic problem({}, seed);
    auto truth = std::make_shared<SampledQuadratic::Truth>(problem);
    return TaskDraw{.problem = {problem, batches},
                    .start = problem.start(),
                    .metric = [truth](const State<FloatVector> &state) { return truth->squared_slope(state.x); },
                    .lower_samples = static_cast<double>(problem.lower_samples()),
                    .upper_samples = static_cast<double>(problem.upper_samples())};
  };
  return {.name = "quadratic",
          .metric = "squared hypergradient",
          .judged = Judged::by_noise,
          .log_metric = true,
          .seconds = 1.0,
          .goals = {1e-4, 1e-8},
          .draw = draw};
}

} // namespace
} // namespace in_benchmark_tasks

std::vector<Task> benchmark_tasks(const Settings &settings) {
  using namespace in_benchmark_tasks;
  std::vector<Task> all{mnist(settings, 0.5), mnist(settings, 0.7), mnist(settings, 0.9), covtype_shape(), quadratic()};
  const auto is_wanted = [&](const std::string &name) { return name.find(settings.only) != std::string::npos; };
  std::erase_if(all, [&](const Task &task) { return !is_wanted(task.name); });
  if (is_wanted("ijcnn1") && (!settings.ijcnn1.empty() || settings.only == "ijcnn1")) {
    all.push_back(ijcnn1_task(settings));
  }
  if (all.empty()) {
    throw InvalidInput("reproduce benchmark: no task has '" + settings.only +
                       "' in its name, expected mnist-0.5, mnist-0.7, mnist-0.9, covtype-shape, quadratic or, with "
                       "--ijcnn1 FILE, ijcnn1");
  }
  return all;
}

} // namespace duplex::reproduce
