// `duplex clean` as it comes, over kinds and amounts of noise and numbers of trusted samples, beside
// what one would do without it: a model of the trusted samples alone, and the rule that a label is
// wrong where that model disagrees with it.

#include "clean/beliefs.hpp"
#include "clean/outcome.hpp"
#include "data/demo.hpp"
#include "report/table.hpp"
#include "reproduce/reproduce.hpp"

#include <fmt/format.h>

#include <array>

namespace duplex::reproduce {

namespace in_clean_quality {
namespace {

struct Noise {
  std::string_view label;
  data::NoiseKind kind;
  double fraction;
};

constexpr std::array<Noise, 4> noises{{{"20 % wrong", data::NoiseKind::always_wrong, 0.2},
                                       {"50 % wrong", data::NoiseKind::always_wrong, 0.5},
                                       {"80 % wrong", data::NoiseKind::always_wrong, 0.8},
                                       {"40 % pairs", data::NoiseKind::pair, 0.4}}};
constexpr std::array<Index, 3> trusted_sizes{100, 500, 5000};

/// Means over the splits.
struct Cell {
  double f1 = 0.0;
  double average_precision = 0.0;
  double accuracy = 0.0;
  double trusted_only = 0.0;
  double disagreement_f1 = 0.0;
  double seconds = 0.0;
};

Cell measure(data::DemoSet set, const std::string &folder, const Noise &noise, Index trusted, std::uint64_t seed,
             const Settings &settings) {
  auto demo = data::make_demo({.set = set,
                               .folder = folder,
                               .training = settings.cleaning_samples,
                               .trusted = trusted,
                               .test = 2 * settings.cleaning_samples,
                               .noise = {.fraction = noise.fraction, .kind = noise.kind, .seed = seed}});
  const auto prepared = clean::prepare(demo.training, demo.trusted, clean::KeptAs::automatic, seed);
  auto result = clean::clean(prepared.training, prepared.trusted, prepared.classes,
                             {.seed = seed, .pixels = prepared.pixels, .interrupt = settings.interrupt});
  const double seconds = result.timings.total();
  const auto outcome = clean::outcome_of(std::move(result), prepared, demo.training);
  const auto &guesses = outcome.result.trusted_model_says;
  Eigen::VectorXf agrees(static_cast<Index>(guesses.size()));
  for (std::size_t i = 0; i < guesses.size(); ++i) {
    agrees[static_cast<Index>(i)] = guesses[i] == demo.training.labels[i] ? 1.0F : 0.0F;
  }
  const auto quality = clean::quality_of(outcome.result.trust, outcome.result.suspect_below, demo.wrong());
  const double accuracy = clean::accuracy(clean::predict(outcome.model, demo.test), demo.test.labels);
  const double alone = clean::accuracy(clean::predict(*outcome.trusted_only, demo.test), demo.test.labels);
  return {.f1 = quality.f1,
          .average_precision = quality.average_precision,
          .accuracy = accuracy,
          .trusted_only = alone,
          .disagreement_f1 = clean::quality_of(agrees, 0.5F, demo.wrong()).f1,
          .seconds = seconds};
}

Cell mean_over_splits(data::DemoSet set, const std::string &folder, const Noise &noise, Index trusted,
                      const Settings &settings) {
  Cell mean;
  for (std::int64_t i = 0; i < settings.seeds; ++i) {
    const Cell one = measure(set, folder, noise, trusted, settings.seed + static_cast<std::uint64_t>(i), settings);
    const double part = 1.0 / static_cast<double>(settings.seeds);
    mean.f1 += part * one.f1;
    mean.average_precision += part * one.average_precision;
    mean.accuracy += part * one.accuracy;
    mean.trusted_only += part * one.trusted_only;
    mean.disagreement_f1 += part * one.disagreement_f1;
    mean.seconds += part * one.seconds;
  }
  return mean;
}

} // namespace
} // namespace in_clean_quality

Experiment clean_quality(const Settings &settings) {
  using namespace in_clean_quality;
  Experiment result{.name = "clean-quality",
                    .title = std::string(title_of("clean-quality")),
                    .options = {{"samples", settings.cleaning_samples}, {"seeds", settings.seeds}},
                    .seed = settings.seed,
                    .figure = {.title = "Finding wrong labels", .panels = {}},
                    .reference = "target"};
  // Of F1 at 50 % wrong labels on FashionMNIST, with cleanlab's on the trusted model's probabilities.
  constexpr std::array<double, 3> wanted{0.89, 0.92, 0.935};
  constexpr std::array<double, 3> cleanlab{0.824, 0.879, 0.913};
  std::size_t cells = 0;
  std::size_t not_worse = 0;
  std::string losing;
  for (const auto &[set, folder, title] :
       {std::tuple{data::DemoSet::fashion_mnist, settings.fashion_mnist, "FashionMNIST"},
        std::tuple{data::DemoSet::mnist, settings.mnist, "MNIST"}}) {
    report::Table table({title, "trusted", "F1", "F1, model disagrees", "average precision", "accuracy",
                         "accuracy, trusted only", "time"});
    report::Panel panel{.title = fmt::format("{}: F1 of the clean class", title),
                        .x_label = "",
                        .y_label = "F1",
                        .log_y = false,
                        .curves = {{.label = "duplex clean", .x = {}, .y = {}},
                                   {.label = "trusted model disagrees", .x = {}, .y = {}}}};
    for (const auto &noise : noises) {
      for (std::size_t t = 0; t < trusted_sizes.size(); ++t) {
        const Index trusted = trusted_sizes[t];
        Cell cell;
        try {
          cell = mean_over_splits(set, folder, noise, trusted, settings);
        } catch (const Interrupted &) {
          result.interrupted = true;
          return result;
        }
        table.add({std::string(noise.label), std::to_string(trusted), fmt::format("{:.3f}", cell.f1),
                   fmt::format("{:.3f}", cell.disagreement_f1), fmt::format("{:.3f}", cell.average_precision),
                   fmt::format("{:.2f} %", 100.0 * cell.accuracy), fmt::format("{:.2f} %", 100.0 * cell.trusted_only),
                   duration_text(cell.seconds)});
        panel.categories.push_back(fmt::format("{}, {}", noise.label, trusted));
        panel.curves[0].y.push_back(cell.f1);
        panel.curves[1].y.push_back(cell.disagreement_f1);
        ++cells;
        if (cell.accuracy >= cell.trusted_only) {
          ++not_worse;
        } else {
          losing += fmt::format("{}{}, {}, {} trusted: {:+.2f} %", losing.empty() ? "" : "; ", title, noise.label,
                                trusted, 100.0 * (cell.accuracy - cell.trusted_only));
        }
        if (set == data::DemoSet::fashion_mnist && noise.fraction == 0.5) {
          result.claim(
              fmt::format("clean.f1.{}", trusted),
              fmt::format("F1 at 50 % wrong labels with {} trusted samples is at least {}", trusted, wanted[t]),
              fmt::format("cleanlab on the trusted model: {}", cleanlab[t]), fmt::format("{:.4f}", cell.f1),
              cell.f1 >= wanted[t]);
        }
      }
    }
    result.tables.push_back(table.text());
    result.figure.panels.push_back(std::move(panel));
  }
  result.claim("clean.accuracy", "the final model is at least as accurate as the trusted-only one in every cell",
               "not in the paper",
               fmt::format("in {} of {}{}", not_worse, cells, losing.empty() ? "" : " (not: " + losing + ")"),
               not_worse == cells);
  return result;
}

} // namespace duplex::reproduce
