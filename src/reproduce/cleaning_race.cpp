#include "reproduce/cleaning_race.hpp"

#include "clean/beliefs.hpp"
#include "clean/outcome.hpp"
#include "data/demo.hpp"

#include <fmt/format.h>

#include <limits>
#include <map>

namespace duplex::reproduce {

namespace {

using catalog::FloatProblem;
using catalog::FloatVector;

constexpr double none = std::numeric_limits<double>::quiet_NaN();

LabelledSamples samples_of(data::Dataset &dataset) {
  const auto columns = static_cast<std::size_t>(dataset.features.columns());
  constexpr float brightest = 255.0F; // the paper divides pixels by it, and nothing else
  dataset.features.set_scaling(std::vector<float>(columns, 1.0F / brightest), std::vector<float>(columns, 0.0F));
  return {std::make_shared<const FeatureTable>(std::move(dataset.features)),
          std::make_shared<const std::vector<std::uint32_t>>(std::move(dataset.labels))};
}

} // namespace

const std::array<CleaningMethod, 10> cleaning_methods{{
    {"BAGDC", "bagdc:dual=adaptive:eta-cap=10:fused=false", 1.0, 5},
    {"RHG", "rhg:inner=100", 14.2, 1},
    {"BDA", "bda:inner=100", 22.2, 1},
    {"CG", "cg:inner=100:linear-steps=40", 6.8, 1},
    {"NS", "ns:inner=100:terms=50", 8.9, 1},
    {"BAGDC mixed", "bagdc:dual=constant:eta=0.3:mixing=5:fused=false", none, 5},
    {"BAGDC fused", "bagdc:dual=adaptive:eta-cap=10", none, 5},
    {"BAGDC mixed, fused", "bagdc:dual=constant:eta=0.3:mixing=5", none, 5},
    {"automatic", "automatic:fused=false", none, 5, true},
    {"automatic, fused", "automatic", none, 5, true},
}};

CleaningRace::CleaningRace(const Settings &settings, std::uint64_t seed)
    : split_name_(fmt::format("{} samples, seed {}", settings.cleaning_samples, seed)), settings_(&settings) {
  data::Demo demo = data::make_demo({.folder = settings.fashion_mnist,
                                     .training = settings.cleaning_samples,
                                     .trusted = settings.cleaning_samples,
                                     .test = 2 * settings.cleaning_samples,
                                     .noise = {.fraction = 0.5, .kind = data::NoiseKind::uniform, .seed = seed}});
  constexpr Index classes = 10;
  auto training = samples_of(demo.training);
  problem_ = std::make_unique<HyperCleaning<float>>(std::move(training), samples_of(demo.trusted), classes);
  test_ = samples_of(demo.test);
  wrong_ = std::move(demo.chosen); // as the paper counts
}

Series CleaningRace::run(const std::string &name, const std::string &spec, const Limits &limits) const {
  const auto solver = catalog::make_solver(spec);
  (void)solver->set_unless_pinned("upper", "adam");
  SoftmaxLoss<float> test(test_, problem_->classes());
  auto upper = problem_->upper();
  Trace<FloatVector> trace;
  Monitor<FloatVector> monitor;
  monitor.observers = {&trace};
  monitor.cadence = {.every = limits.every};
  monitor.metrics = {{"accuracy",
                      [&](const Progress<FloatVector> &progress) {
                        test.at(progress.state.y);
                        return clean::share_of_equal(clean::predicted(test.probabilities()), *test_.labels);
                      }},
                     {"validation-loss",
                      [&](const Progress<FloatVector> &progress) {
                        upper.at(progress.state.x, progress.state.y);
                        return upper.value();
                      }},
                     {"f1", [&](const Progress<FloatVector> &progress) {
                        return clean::f1_of_clean(progress.state.x, 0.0F, wrong_);
                      }}};
  if (limits.stop_on_arrival) {
    monitor.stop_when = [](const Progress<FloatVector> &progress) {
      return progress.metrics[0] >= arrival && progress.metrics[2] >= comparable_f1;
    };
  }
  Series series{.name = name,
                .solver = spec,
                .summary = {},
                .state = {},
                .metric_names = {"accuracy", "validation-loss", "f1"},
                .rows = {},
                .extra = {}};
  auto state = problem_->start();
  series.summary = solver->run(
      FloatProblem(*problem_), state,
      {.max_iterations = 100'000, .max_seconds = limits.seconds, .interrupt = settings_->interrupt}, monitor);
  series.rows = trace.rows();
  return series;
}

Arrival arrival_of(const Series &series, double least_f1) {
  for (const auto &row : series.rows) {
    if (row.metrics[0] >= arrival && row.metrics[2] >= least_f1) {
      return {row.seconds, row.iteration, row.metrics[2]};
    }
  }
  return {};
}

SearchedSteps search_steps(const CleaningRace &race, const CleaningMethod &method, double limit,
                           const Settings &settings) {
  if (method.untuned) {
    return {.spec = std::string(method.spec), .steps = "its own", .tried = {}};
  }
  static std::map<std::string, SearchedSteps> found;
  const std::string question = fmt::format("{}, {}, {} s", race.split_name(), method.spec, limit);
  if (const auto known = found.find(question); known != found.end()) {
    return known->second;
  }
  SearchedSteps best;
  double best_seconds = infinity;
  double soonest_alone = infinity;
  for (const double alpha : searched_alpha) {
    for (const double beta : searched_beta) {
      if (settings.interrupted()) {
        return best;
      }
      const std::string steps = fmt::format("alpha={}:beta={}", alpha, beta);
      const std::string spec = fmt::format("{}:{}", method.spec, steps);
      // A trial that is slower than the best so far need not end.
      const auto series = race.run(steps, spec, {.seconds = std::min(limit, best_seconds), .every = method.look_every});
      const double seconds = arrival_of(series, comparable_f1).seconds;
      const double alone = arrival_of(series, 0.0).seconds;
      best.tried.emplace_back(steps, seconds);
      if (seconds < best_seconds || (!std::isfinite(best_seconds) && alone < soonest_alone) || best.spec.empty()) {
        best.spec = spec;
        best.steps = fmt::format("α = {}, β = {}", alpha, beta);
      }
      best_seconds = std::min(best_seconds, seconds);
      soonest_alone = std::min(soonest_alone, alone);
    }
  }
  found.emplace(question, best);
  return best;
}

} // namespace duplex::reproduce
