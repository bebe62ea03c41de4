#include "checkpoint/run_folder.hpp"
#include "cli/command.hpp"
#include "cli/field_options.hpp"
#include "cli/interrupt.hpp"
#include "cli/progress.hpp"
#include "cli/setup.hpp"
#include "cli/siblings.hpp"
#include "experiment/experiment.hpp"
#include "experiment/step_search.hpp"
#include "report/json_file.hpp"
#include "report/table.hpp"

#include <duplex/measure/exact.hpp>
#include <duplex/run/metrics.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <iterator>
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
  std::int64_t batch = 0; ///< samples of each level that a step sees; 0: all
  bool tune = false;
  double tune_seconds = 0.0;
  std::string out;
  bool as_json = false;
};

constexpr double part_of_start = 1e-5;

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

/// A problem, and when a run on it has arrived by a metric.
struct Course {
  Problem problem;
  std::optional<catalog::SampledProblem> in_batches = {}; ///< the same, for those that take samples
  std::uint64_t seed = 0;                                 ///< by which its batches are drawn
  std::optional<Target> target = {};
};

struct Entrant {
  std::string spec;
  std::unique_ptr<catalog::ConfiguredSolver> solver;
};

/// Mean and standard deviation, as text.
struct Moments {
  double mean = 0.0;
  double spread = 0.0;

  template <class Value> static Moments of(const std::vector<const Series *> &runs, const Value &value) {
    Moments moments;
    const auto count = static_cast<double>(runs.size());
    for (const auto *run : runs) {
      moments.mean += value(*run);
    }
    moments.mean /= count;
    for (const auto *run : runs) {
      moments.spread += std::pow(value(*run) - moments.mean, 2);
    }
    moments.spread = std::sqrt(moments.spread / std::max(1.0, count - 1.0));
    return moments;
  }
};

/// The runs of one method; series lie seed by seed, the methods of each in their order.
std::vector<const Series *> runs_of(std::size_t method, std::size_t methods, const std::vector<Series> &series) {
  std::vector<const Series *> runs;
  for (std::size_t i = method; i < series.size(); i += methods) {
    runs.push_back(&series[i]);
  }
  return runs;
}

/// Means and spreads over the runs that arrived, and the worst that any of them left.
std::string seeds_table(const std::vector<Entrant> &entrants, const std::vector<Series> &series) {
  report::Table table({"solver", "arrived", "time", "±", "steps", "± ", "gradients", "products", "worst ‖∇φ(x)‖",
                       "worst x error", "worst φ gap"});
  for (std::size_t i = 0; i < entrants.size(); ++i) {
    auto runs = runs_of(i, entrants.size(), series);
    const auto all = runs.size();
    std::erase_if(runs, [](const Series *run) { return !run->summary.converged(); });
    const std::string arrived = fmt::format("{} of {}", runs.size(), all);
    if (runs.empty()) {
      table.add({entrants[i].spec, arrived, "-", "-", "-", "-", "-", "-", "-", "-", "-"});
      continue;
    }
    const auto count = [](auto number) {
      return [number](const Series &run) { return static_cast<double>(number(run.summary)); };
    };
    const auto time = Moments::of(runs, count([](const Summary &summary) { return summary.seconds; }));
    const auto steps = Moments::of(runs, count([](const Summary &summary) { return summary.iterations; }));
    const auto gradients = Moments::of(runs, count([](const Summary &summary) { return summary.counters.gradients; }));
    const auto products = Moments::of(runs, count([](const Summary &summary) { return summary.counters.products(); }));
    const auto worst = [&](const char *metric) {
      double largest = 0.0;
      for (const auto *run : runs) {
        const double value = run->final_metric(metric);
        largest = std::isfinite(value) ? std::max(largest, value) : infinity;
      }
      return cell(largest);
    };
    table.add({entrants[i].spec, arrived, duration_text(time.mean), duration_text(time.spread),
               short_number(steps.mean, 4), short_number(steps.spread, 3), short_number(gradients.mean, 4),
               short_number(products.mean, 4), worst("true-hypergradient"), worst("true-x-error"),
               worst("true-phi-gap")});
  }
  return table.text();
}

