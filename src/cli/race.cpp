#include "cli/command.hpp"
#include "cli/interrupt.hpp"
#include "cli/progress.hpp"
#include "cli/setup.hpp"
#include "experiment/experiment.hpp"
#include "experiment/step_search.hpp"
#include "report/files.hpp"
#include "report/table.hpp"

#include <duplex/exact.hpp>
#include <duplex/metrics.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <utility>

namespace duplex::cli {

namespace {

using catalog::Problem;
using catalog::Vector;
using experiment::Experiment;
using experiment::run_series_or_fail;
using experiment::Series;

struct RaceArguments {
  std::string problem;
  std::string solvers;
  std::string target;
  double time_limit = 10.0;
  std::int64_t seeds = 1;
  bool tune = false;
  double tune_seconds = 0.0;
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

/// A part of ‖∇φ(x₀)‖, exact; none where that does not exist.
std::optional<Target> target_by_truth(const Problem &problem) {
  constexpr double part = 1e-5;
  try {
    const auto start = problem.start();
    return Target{"hypergradient", part * ExactSolver<Problem>(problem).at(start.x, start.y).hypergradient.norm()};
  } catch (const NotAvailable &) {
    return std::nullopt;
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

/// One method on the problems of all seeds.
struct Entrant {
  std::string spec;
  std::unique_ptr<catalog::ConfiguredSolver> solver;
  std::vector<Series> runs;
};

struct Moments {
  double mean = 0.0;
  double spread = 0.0; ///< standard deviation of one value
};

template <class Value> Moments moments_of(const std::vector<Series> &runs, const Value &value) {
  Moments moments;
  const auto count = static_cast<double>(runs.size());
  for (const auto &run : runs) {
    moments.mean += value(run) / count;
  }
  for (const auto &run : runs) {
    moments.spread += std::pow(value(run) - moments.mean, 2) / std::max(1.0, count - 1.0);
  }
  moments.spread = std::sqrt(moments.spread);
  return moments;
}

/// Means and spreads over the seeds, and the worst that any of them left.
std::string seeds_table(const std::vector<Entrant> &entrants) {
  report::Table table({"solver", "arrived", "time", "± ", "steps", "± ", "gradients", "products", "worst ‖∇φ(x)‖",
                       "worst x error", "worst φ gap"});
  for (const auto &entrant : entrants) {
    const auto &runs = entrant.runs;
    if (runs.empty()) {
      continue;
    }
    const auto arrived =
        std::count_if(runs.begin(), runs.end(), [](const Series &run) { return run.summary.converged(); });
    const auto time = moments_of(runs, [](const Series &run) { return run.summary.seconds; });
    const auto steps = moments_of(runs, [](const Series &run) { return static_cast<double>(run.summary.iterations); });
    const auto gradients =
        moments_of(runs, [](const Series &run) { return static_cast<double>(run.summary.counters.gradients); });
    const auto products =
        moments_of(runs, [](const Series &run) { return static_cast<double>(run.summary.counters.products()); });
    const auto worst = [&](const char *metric) {
      double largest = 0.0;
      for (const auto &run : runs) {
        const double value = run.final_metric(metric);
        largest = std::isfinite(value) ? std::max(largest, value) : infinity;
      }
      return cell(largest);
    };
    table.add({entrant.spec, fmt::format("{} of {}", arrived, runs.size()), duration_text(time.mean),
               duration_text(time.spread), short_number(steps.mean, 4), short_number(steps.spread, 3),
               short_number(gradients.mean, 4), short_number(products.mean, 4), worst("true-hypergradient"),
               worst("true-x-error"), worst("true-phi-gap")});
  }
  return table.text();
}

report::Figure race_figure(const std::string &title, const std::vector<Entrant> &entrants, const std::string &metric) {
  report::Figure figure{.title = title, .panels = {}};
  for (const bool over_seconds : {false, true}) {
    report::Panel panel{.title = over_seconds ? "over time" : "over iterations",
                        .x_label = over_seconds ? "seconds" : "iteration",
                        .y_label = metric,
                        .log_x = true,
                        .curves = {}};
    for (const auto &entrant : entrants) {
      for (const auto &series : entrant.runs) {
        panel.curves.push_back(series.curve(metric, over_seconds));
        panel.curves.back().label = entrant.spec;
      }
    }
    figure.panels.push_back(std::move(panel));
  }
  return figure;
}

/// The problem with another seed. Throws InvalidInput where it has none.
Problem with_seed(catalog::ConfiguredProblem &problem, std::uint64_t seed) {
  if (!problem.set("seed", std::to_string(seed))) {
    throw InvalidInput(fmt::format("--seeds: the problem {} has no seed", problem.name()));
  }
  return problem.make();
}

/// Of the options that follow the command's own: "--alpha 0.2" and "--alpha=0.2" are both given.
std::vector<std::string> names_in(const std::vector<std::string> &more) {
  std::vector<std::string> names;
  for (const auto &argument : more) {
    if (argument.starts_with("--")) {
      names.push_back(argument.substr(2, argument.find('=') - 2));
    }
  }
  return names;
}

class Race {
public:
  Race(const RaceArguments &arguments, const std::vector<std::string> &more,
       const std::vector<std::string> &command_options)
      : arguments_(arguments), more_(more) {
    const auto specs = arguments.solvers.empty() ? catalog::solver_names() : split_list("solvers", arguments.solvers);
    setup_.problem = catalog::make_problem(arguments.problem);
    for (const auto &spec : specs) {
      setup_.solvers.push_back(catalog::make_solver(spec));
    }
    setup_.run.interrupt = &interrupt_requested();
    setup_.run.max_iterations = 1'000'000;
    setup_.run.max_seconds = arguments.time_limit;
    setup_.command_options = command_options;
    apply_options(setup_, more);
    if (!arguments.target.empty()) {
      target_ = parse_target(arguments.target);
    }
    for (std::size_t i = 0; i < specs.size(); ++i) {
      entrants_.push_back({specs[i], std::move(setup_.solvers[i]), {}});
    }
    seed_ = seed_of(*setup_.problem);
  }

  [[nodiscard]] Experiment run() {
    const auto seeds = static_cast<std::uint64_t>(arguments_.seeds);
    std::vector<Problem> problems;
    for (std::uint64_t i = 0; i < seeds; ++i) {
      problems.push_back(seeds == 1 ? setup_.problem->make() : with_seed(*setup_.problem, seed_ + i));
    }
    if (!target_ && !setup_.run.has_tolerance()) {
      if (arguments_.tune &&
          target_by_truth(problems.front())) { // or steps would be found that make ‖d‖ small and wrong
        judges_by_truth_ = true;
      } else {
        setup_.run.direction_tolerance = 1e-6;
      }
    }
    metric_ = judges_by_truth_            ? "hypergradient"
              : target_                   ? target_->metric
              : problems.front().answer() ? "x-error"
                                          : "direction";
    Experiment result = description();
    if (arguments_.tune) {
      result.tables.push_back(tune(result));
    }
    for (std::uint64_t i = 0; i < seeds; ++i) {
      const auto answer = problems[i].answer();
      for (auto &entrant : entrants_) {
        if (interrupt_requested()) {
          break;
        }
        ProgressLine progress(entrant.spec);
        const std::string name = seeds == 1 ? entrant.spec : fmt::format("{}, seed {}", entrant.spec, seed_ + i);
        entrant.runs.push_back(
            run_series_or_fail(request(problems[i], entrant.spec, name, progress.if_terminal()), *entrant.solver));
        measure_truth(problems[i], answer, entrant.runs.back());
        result.series.push_back(entrant.runs.back());
      }
    }
    for (const auto &entrant : entrants_) {
      result.options["solver_options"][entrant.spec] = options_json(*entrant.solver);
    }
    result.interrupted = interrupt_requested();
    result.tables.push_back(seeds == 1 ? race_table(result.series) : seeds_table(entrants_));
    result.figure = race_figure(result.title, entrants_, metric_);
    return result;
  }

private:
  [[nodiscard]] experiment::RunRequest request(const Problem &problem, const std::string &spec, const std::string &name,
                                               Observer<Vector> *observer) const {
    const auto target = judges_by_truth_ ? target_by_truth(problem) : target_;
    return {.problem = problem,
            .solver = spec,
            .name = name,
            .options = setup_.run,
            .metrics = {metric_},
            .target = target,
            .cadence = {.every = 1, .growth = target ? 0.0 : 0.02},
            .observer = observer};
  }

  [[nodiscard]] Experiment description() const {
    std::vector<std::string> specs;
    for (const auto &entrant : entrants_) {
      specs.push_back(entrant.spec);
    }
    return {.name = "race",
            .title = fmt::format("{} on {}", fmt::join(specs, ", "), setup_.problem->name()),
            .options = {{"problem", setup_.problem->name()},
                        {"problem_options", options_json(*setup_.problem)},
                        {"solvers", specs},
                        {"target", judges_by_truth_ ? "hypergradient, 1e-5 of the start's" : arguments_.target},
                        {"time_limit", setup_.run.max_seconds},
                        {"seeds", arguments_.seeds},
                        {"solver_options", experiment::Json::object()}},
            .seed = seed_,
            .series = {},
            .claims = {},
            .figure = {},
            .tables = {}};
  }

  /// On a problem that is not raced, where seeds give others; a table of what was found.
  [[nodiscard]] std::string tune(Experiment &result) {
    const auto seeds = static_cast<std::uint64_t>(arguments_.seeds);
    const bool has_seeds = setup_.problem->set("seed", std::to_string(seed_ + seeds));
    const Problem problem = setup_.problem->make();
    const double budget = arguments_.tune_seconds > 0.0 ? arguments_.tune_seconds : arguments_.time_limit;
    report::Table table({"tuned", "steps found", "trials", "of the budget", "best trial"});
    for (auto &entrant : entrants_) {
      if (interrupt_requested()) {
        break;
      }
      ProgressLine progress("tuning " + entrant.spec);
      auto found = experiment::search_steps(request(problem, entrant.spec, entrant.spec, progress.if_terminal()),
                                            *entrant.solver, names_in(more_), budget);
      entrant.solver = std::move(found.solver);
      const std::string best = found.arrived ? "arrived in " + duration_text(found.best)
                                             : "did not arrive, " + metric_ + " " + short_number(found.best);
      table.add({entrant.spec, found.steps, std::to_string(found.trials),
                 fmt::format("{:.0f} %", 100.0 * found.seconds / budget), best});
      result.options["tuning"]["found"][entrant.spec] = {{"steps", found.steps},
                                                         {"trials", found.trials},
                                                         {"seconds", found.seconds},
                                                         {"arrived", found.arrived},
                                                         {"best", experiment::json_number(found.best)}};
    }
    result.options["tuning"]["seconds"] = budget;
    if (has_seeds) {
      result.options["tuning"]["seed"] = seed_ + seeds;
    }
    return fmt::format("steps searched for {} each, {}\n{}", duration_text(budget),
                       has_seeds ? fmt::format("on the problem of seed {}", seed_ + seeds) : "on the problem itself",
                       table.text());
  }

  const RaceArguments &arguments_;
  const std::vector<std::string> &more_;
  Setup setup_;
  std::optional<Target> target_;
  bool judges_by_truth_ = false; ///< each problem has its own target
  std::string metric_;
  std::uint64_t seed_ = 0;
  std::vector<Entrant> entrants_;
};

int race(const RaceArguments &arguments, const std::vector<std::string> &more,
         const std::vector<std::string> &command_options) {
  if (!(arguments.time_limit > 0.0)) {
    throw InvalidInput(fmt::format("--time-limit = {}, expected > 0", arguments.time_limit));
  }
  if (arguments.tune_seconds > 0.0 && !arguments.tune) {
    throw InvalidInput("--tune-seconds without --tune");
  }
  if (!arguments.out.empty()) {
    report::require_writable_folder(arguments.out);
  }
  const Experiment result = Race(arguments, more, command_options).run();
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
                      "Stop each run when a metric is at most a value, as metric=value (default: ‖d‖ <= 1e-6; with\n"
                      "--tune the exact ‖∇φ(x)‖ at 1e-5 of that at the start, where it exists)");
  command->add_option("--time-limit", arguments->time_limit, "Most seconds for each run")->capture_default_str();
  command->add_option("--seeds", arguments->seeds, "Race on so many problems, of seeds that follow one another")
      ->capture_default_str()
      ->check(CLI::Range(1, 10'000));
  command->add_flag("--tune", arguments->tune,
                    "First search for the steps of every method that are not given, on a problem of another seed");
  command
      ->add_option("--tune-seconds", arguments->tune_seconds,
                   "Budget of that search, for each method, on the clocks of its runs (default: the time limit)")
      ->check(CLI::PositiveNumber);
  command->add_option("--out", arguments->out, "Write race.json, race.csv and race.svg here");
  command->add_flag("--json", arguments->as_json, "Print JSON");
  command->allow_extras();
  command->footer("Further options go to the problem, to every solver that has them, or to the run, such as\n"
                  "--n 50 --alpha 0.2. The columns ‖∇φ(x)‖, x error and φ gap are measured at y*(x), solved anew.\n"
                  "The clock counts steps only. Exit 0 if at least one solver arrived.");
  command->callback([command, arguments, &chosen] {
    chosen = [command, arguments] { return race(*arguments, command->remaining(), option_names(*command)); };
  });
}

} // namespace duplex::cli
