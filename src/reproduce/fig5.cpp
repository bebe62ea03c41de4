// Loss on the trusted samples and accuracy on the test samples over time, for all methods on one
// split, each with the steps that its search found.

#include "report/table.hpp"
#include "reproduce/cleaning_race.hpp"

#include <fmt/format.h>

namespace duplex::reproduce {

Experiment fig5(const Settings &settings) {
  Experiment result{.name = "fig5",
                    .title = std::string(title_of("fig5")),
                    .options = {{"samples", settings.cleaning_samples},
                                {"noise", "uniform, 50 %"},
                                {"seconds per run", settings.time_limit}},
                    .seed = settings.seed,
                    .figure = {.title = "Hyper-cleaning on FashionMNIST", .panels = {}}};
  const CleaningRace race(settings, settings.seed);
  const CleaningRace search(settings, settings.seed + 1000);
  report::Table table(
      {"method", "steps", "81 % and F1 ≥ 86 after", "iterations", "best accuracy", "lowest trusted loss"});
  std::array<double, cleaning_methods.size()> alone{};
  std::array<double, cleaning_methods.size()> comparable{};
  for (std::size_t m = 0; m < cleaning_methods.size(); ++m) {
    const auto &method = cleaning_methods[m];
    const auto steps = search_steps(search, method, settings.search_limit, settings);
    if (settings.interrupted()) {
      result.interrupted = true;
      return result;
    }
    auto series = race.run(std::string(method.label), steps.spec,
                           {.seconds = settings.time_limit, .stop_on_arrival = false, .every = method.look_every});
    if (settings.interrupted()) {
      result.interrupted = true;
      return result;
    }
    const double seconds = arrival_of(series, comparable_f1).seconds;
    comparable[m] = seconds;
    alone[m] = arrival_of(series, 0.0).seconds;
    double accuracy = 0.0;
    double loss = infinity;
    const std::int64_t iterations = arrival_of(series, comparable_f1).iterations;
    for (const auto &row : series.rows) {
      accuracy = std::max(accuracy, row.metrics[0]);
      loss = std::min(loss, row.metrics[1]);
    }
    table.add({std::string(method.label), steps.steps, std::isfinite(seconds) ? duration_text(seconds) : "-",
               std::isfinite(seconds) ? std::to_string(iterations) : "-", fmt::format("{:.2f} %", 100.0 * accuracy),
               fmt::format("{:.4f}", loss)});
    result.series.push_back(std::move(series));
  }
  result.tables.push_back(table.text());
  for (const auto &[metric, title] :
       {std::pair{"validation-loss", "loss on trusted samples"}, {"accuracy", "accuracy on test samples"}}) {
    report::Panel panel{
        .title = title, .x_label = "seconds", .y_label = title, .log_x = true, .log_y = false, .curves = {}};
    for (const auto &series : result.series) {
      panel.curves.push_back(series.curve(metric, true));
    }
    result.figure.panels.push_back(std::move(panel));
  }
  const auto claim_first = [&](const std::string &id, const std::string &text, std::size_t own, const auto &seconds) {
    double nearest = infinity;
    for (std::size_t m = 0; m < cleaning_methods.size(); ++m) {
      nearest = cleaning_methods[m].rivals() ? std::min(nearest, seconds[m]) : nearest;
    }
    result.claim(id, text, "fastest of all",
                 std::isfinite(seconds[own])
                     ? fmt::format("after {}, the nearest rival {}", duration_text(seconds[own]),
                                   std::isfinite(nearest) ? "after " + duration_text(nearest) : "never")
                     : "not within the limit",
                 seconds[own] < nearest);
  };
  claim_first("fig5.first.mixed", "BAGDC with mixed steps is the first of the five at 81 % test accuracy", mixed_bagdc,
              alone);
  claim_first("fig5.first", "BAGDC as in the paper is the first of the five at 81 % with an F1 of at least 86",
              plain_bagdc, comparable);
  return result;
}

} // namespace duplex::reproduce