/// Why runs did not arrive, a line each; empty where all did.
std::string failures_text(const std::vector<Series> &series) {
  std::string text;
  for (const auto &run : series) {
    if (run.summary.failed() || !run.summary.message.empty()) {
      text += fmt::format("{}: {} after {} steps: {}\n", run.name, run.status(), run.summary.iterations,
                          run.summary.message);
    }
  }
  return text;
}

report::Figure race_figure(const std::string &title, const std::vector<Entrant> &entrants,
                           const std::vector<Series> &series, const std::string &metric) {
  report::Figure figure{.title = title, .panels = {}};
  for (const bool over_seconds : {false, true}) {
    report::Panel panel{.title = over_seconds ? "over time" : "over iterations",
                        .x_label = over_seconds ? "seconds" : "iteration",
                        .y_label = metric,
                        .log_x = true,
                        .curves = {}};
    for (std::size_t i = 0; i < entrants.size(); ++i) {
      for (const auto *run : runs_of(i, entrants.size(), series)) {
        panel.curves.push_back(run->curve(metric, over_seconds));
        panel.curves.back().label = entrants[i].spec;
      }
    }
    figure.panels.push_back(std::move(panel));
  }
  return figure;
}

/// Gives the problem another seed. Throws InvalidInput where it has none.
void set_seed(catalog::ConfiguredProblem &problem, std::uint64_t seed) {
  if (!problem.set("seed", std::to_string(seed))) {
    throw InvalidInput(fmt::format("--seeds: the problem {} has no seed", problem.name()));
  }
}

/// Races of other seeds are others only where something is drawn by the seed.
void refuse_seeds_that_change_nothing(const catalog::ConfiguredProblem &problem, std::int64_t batch) {
  if (problem.has_the_same_samples_for_every_seed() && batch == 0) {
    throw InvalidInput("--seeds: the rows of --data and --validation are the same for every seed, and so would all "
                       "races be; expected --batch N, whose batches are drawn by the seed, or --data without "
                       "--validation, whose rows are shared out by the seed");
  }
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
    auto specs = arguments.solvers.empty() ? catalog::solver_names() : split_list("solvers", arguments.solvers);
    setup_.problem = catalog::make_problem(arguments.problem);
    for (auto &spec : specs) {
      setup_.solvers.push_back(catalog::make_solver(spec));
      if (arguments.solvers.empty() || arguments.tune) {
        const auto steps = experiment::give_missing_steps(*setup_.solvers.back());
        spec += arguments.tune ? std::string() : steps; // those that a search finds are shown beside
      }
    }
    setup_.run.interrupt = &interrupt_requested();
    setup_.run.max_iterations = 1'000'000'000'000;
    setup_.run.max_seconds = arguments.time_limit;
    setup_.command_options = command_options;
    apply_options(setup_, more);
    if (!arguments.target.empty()) {
      target_ = parse_target(arguments.target);
    }
    for (std::size_t i = 0; i < specs.size(); ++i) {
      entrants_.push_back({specs[i], std::move(setup_.solvers[i])});
    }
    seed_ = seed_of(*setup_.problem);
    if (arguments.seeds > 1) {
      refuse_seeds_that_change_nothing(*setup_.problem, arguments.batch);
    }
  }

  [[nodiscard]] std::vector<std::string> input_files() const { return setup_.problem->input_files(); }

  [[nodiscard]] Experiment run() {
    Experiment result = description();
    const auto seeds = static_cast<std::uint64_t>(arguments_.seeds);
    std::vector<Course> raced;
    for (std::uint64_t i = 0; i < seeds; ++i) {
      if (seeds > 1) {
        set_seed(*setup_.problem, seed_ + i);
      }
      raced.push_back(course());
    }
    tell_remarks(*setup_.problem);
    std::vector<Course> tuned_on = arguments_.tune ? tuning_courses() : std::vector<Course>();
    choose_targets(raced, tuned_on);
    result.options["arrival"] = arrival_;
    if (arguments_.tune) {
      result.tables.push_back(tune(tuned_on, result));
    }
    for (std::uint64_t i = 0; i < seeds; ++i) {
      const auto answer = raced[i].problem.answer();
      for (auto &entrant : entrants_) {
        if (interrupt_requested()) {
          break;
        }
        ProgressLine progress(entrant.spec);
        const std::string name = seeds == 1 ? entrant.spec : fmt::format("{}, seed {}", entrant.spec, seed_ + i);
        result.series.push_back(
            run_series_or_fail(request(raced[i], entrant, name, progress.if_terminal()), *entrant.solver));
        experiment::measure_truth(raced[i].problem, answer, result.series.back());
      }
    }
    for (const auto &entrant : entrants_) {
      result.options["solver_options"][entrant.spec] = options_json(*entrant.solver);
    }
    result.interrupted = interrupt_requested();
    if (!result.series.empty()) {
      result.tables.push_back("arrival: " + arrival_ + "\n" + samples_text() +
                              (seeds == 1 ? race_table(result.series) : seeds_table(entrants_, result.series)));
    }
    if (auto failures = failures_text(result.series); !failures.empty()) {
      result.tables.push_back(std::move(failures));
    }
    if (result.interrupted) {
      result.tables.emplace_back("interrupted: the race is incomplete\n");
    }
    result.figure = race_figure(result.title, entrants_, result.series, metric_);
    return result;
  }

