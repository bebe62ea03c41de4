// Cleaning at size: synthetic embeddings, a Gaussian cloud of 256 numbers around each of ten
// centres, half of the labels wrong. Time per step of the bilevel problem and peak memory, at
// 100 000 and at 1 000 000 samples.

#include "catalog/catalog.hpp"
#include "clean/cleaning.hpp"
#include "report/table.hpp"
#include "reproduce/reproduce.hpp"

#include <duplex/problems/hyper_cleaning.hpp>

#include <fmt/format.h>

#include <fstream>
#include <string>

namespace duplex::reproduce {

namespace in_clean_scale {
namespace {

constexpr Index columns = 256;
constexpr Index classes = 10;

/// Peak resident memory of this process.
double peak_bytes() {
  std::ifstream status("/proc/self/status");
  std::string line;
  constexpr double kilobyte = 1024.0;
  while (std::getline(status, line)) {
    if (line.starts_with("VmHWM:")) {
      return kilobyte * std::stod(line.substr(6));
    }
  }
  return infinity;
}

/// The sum of four uniform bytes is near enough to normal, and quick to draw.
LabelledSamples embeddings(std::uint64_t seed, Index rows, double wrong) {
  std::mt19937_64 centres_generator(0);
  std::normal_distribution<float> normal;
  std::vector<float> centres(static_cast<std::size_t>(classes * columns));
  for (auto &value : centres) {
    value = 0.15F * normal(centres_generator);
  }
  std::mt19937_64 generator(seed);
  FeatureTable table(Storage::float32, columns);
  table.reserve(rows);
  std::vector<std::uint32_t> labels;
  labels.reserve(static_cast<std::size_t>(rows));
  std::vector<float> row(static_cast<std::size_t>(columns));
  for (Index i = 0; i < rows; ++i) {
    const auto label = static_cast<std::uint32_t>(i % classes);
    const float *centre = centres.data() + static_cast<std::size_t>(label) * row.size();
    for (std::size_t j = 0; j < row.size(); j += 2) {
      const std::uint64_t bits = generator();
      for (std::size_t half = 0; half < 2; ++half) {
        float sum = -510.0F;
        for (std::size_t byte = 0; byte < 4; ++byte) {
          sum += static_cast<float>(bits >> (32 * half + 8 * byte) & 255U);
        }
        row[j + half] = centre[j + half] + sum / 147.8F; // unit variance
      }
    }
    table.append(std::span<const float>(row));
    const bool is_wrong = static_cast<double>(generator() % 1000) < 1000.0 * wrong;
    labels.push_back(is_wrong ? static_cast<std::uint32_t>((label + 1 + generator() % (classes - 1)) % classes)
                              : label);
  }
  return {std::make_shared<const FeatureTable>(std::move(table)),
          std::make_shared<const std::vector<std::uint32_t>>(std::move(labels))};
}

double seconds_per_step(const LabelledSamples &training, const LabelledSamples &trusted, const Settings &settings) {
  const HyperCleaning<float> problem(training, trusted, classes);
  double best = infinity;
  constexpr int repetitions = 3;
  constexpr std::int64_t steps = 6;
  for (int i = 0; i < repetitions && !settings.interrupted(); ++i) {
    auto state = problem.start();
    const auto summary = catalog::make_solver("bagdc:alpha=1:beta=0.5:eta=0.5:dual=constant")
                             ->run(catalog::FloatProblem(problem), state,
                                   {.max_iterations = steps, .interrupt = settings.interrupt}, {});
    best = std::min(best, summary.seconds_per_step());
  }
  return best;
}

} // namespace
} // namespace in_clean_scale

Experiment clean_scale(const Settings &settings) {
  using namespace in_clean_scale;
  const Index large = settings.scale_samples;
  Experiment result{
      .name = "clean-scale",
      .title = std::string(title_of("clean-scale")),
      .options = {{"samples", large}, {"features", columns}, {"classes", classes}, {"storage", "float32"}},
      .seed = settings.seed,
      .figure = {.title = "Time per step", .panels = {}, .columns = 1},
      .reference = "target"};
  std::ofstream("/proc/self/clear_refs") << "5"; // the peak of what comes, not of what was before
  const LabelledSamples trusted = embeddings(settings.seed + 1, 5000, 0.0);
  report::Table table({"samples", "data", "time per step", "data per second", "peak memory", "over the data"});
  report::Panel panel{.title = "time per BAGDC step",
                      .x_label = "samples",
                      .y_label = "seconds",
                      .log_x = true,
                      .curves = {{.label = "fused step", .x = {}, .y = {}, .marked = true}}};
  std::vector<double> times;
  double peak_ratio = infinity;
  for (const Index rows : {large / 10, large}) {
    const LabelledSamples training = embeddings(settings.seed, rows, 0.5);
    times.push_back(seconds_per_step(training, trusted, settings));
    if (rows == large && !settings.interrupted()) {
      try {
        (void)clean::clean(training, trusted, classes,
                           {.rounds = 1, .seed = settings.seed, .interrupt = settings.interrupt});
      } catch (const Interrupted &) { // said below
      }
    }
    if (settings.interrupted()) {
      result.interrupted = true;
      return result;
    }
    const auto bytes = static_cast<double>(training.features->bytes());
    peak_ratio = peak_bytes() / bytes;
    table.add({std::to_string(rows), fmt::format("{:.0f} MB", bytes / 1e6), duration_text(times.back()),
               fmt::format("{:.1f} GB", 2.0 * bytes / times.back() / 1e9), fmt::format("{:.0f} MB", peak_bytes() / 1e6),
               fmt::format("{:.2f}", peak_ratio)});
    panel.curves.front().x.push_back(static_cast<double>(rows));
    panel.curves.front().y.push_back(times.back());
  }
  result.tables.push_back(table.text());
  result.figure.panels.push_back(std::move(panel));
  const double growth = times[1] / times[0];
  constexpr double tolerance = 0.2;
  result.claim("clean.scale.linear", "ten times the samples take ten times as long per step, within 20 %",
               "linear in N", fmt::format("{:.2f} times", growth), std::abs(growth / 10.0 - 1.0) <= tolerance);
  result.claim("clean.scale.memory", "a whole cleaning needs at most 1.3 times the memory of the data",
               "not in the paper", fmt::format("{:.2f} times", peak_ratio), peak_ratio <= 1.3);
  return result;
}

} // namespace duplex::reproduce
