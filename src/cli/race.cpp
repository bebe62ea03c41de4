#include "cli/command.hpp"
#include "cli/interrupt.hpp"
#include "cli/progress.hpp"
#include "cli/setup.hpp"
#include "experiment/experiment.hpp"
#include "report/files.hpp"
#include "report/table.hpp"

#include <duplex/exact.hpp>
#include <duplex/metrics.hpp>

#include <fmt/format.h>

#include <algorithm>

namespace duplex::cli {

namespace {

using catalog::Problem;
using catalog::Vector;
using experiment::Experiment;
using experiment::run_series;
using experiment::Series;

struct RaceArguments {
  std::string problem;
  std::string solvers;
  std::string target;
  double time_limit = 10.0;
  std::string out;
  bool as_json = false;
};

/// The truth at where a run ended: ‖∇φ(x)‖ and, where the answer is known, the
/// errors of x and of φ, all with y*(x) solved anew.
void measure_truth(const Problem &problem, const std::optional<Answer<Vector>> &answer, Series &series) {
  if (series.summary.failed()) {
    return;
  }
  if (answer) {
    Vector scratch;
    series.extra.emplace_back("true-x-error", relative_x_error(series.state.x, *answer, scratch));
  }
  try {
    ExactSolver<Problem> exact(problem);
    const auto &point = exact.at(series.state.x, series.state.y);
    series.extra.emplace_back("true-hypergradient", point.hypergradient.norm());
    if (answer) {
      series.extra.emplace_back("true-phi-gap", relative_phi_gap(point.value, *answer));
    }
  } catch (const NotAvailable &) { // the lower level has many minimizers: only x can be judged
  }
}

std::string cell(double value) { return std::isfinite(value) ? short_number(value) : "-"; }

std::string race_table(const std::vector<Series> &all) {
  report::Table table({"solver", "status", "time", "steps", "per step", "gradients", "Hessian", "cross", "‖d‖",
                       "‖∇φ(x)‖", "x error", "φ gap"});
  for (const auto &series : all) {
    const auto &summary = series.summary;
    const auto &count = summary.counters;
    table.add({series.name, series.status(), duration_text(summary.seconds), std::to_string(summary.iterations),
               duration_text(summary.seconds_per_step()), std::to_string(count.gradients),
               std::to_string(count.hessian_products), std::to_string(count.cross_products),
               summary.failed() ? "-" : cell(summary.direction_norm), cell(series.final_metric("true-hypergradient")),
               cell(series.final_metric("true-x-error")), cell(series.final_metric("true-phi-gap"))});
  }
  return table.text();
}

report::Figure race_figure(const Experiment &race, const std::string &metric) {
  report::Figure figure{.title = race.title, .panels = {}};
  for (const bool over_seconds : {false, true}) {
    report::Panel panel{.title = over_seconds ? "over time" : "over iterations",
                        .x_label = over_seconds ? "seconds" : "iteration",
                        .y_label = metric,
                        .log_x = true,
                        .curves = {}};
    for (const auto &series : race.series) {
      panel.curves.push_back(series.curve(metric, over_seconds));
    }
    figure.panels.push_back(std::move(panel));
  }
  return figure;
}

int race(const RaceArguments &arguments, const std::vector<std::string> &more) {
  if (!(arguments.time_limit > 0.0)) {
    throw InvalidInput(fmt::format("--time-limit = {}, expected > 0", arguments.time_limit));
  }
  if (!arguments.out.empty()) {
    report::require_writable_folder(arguments.out);
  }
  const auto specs = arguments.solvers.empty() ? catalog::solver_names() : split_list("solvers", arguments.solvers);
  Setup setup;
  setup.problem = catalog::make_problem(arguments.problem);
  for (const auto &spec : specs) {
    setup.solvers.push_back(catalog::make_solver(spec));
  }
  setup.run.interrupt = &interrupt_requested();
  setup.run.max_iterations = 1'000'000;
  setup.run.max_seconds = arguments.time_limit;
  apply_options(setup, more);
  const auto target = arguments.target.empty() ? std::nullopt : std::optional<Target>(parse_target(arguments.target));
  if (!target && setup.run.direction_tolerance == 0.0 && setup.run.kkt_tolerance == 0.0) {
    setup.run.direction_tolerance = 1e-6;
  }
  const auto problem = setup.problem->make();
  const auto answer = problem.answer();
  const std::string metric = target ? target->metric : answer ? "x-error" : "direction";

  Experiment result{.name = "race",
                    .title = fmt::format("{} on {}", fmt::join(specs, ", "), setup.problem->name()),
                    .options = {{"problem", setup.problem->name()},
                                {"problem_options", options_json(*setup.problem)},
                                {"solvers", specs},
                                {"target", arguments.target},
                                {"time_limit", setup.run.max_seconds},
                                {"solver_options", experiment::Json::object()}},
                    .seed = seed_of(*setup.problem),
                    .series = {},
                    .claims = {},
                    .figure = {},
                    .tables = {}};
  for (std::size_t i = 0; i < specs.size() && !interrupt_requested(); ++i) {
    ProgressLine progress(specs[i]);
    result.series.push_back(run_series({.problem = problem,
                                        .solver = specs[i],
                                        .name = specs[i],
                                        .options = setup.run,
                                        .metrics = {metric},
                                        .target = target,
                                        .cadence = {.every = 1, .growth = target ? 0.0 : 0.02},
                                        .observer = progress.if_terminal()},
                                       *setup.solvers[i]));
    measure_truth(problem, answer, result.series.back());
  }
  for (std::size_t i = 0; i < specs.size(); ++i) {
    result.options["solver_options"][specs[i]] = options_json(*setup.solvers[i]);
  }
  result.interrupted = interrupt_requested();
  result.tables.push_back(race_table(result.series));
  result.figure = race_figure(result, metric);
  if (arguments.as_json) {
    fmt::print("{}\n", experiment::to_json(result).dump(2));
  } else {
    experiment::print(result);
  }
  if (!arguments.out.empty()) {
    write(result, arguments.out);
    if (!arguments.as_json) {
      fmt::print("written: {}\n", arguments.out);
    }
  }
  const bool someone_arrived = std::any_of(result.series.begin(), result.series.end(),
                                           [](const Series &series) { return series.summary.converged(); });
  return someone_arrived && !result.interrupted ? exit_success : exit_run_failed;
}

} // namespace

void add_race(CLI::App &app, Action &chosen) {
  auto *command = app.add_subcommand("race", "Run several solvers on one problem from the same start");
  auto arguments = std::make_shared<RaceArguments>();
  command->add_option("--problem", arguments->problem, "Problem, as NAME or NAME:option=value:...")->required();
  command->add_option("--solvers", arguments->solvers,
                      "Solvers separated by commas, each as NAME or NAME:option=value:... (default: all)");
  command->add_option("--target", arguments->target,
                      "Stop each run when a metric is at most a value, as metric=value (default: ‖d‖ <= 1e-6)");
  command->add_option("--time-limit", arguments->time_limit, "Most seconds for each run")->capture_default_str();
  command->add_option("--out", arguments->out, "Write race.json, race.csv and race.svg here");
  command->add_flag("--json", arguments->as_json, "Print JSON");
  command->allow_extras();
  command->footer("Further options go to the problem, to every solver that has them, or to the run, such as\n"
                  "--n 50 --alpha 0.2. The columns ‖∇φ(x)‖, x error and φ gap are measured at y*(x), solved anew.\n"
                  "The clock counts steps only. Exit 0 if at least one solver arrived.");
  command->callback([command, arguments, &chosen] {
    chosen = [command, arguments] { return race(*arguments, command->remaining()); };
  });
}

} // namespace duplex::cli