private:
  /// By the caller's word, or by the truth where steps are searched for: or some would be found that make ‖d‖ small and
  /// wrong. The same rule for all.
  void choose_targets(std::vector<Course> &raced, std::vector<Course> &tuned_on) {
    if (target_) {
      arrival_ = fmt::format("{} <= {}", target_->metric, short_number(target_->value));
      metric_ = target_->metric;
    } else if (setup_.run.has_tolerance()) {
      arrival_ = "at the tolerance that was given";
    } else if (arguments_.tune && give_targets_by_truth(raced) && give_targets_by_truth(tuned_on)) {
      arrival_ = fmt::format("the exact ‖∇φ(x)‖ at {} of that at the start", short_number(part_of_start));
      metric_ = "hypergradient";
      return;
    } else {
      setup_.run.direction_tolerance = 1e-6;
      arrival_ = "‖d‖ <= 1e-6, by a method's own word";
    }
    if (metric_.empty()) {
      metric_ = raced.front().problem.answer() ? "x-error" : "direction";
    }
    for (auto *courses : {&raced, &tuned_on}) {
      for (auto &course : *courses) {
        course.target = target_;
      }
    }
  }

  /// A part of the exact ‖∇φ(x₀)‖ of each; false where that does not exist on one of them.
  [[nodiscard]] static bool give_targets_by_truth(std::vector<Course> &courses) {
    for (auto &course : courses) {
      const auto first = exact_slope(course.problem, course.problem.start());
      if (!first) {
        return false;
      }
      course.target = Target{"hypergradient", part_of_start * *first};
    }
    return true;
  }

  /// The problem as its options stand.
  [[nodiscard]] Course course() const {
    const std::uint64_t seed = seed_of(*setup_.problem);
    if (arguments_.batch == 0) {
      return {.problem = setup_.problem->make(), .seed = seed};
    }
    const auto in_batches = setup_.problem->make_in_batches(arguments_.batch);
    return {.problem = in_batches.whole(), .in_batches = in_batches, .seed = seed};
  }

  /// What a method learns by which it chooses its steps must hold for the next one.
  [[nodiscard]] bool steps_on_batches(const Entrant &entrant) const {
    return arguments_.batch > 0 && !entrant.solver->traits().chooses_its_steps();
  }
  [[nodiscard]] std::vector<std::string> those_on_all_samples() const {
    std::vector<std::string> specs;
    for (const auto &entrant : entrants_) {
      if (!steps_on_batches(entrant)) {
        specs.push_back(entrant.spec);
      }
    }
    return specs;
  }
  [[nodiscard]] std::string samples_text() const {
    if (arguments_.batch == 0) {
      return "";
    }
    const auto others = those_on_all_samples();
    const bool same = arguments_.seeds > 1 && setup_.problem->has_the_same_samples_for_every_seed();
    return fmt::format("each step on {} samples of each level{}{}\n", arguments_.batch,
                       others.empty() ? "" : fmt::format("; of {} on all of them", fmt::join(others, ", ")),
                       same ? "; every seed has the same samples, in batches of another order" : "");
  }

  [[nodiscard]] experiment::RunRequest request(const Course &course, const Entrant &entrant, const std::string &name,
                                               Observer<Vector> *observer) const {
    constexpr double growth = 0.02;
    Options options = setup_.run;
    options.seed = course.seed;
    return {.problem = course.problem,
            .solver = entrant.spec,
            .name = name,
            .options = options,
            .metrics = {metric_},
            .target = course.target,
            .cadence = {.every = 1, .growth = course.target ? 0.0 : growth, .patience = 1.0},
            .kept = {.every = 1, .growth = growth},
            .observer = observer,
            .in_batches = steps_on_batches(entrant) ? &*course.in_batches : nullptr};
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
                        {"target", arguments_.target},
                        {"time_limit", setup_.run.max_seconds},
                        {"seeds", arguments_.seeds},
                        {"batch", arguments_.batch},
                        {"on_all_samples", those_on_all_samples()},
                        {"solver_options", experiment::Json::object()}},
            .seed = seed_};
  }

  /// Of seeds that are not raced, several of them, or steps at the edge of what one problem bears would be found; the
  /// problem itself where it has no seeds.
  [[nodiscard]] std::vector<Course> tuning_courses() const {
    const auto seeds = static_cast<std::uint64_t>(arguments_.seeds);
    std::vector<Course> courses;
    for (std::uint64_t i = 0; i < problems_to_tune_on; ++i) {
      const bool has_seeds = setup_.problem->set("seed", std::to_string(seed_ + seeds + i));
      courses.push_back(course());
      if (!has_seeds || setup_.problem->has_the_same_samples_for_every_seed()) {
        break;
      }
    }
    return courses;
  }

  /// Gives every method its steps; a table of what was found.
  [[nodiscard]] std::string tune(const std::vector<Course> &courses, Experiment &result) {
    const double budget = arguments_.tune_seconds > 0.0 ? arguments_.tune_seconds : arguments_.time_limit;
    report::Table table({"tuned", "steps found", "trials", "of the budget", "best trial"});
    for (auto &entrant : entrants_) {
      if (interrupt_requested()) {
        break;
      }
      ProgressLine progress("tuning " + entrant.spec);
      std::vector<experiment::RunRequest> requests;
      for (const auto &course : courses) {
        requests.push_back(request(course, entrant, entrant.spec, progress.if_terminal()));
      }
      auto found = experiment::search_steps(requests, *entrant.solver, names_in(more_), budget);
      entrant.solver = std::move(found.solver);
      const bool all_arrived = found.arrived == std::ssize(requests);
      const std::string best =
          all_arrived ? fmt::format("{} of {} in {}", found.arrived, requests.size(), duration_text(found.best))
                      : fmt::format("{} of {}, {} left", found.arrived, requests.size(), cell(found.best));
      table.add({entrant.spec, found.steps, std::to_string(found.trials),
                 fmt::format("{:.0f} %", 100.0 * found.seconds / budget), best});
      result.options["tuning"]["found"][entrant.spec] = {{"steps", found.steps},
                                                         {"trials", found.trials},
                                                         {"seconds", found.seconds},
                                                         {"arrived", found.arrived},
                                                         {"best", experiment::json_number(found.best)}};
    }
    result.options["tuning"]["seconds"] = budget;
    result.options["tuning"]["problems"] = courses.size();
    return fmt::format("steps searched for {} each, on {}\n{}", duration_text(budget),
                       courses.size() > 1 ? fmt::format("{} problems of other seeds", courses.size())
                                          : "the problem itself",
                       table.text());
  }

  static constexpr std::uint64_t problems_to_tune_on = 3;

  const RaceArguments &arguments_;
  const std::vector<std::string> &more_;
  Setup setup_;
  std::optional<Target> target_;
  std::string metric_;
  std::string arrival_; ///< what it is to arrive
  std::uint64_t seed_ = 0;
  std::vector<Entrant> entrants_;
};

