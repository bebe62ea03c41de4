#include "reproduce/anywhere_results.hpp"

#include "report/table.hpp"
#include "reproduce/anywhere_tables.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <set>

namespace duplex::reproduce {

namespace in_anywhere_results {
namespace {

using Chosen = std::function<bool(const AnywhereCell &)>;

TableHalf half_of(const AnywhereCell &cell) {
  for (const auto &table : anywhere_tables) {
    if (table.name == cell.table) {
      return table.half;
    }
  }
  return TableHalf::report;
}

std::string_view name_of_half(TableHalf half) { return half == TableHalf::design ? "design" : "report"; }

struct Mean {
  AnywhereScore score;
  int cells = 0;
};

Mean mean_of(const std::vector<AnywhereResult> &results, const Chosen &chosen) {
  Mean mean;
  for (const auto &[cell, score] : results) {
    if (chosen(cell)) {
      ++mean.cells;
      mean.score.f1 += score.f1;
      mean.score.average_precision += score.average_precision;
      mean.score.calibration_error += score.calibration_error;
      mean.score.seconds += score.seconds;
    }
  }
  const double count = std::max(mean.cells, 1);
  mean.score.f1 /= count;
  mean.score.average_precision /= count;
  mean.score.calibration_error /= count;
  mean.score.seconds /= count;
  return mean;
}

/// Means over the cells that a rival was run on, ours first.
struct Beside {
  int cells = 0;
  RivalScore ours;
  RivalScore theirs;
};

Beside beside(const std::vector<AnywhereResult> &results, const Rivals &rivals, const std::string &rival,
              const Chosen &chosen) {
  Beside out;
  for (const auto &[cell, score] : results) {
    const RivalScores *scores = chosen(cell) ? rivals.of(cell) : nullptr;
    const auto found = scores == nullptr ? RivalScores::const_iterator{} : scores->find(rival);
    if (scores == nullptr || found == scores->end()) {
      continue;
    }
    ++out.cells;
    out.ours.f1 += score.f1;
    out.ours.average_precision += score.average_precision;
    out.theirs.f1 += found->second.f1;
    out.theirs.average_precision += found->second.average_precision;
  }
  const double count = std::max(out.cells, 1);
  for (RivalScore *sum : {&out.ours, &out.theirs}) {
    sum->f1 /= count;
    sum->average_precision /= count;
  }
  return out;
}

std::set<std::string> names_of_rivals(const std::vector<AnywhereResult> &results, const Rivals &rivals) {
  std::set<std::string> names;
  for (const auto &result : results) {
    if (const RivalScores *scores = rivals.of(result.cell)) {
      for (const auto &[name, score] : *scores) {
        names.insert(name);
      }
    }
  }
  return names;
}

std::string in_three_digits(double value) { return fmt::format("{:.3f}", value); }

/// Means over the seeds of one table, noise and number of trusted rows, ours less the best of the rivals.
struct Behind {
  int cells = 0;
  int far = 0;
  int without_warning = 0; ///< of those
  std::string worst;
};

Behind cells_far_behind(const std::vector<AnywhereResult> &results, const Rivals &rivals) {
  constexpr double far = 0.10;
  struct Sums {
    double ours = 0.0;
    std::map<std::string, double> theirs;
    int count = 0;
    bool is_doubtful = true; ///< for every seed
  };
  std::map<std::string, Sums> groups;
  for (const auto &[cell, score] : results) {
    const RivalScores *scores = rivals.of(cell);
    if (scores == nullptr) {
      continue;
    }
    Sums &sums = groups[fmt::format("{}, {}, {}", cell.table,
                                    anywhere_noise_titles[static_cast<std::size_t>(cell.noise)], cell.trusted)];
    sums.ours += score.f1;
    ++sums.count;
    sums.is_doubtful = sums.is_doubtful && score.is_doubtful;
    for (const auto &[name, theirs] : *scores) {
      sums.theirs[name] += theirs.f1;
    }
  }
  Behind out;
  double largest = 0.0;
  for (const auto &[name, sums] : groups) {
    ++out.cells;
    double gap = 0.0;
    for (const auto &[rival, sum] : sums.theirs) {
      gap = std::max(gap, (sum - sums.ours) / sums.count);
    }
    out.far += gap > far ? 1 : 0;
    out.without_warning += gap > far && !sums.is_doubtful ? 1 : 0;
    if (gap > largest) {
      largest = gap;
      out.worst = fmt::format("{}: {:.3f} behind", name, gap);
    }
  }
  return out;
}

} // namespace
} // namespace in_anywhere_results

double calibration_error(const Eigen::VectorXf &trust, const std::vector<bool> &wrong) {
  constexpr std::size_t bins = 10;
  std::array<double, bins> sum_of_trust{};
  std::array<double, bins> right{};
  for (std::size_t i = 0; i < wrong.size(); ++i) {
    const auto own = static_cast<double>(trust[static_cast<Index>(i)]);
    const auto bin = std::min(bins - 1, static_cast<std::size_t>(own * static_cast<double>(bins)));
    sum_of_trust[bin] += own;
    right[bin] += wrong[i] ? 0.0 : 1.0;
  }
  double error = 0.0;
  for (std::size_t bin = 0; bin < bins; ++bin) {
    error += std::abs(sum_of_trust[bin] - right[bin]);
  }
  return error / static_cast<double>(std::max<std::size_t>(wrong.size(), 1));
}

void show(const std::vector<AnywhereResult> &results, const Rivals &rivals, experiment::Experiment &into) {
  using namespace in_anywhere_results;
  report::Table by_noise({"noise", "half", "cells", "F1", "average precision", "calibration error", "seconds"});
  for (std::size_t n = 0; n < anywhere_noise_titles.size(); ++n) {
    for (const auto half : {TableHalf::design, TableHalf::report}) {
      const auto [score, cells] = mean_of(results, [&](const AnywhereCell &cell) {
        return cell.noise == static_cast<AnywhereNoise>(n) && half_of(cell) == half;
      });
      if (cells > 0) {
        by_noise.add({std::string(anywhere_noise_titles[n]), std::string(name_of_half(half)), std::to_string(cells),
                      in_three_digits(score.f1), in_three_digits(score.average_precision),
                      in_three_digits(score.calibration_error), fmt::format("{:.2f}", score.seconds)});
      }
    }
  }
  into.tables.push_back(by_noise.text());

  std::vector<std::string> header{"F1", "half"};
  report::Panel panel{.title = "F1 of the suspects, mean over trusted rows and seeds",
                      .x_label = "",
                      .y_label = "F1",
                      .log_y = false,
                      .curves = {}};
  for (const auto title : anywhere_noise_titles) {
    header.emplace_back(title);
    panel.curves.push_back({.label = std::string(title), .x = {}, .y = {}});
  }
  report::Table by_table(header);
  for (const auto &table : anywhere_tables) {
    std::vector<std::string> row{std::string(table.name), std::string(name_of_half(table.half))};
    int cells = 0;
    for (std::size_t n = 0; n < anywhere_noise_titles.size(); ++n) {
      const auto mean = mean_of(results, [&](const AnywhereCell &cell) {
        return cell.table == table.name && cell.noise == static_cast<AnywhereNoise>(n);
      });
      row.push_back(mean.cells > 0 ? in_three_digits(mean.score.f1) : "");
      panel.curves[n].y.push_back(mean.score.f1);
      cells += mean.cells;
    }
    if (cells > 0) {
      by_table.add(row);
      panel.categories.emplace_back(table.name);
    } else {
      for (auto &curve : panel.curves) {
        curve.y.pop_back();
      }
    }
  }
  into.tables.push_back(by_table.text());
  into.figure.panels.push_back(std::move(panel));

  if (const auto names = names_of_rivals(results, rivals); !names.empty()) {
    report::Table table({"noise", "rival", "cells", "F1", "ours", "average precision", "ours"});
    for (std::size_t n = 0; n < anywhere_noise_titles.size(); ++n) {
      for (const auto &name : names) {
        const Beside means = beside(results, rivals, name, [&](const AnywhereCell &cell) {
          return cell.noise == static_cast<AnywhereNoise>(n);
        });
        if (means.cells > 0) {
          table.add({std::string(anywhere_noise_titles[n]), name, std::to_string(means.cells),
                     in_three_digits(means.theirs.f1), in_three_digits(means.ours.f1),
                     in_three_digits(means.theirs.average_precision), in_three_digits(means.ours.average_precision)});
        }
      }
    }
    into.tables.push_back(table.text());
  }

  for (const auto &[cell, score] : results) {
    auto &series = into.series.emplace_back();
    series.name = fmt::format("{}, {}, {} trusted, seed {}", cell.table,
                              anywhere_noise_titles[static_cast<std::size_t>(cell.noise)], cell.trusted, cell.seed);
    series.solver = "clean";
    series.summary.seconds = score.seconds;
    series.extra = {{"f1", score.f1},
                    {"average-precision", score.average_precision},
                    {"calibration-error", score.calibration_error},
                    {"doubtful", score.is_doubtful}};
  }
}

void claim(const std::vector<AnywhereResult> &results, const Rivals &rivals, experiment::Experiment &into) {
  using namespace in_anywhere_results;
  const auto reported = [](AnywhereNoise noise) {
    return [noise](const AnywhereCell &cell) { return cell.noise == noise && half_of(cell) == TableHalf::report; };
  };
  const auto at_least = [&](const std::string &id, const std::string &text, double wanted, const Mean &mean) {
    if (mean.cells > 0) {
      into.claim(id, text, fmt::format("at least {}", wanted), in_three_digits(mean.score.f1), mean.score.f1 >= wanted);
    }
  };
  at_least("anywhere.boundary", "mean F1 of labels that are wrong near boundaries, tables of the report half", 0.55,
           mean_of(results, reported(AnywhereNoise::boundary)));
  at_least("anywhere.text", "mean F1 on package descriptions, 20 % wrong, 50 trusted", 0.75,
           mean_of(results, [](const AnywhereCell &cell) {
             return cell.table == "packages" && cell.noise == AnywhereNoise::uniform20 && cell.trusted == 50;
           }));
  for (std::size_t n = 0; n < anywhere_noise_names.size(); ++n) {
    const auto noise = static_cast<AnywhereNoise>(n);
    const double most = noise == AnywhereNoise::boundary ? 0.10 : 0.05;
    const Mean mean = mean_of(results, reported(noise));
    if (mean.cells > 0) {
      into.claim(
          fmt::format("anywhere.calibration.{}", anywhere_noise_names[n]),
          fmt::format("expected calibration error of trust, {}, tables of the report half", anywhere_noise_titles[n]),
          fmt::format("at most {:.2f}", most), in_three_digits(mean.score.calibration_error),
          mean.score.calibration_error <= most);
    }
    for (const auto &name : names_of_rivals(results, rivals)) {
      const Beside means = beside(results, rivals, name, [&](const AnywhereCell &cell) { return cell.noise == noise; });
      if (means.cells > 0) {
        into.claim(fmt::format("anywhere.{}.{}", anywhere_noise_names[n], name),
                   fmt::format("mean F1 and average precision above those of {} on the same {} cells, {}", name,
                               means.cells, anywhere_noise_titles[n]),
                   fmt::format("{:.3f}, {:.3f}", means.theirs.f1, means.theirs.average_precision),
                   fmt::format("{:.3f}, {:.3f}", means.ours.f1, means.ours.average_precision),
                   means.ours.f1 > means.theirs.f1 && means.ours.average_precision > means.theirs.average_precision);
      }
    }
  }
  if (const Behind behind = cells_far_behind(results, rivals); behind.cells > 0) {
    into.claim(
        "anywhere.cells",
        "tables, noises and numbers of trusted rows more than .10 behind the best rival, picked afterwards, without a "
        "warning that says so",
        "0",
        fmt::format("{} of {}; {} with a warning{}", behind.without_warning, behind.cells,
                    behind.far - behind.without_warning, behind.worst.empty() ? "" : " (" + behind.worst + ")"),
        behind.without_warning == 0);
  }
}

} // namespace duplex::reproduce
