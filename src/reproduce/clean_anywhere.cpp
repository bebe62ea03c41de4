// `duplex clean` as it comes on data of many kinds: tables and texts that anyone can install, and generated ones, with
// labels that are wrong in five ways, and few or many trusted rows.

#include "clean/outcome.hpp"
#include "clean/warnings.hpp"
#include "reproduce/anywhere_cells.hpp"
#include "reproduce/anywhere_results.hpp"
#include "reproduce/anywhere_tables.hpp"
#include "reproduce/reproduce.hpp"

#include <duplex/core/error.hpp>

#include <fmt/format.h>

namespace duplex::reproduce {

namespace in_clean_anywhere {
namespace {

/// Few rows of few tables, for a glance and for tests.
constexpr Index quick_rows = 300;
constexpr std::array<std::string_view, 2> quick_tables{"moons", "clusters"};

/// Whether a warning says that these suspects, or that there are no more of them, should not be relied on.
bool is_doubtful(const std::vector<data::Remark> &warnings) {
  constexpr std::array<std::string_view, 7> codes{
      "few-trusted-rows",     "class-without-trusted-rows", "features-tell-nothing",       "features-tell-little",
      "wrong-or-overlapping", "trusted-disagrees",          "disagreement-beyond-suspects"};
  return std::any_of(warnings.begin(), warnings.end(), [&](const data::Remark &warning) {
    return std::find(codes.begin(), codes.end(), warning.code) != codes.end();
  });
}

AnywhereScore measure(AnywhereCase made, std::uint64_t seed, const Settings &settings) {
  auto warnings = clean::warnings_of_input(made.training, made.trusted); // before their features are taken
  const auto prepared = clean::prepare(made.training, made.trusted, clean::KeptAs::automatic, seed);
  auto result = clean::clean(
      prepared.training, prepared.trusted, prepared.classes,
      {.seed = seed, .pixels = prepared.pixels, .sources = prepared.sources, .interrupt = settings.interrupt});
  const double seconds = result.timings.total();
  const auto outcome = clean::outcome_of(std::move(result), prepared, made.training);
  const auto wrong = made.wrong();
  const auto quality = clean::quality_of(outcome.result.trust, outcome.result.suspect_below, wrong);
  const double sum = quality.precision + quality.recall;
  const auto of_result = clean::warnings_of_result(outcome.result, prepared, made.training);
  warnings.insert(warnings.end(), of_result.begin(), of_result.end());
  return {.f1 = sum > 0.0 ? 2.0 * quality.precision * quality.recall / sum : 0.0,
          .average_precision = quality.average_precision,
          .calibration_error = calibration_error(outcome.result.trust, wrong),
          .seconds = seconds,
          .is_doubtful = is_doubtful(warnings)};
}

std::vector<std::string> chosen_tables(const Settings &settings) {
  std::vector<std::string> names;
  const auto is_wanted = [&](std::string_view name) {
    const bool quick = std::find(quick_tables.begin(), quick_tables.end(), name) != quick_tables.end();
    return (quick || !settings.quick) && name.find(settings.only) != std::string_view::npos;
  };
  for (const auto &table : anywhere_tables) {
    if (is_wanted(table.name)) {
      names.emplace_back(table.name);
    }
  }
  if (names.empty()) {
    throw InvalidInput(
        fmt::format("reproduce clean-anywhere: no table has '{}' in its name, expected one of moons, digits, "
                    "letter, ... (docs/clean-anywhere.md)",
                    settings.only));
  }
  return names;
}

/// All cells of a table and a seed.
void run_pool(const AnywherePool &pool, Index most_rows, const Settings &settings,
              std::vector<AnywhereResult> &results) {
  if (!settings.export_to.empty()) {
    export_pool(pool, settings.export_to);
  }
  for (std::size_t n = 0; n < anywhere_noise_names.size(); ++n) {
    for (const Index trusted : anywhere_trusted) {
      const AnywhereCell cell{pool.table, static_cast<AnywhereNoise>(n), trusted, pool.seed};
      if (!has_cell(pool, trusted) || (settings.quick && trusted != anywhere_trusted[1])) {
        continue;
      }
      auto made = make_case(pool, cell, most_rows);
      if (!settings.export_to.empty()) {
        export_case(cell, made, settings.export_to);
        continue;
      }
      results.push_back({cell, measure(std::move(made), pool.seed, settings)});
      const AnywhereScore &score = results.back().score;
      settings.told(
          fmt::format("{}, {}, {} trusted, seed {}: F1 {:.3f}, average precision {:.3f}, calibration error {:.3f}, "
                      "{:.2f} s",
                      cell.table, anywhere_noise_titles[n], trusted, cell.seed, score.f1, score.average_precision,
                      score.calibration_error, score.seconds));
    }
  }
}

} // namespace
} // namespace in_clean_anywhere

Experiment clean_anywhere(const Settings &settings) {
  using namespace in_clean_anywhere;
  const auto tables = chosen_tables(settings);
  const Rivals rivals = settings.rivals.empty() ? Rivals() : Rivals(settings.rivals);
  const Index most_rows = settings.quick ? quick_rows : anywhere_most_rows;
  Experiment result{.name = "clean-anywhere",
                    .title = std::string(title_of("clean-anywhere")),
                    .options = {{"rows", most_rows}, {"seeds", settings.seeds}, {"tables", tables}},
                    .seed = settings.seed,
                    .figure = {.title = "Finding wrong labels in tables and texts", .panels = {}, .columns = 1},
                    .reference = "target"};
  std::vector<AnywhereResult> results;
  try {
    for (const auto &name : tables) {
      const auto table = anywhere_table(name, settings.data_dir, {.interrupt = settings.interrupt});
      for (std::int64_t i = 0; i < settings.seeds; ++i) {
        run_pool(draw_pool(name, table, most_rows, settings.seed + static_cast<std::uint64_t>(i)), most_rows, settings,
                 results);
        if (settings.interrupted()) {
          throw Interrupted("interrupted");
        }
      }
    }
  } catch (const Interrupted &) { // what was measured is shown
    result.interrupted = true;
  }
  if (results.empty()) {
    return result;
  }
  show(results, rivals, result);
  if (!settings.quick && !result.interrupted) {
    claim(results, rivals, result);
  }
  return result;
}

} // namespace duplex::reproduce