int race(const RaceArguments &arguments, const std::vector<std::string> &more,
         const std::vector<std::string> &command_options, checkpoint::RunFolder *folder) {
  Race entered(arguments, more, command_options);
  add_inputs(entered.input_files(), folder);
  const Interruptible interruptible;
  if (folder != nullptr) {
    folder->begin("race", own_arguments());
  }
  const Experiment result = entered.run();
  if (folder != nullptr) {
    folder->write(files_of(result));
    folder->end(result.interrupted ? checkpoint::RunState::interrupted : checkpoint::RunState::finished);
  }
  if (arguments.as_json) {
    fmt::print("{}\n", report::json_text(experiment::to_json(result), 2));
  } else {
    experiment::print(result);
    if (folder != nullptr) {
      fmt::print("written: {}\n", arguments.out);
    }
  }
  const bool someone_arrived = std::any_of(result.series.begin(), result.series.end(),
                                           [](const Series &series) { return series.summary.converged(); });
  return someone_arrived && !result.interrupted ? exit_success : exit_run_failed;
}

int race(const RaceArguments &arguments, const std::vector<std::string> &more,
         const std::vector<std::string> &command_options) {
  if (arguments.tune_seconds > 0.0 && !arguments.tune) {
    throw InvalidInput("--tune-seconds without --tune");
  }
  if (arguments.out.empty()) {
    return race(arguments, more, command_options, nullptr);
  }
  checkpoint::RunFolder folder(arguments.out);
  return folder.run([&] { return race(arguments, more, command_options, &folder); });
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
  add_number(*command, "--time-limit", arguments->time_limit, positive, "Most seconds for each run");
  add_number(*command, "--seeds", arguments->seeds, Bound{.low = 1, .high = 1e4},
             "Race on so many problems, of seeds that follow one another");
  add_number(*command, "--batch", arguments->batch, non_negative,
             "Do each step on so many samples of each level, of a problem that is a sum over samples, but for methods\n"
             "that choose their steps; metrics and targets see all samples (0: all)");
  command->add_flag("--tune", arguments->tune,
                    "First search for the step sizes that are not given, for every method, on problems of other seeds");
  add_number(*command, "--tune-seconds", arguments->tune_seconds, positive,
             "Budget of that search, for each method, on the clocks of its runs (default: the time limit)")
      ->default_str("");
  command->add_option("--out", arguments->out, "Write race.json, race.csv and race.svg here");
  command->add_flag("--json", arguments->as_json, "Print JSON");
  command->allow_extras();
  command->footer("Further options go to the problem, to every solver that has them, or to the run, such as\n"
                  "--n 50 --alpha 0.2. The columns ‖∇φ(x)‖, x error and φ gap are measured at y*(x), solved anew.\n"
                  "The clock counts steps only. Exit 0 if at least one solver reached the target.");
  command->callback([command, arguments, &chosen] {
    chosen = [command, arguments] { return race(*arguments, command->remaining(), option_names(*command)); };
  });
}

} // namespace duplex::cli
