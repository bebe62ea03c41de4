#include "checkpoint/run_folder.hpp"
#include "cli/command.hpp"
#include "cli/field_options.hpp"
#include "cli/interrupt.hpp"
#include "cli/progress.hpp"
#include "cli/setup.hpp"
#include "cli/siblings.hpp"
#include "cli/solve_arguments.hpp"
#include "experiment/experiment.hpp"
#include "experiment/trace_file.hpp"
#include "report/json_file.hpp"
#include "report/table.hpp"
#include "report/text.hpp"

#include <duplex/measure/certificate.hpp>
#include <duplex/measure/exact.hpp>
#include <duplex/run/metrics.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <optional>
#include <utility>

namespace duplex::cli {

namespace {

std::string explanation_without_choices(const std::string &solver) {
  return solver + " goes by the steps that it is given; automatic chooses its own";
}

using experiment::Experiment;
using experiment::run_series;
using experiment::Series;

std::string solution_csv(const State<catalog::Vector> &state) {
  std::string csv = "variable,index,value\n";
  const auto append = [&](const char *name, const catalog::Vector &vector) {
    for (Index i = 0; i < vector.size(); ++i) {
      csv += fmt::format("{},{},{}\n", name, i, number_text(vector[i]));
    }
  };
  append("x", state.x);
  append("y", state.y);
  append("v", state.v);
  return csv;
}

bool reached_what_was_asked(const Summary &summary) {
  return summary.converged() || summary.termination == Termination::max_iterations ||
         (summary.termination == Termination::max_seconds && summary.iterations > 0);
}

void measure_too(experiment::RunRequest &request, const std::string &metric) {
  if (std::find(request.metrics.begin(), request.metrics.end(), metric) == request.metrics.end()) {
    request.metrics.push_back(metric);
  }
}

experiment::Json certificate_json(const Certificate &certificate) {
  using experiment::json_number;
  experiment::Json json{{"holds", certificate.holds()},
                        {"unavailable", certificate.unavailable},
                        {"refuted", certificate.refuted},
                        {"kkt_stationarity", json_number(certificate.blocks.stationarity)},
                        {"kkt_multiplier", json_number(certificate.blocks.multiplier)},
                        {"kkt_feasibility", json_number(certificate.blocks.feasibility)}};
  if (certificate.exists()) {
    json.update({{"phi", json_number(certificate.value)},
                 {"hypergradient", json_number(certificate.hypergradient)},
                 {"hypergradient_error", json_number(certificate.hypergradient_error)},
                 {"entries_at_bounds", certificate.entries_at_bounds},
                 {"outward_hypergradient", json_number(certificate.outward_hypergradient)},
                 {"first_hypergradient", json_number(certificate.first_hypergradient.value_or(infinity))},
                 {"y_error", json_number(certificate.lower_error)},
                 {"v_error", json_number(certificate.multiplier_error)},
                 {"directions", certificate.directions},
                 {"difference_error", json_number(certificate.difference_error)},
                 {"difference_scale", json_number(certificate.difference_scale)},
                 {"difference_tolerance", json_number(certificate.difference_tolerance)}});
  }
  if (certificate.direction) {
    json.update({{"direction", json_number(certificate.direction->length)},
                 {"direction_hypergradient", json_number(certificate.direction->hypergradient)},
                 {"direction_error", json_number(certificate.direction->error)}});
  }
  return json;
}

/// Of those that a run may take in all, measuring included.
double seconds_left(double most, const SavedState *from) {
  return from == nullptr ? most : std::max(0.0, most - from->first<SavedState::Doubles>("seconds"));
}

/// What the end of a run says of ∇φ and the KKT residual.
RunClaims claims_of(const Summary &summary, const Options &options, const catalog::ConfiguredSolver &solver) {
  RunClaims claims;
  if (summary.termination == Termination::tolerance_verified) {
    claims.relative_slope = solver.traits().own_tolerance;
  } else if (summary.termination == Termination::direction_tolerance) {
    claims.slope = options.direction_tolerance;
  } else if (summary.termination == Termination::kkt_tolerance && options.kkt_tolerance > 0.0) {
    claims.kkt = options.kkt_tolerance;
  } else if (summary.termination == Termination::kkt_tolerance) {
    claims.relative_slope = options.kkt_relative_tolerance;
  }
  return claims;
}

/// What to add to `--resume`; none where that alone leads nowhere.
std::optional<std::string> how_to_go_on(const Summary &summary) {
  switch (summary.termination) {
  case Termination::max_iterations:
    return fmt::format(" --iterations {}", 2 * summary.iterations);
  case Termination::max_seconds:
    return fmt::format(" --seconds {}", short_number(2.0 * summary.seconds));
  case Termination::interrupted:
    return "";
  default:
    return std::nullopt;
  }
}

/// What a run leaves in its folder.
std::vector<report::NamedContent> results_of(const Experiment &result) {
  auto files = files_of(result);
  const auto &series = result.series.front();
  if (!series.summary.failed()) {
    files.push_back({"solution.csv", solution_csv(series.state)});
  }
  return files;
}

checkpoint::RunState state_of(const Summary &summary) {
  using checkpoint::RunState;
  return summary.failed()                                  ? RunState::failed
         : summary.termination == Termination::interrupted ? RunState::interrupted
                                                           : RunState::finished;
}

void refuse_batches_for_one_that_chooses_its_steps(const catalog::ConfiguredSolver &solver) {
  if (solver.traits().chooses_its_steps()) {
    throw InvalidInput(
        fmt::format("--batch: {} chooses its steps, for which what a step learns must hold for the next; "
                    "expected a solver with steps, such as --solver soba --alpha 0.1",
                    solver.name()));
  }
}

/// With a folder where the run is saved, and from a saved state where it goes on.
int solve_problem(SolveArguments arguments, const std::vector<std::string> &command_options,
                  checkpoint::RunFolder *folder, const SavedState *from) {
  std::filesystem::path trace_file = arguments.trace;
  if (from != nullptr && !arguments.gave_trace) {
    trace_file = trace_to_go_on(arguments.trace, *folder);
  }
  Setup setup;
  setup.problem = catalog::make_problem(arguments.problem);
  setup.solvers.push_back(catalog::make_solver(arguments.solver));
  setup.run = catalog::run_of_the_tool();
  setup.run.interrupt = &interrupt_requested();
  setup.command_options = command_options;
  setup.overrides_names = from != nullptr;
  apply_options(setup, arguments.more);
  const auto &solver = *setup.solvers.front();
  add_inputs(setup.problem->input_files(), folder, trace_file);
  std::optional<catalog::SampledProblem> in_batches;
  if (arguments.batch > 0) {
    refuse_batches_for_one_that_chooses_its_steps(solver);
    in_batches.emplace(setup.problem->make_in_batches(arguments.batch));
    setup.run.seed = seed_of(*setup.problem);
  }
  const auto problem = in_batches ? in_batches->whole() : setup.problem->make();
  tell_remarks(*setup.problem);

  ProgressLine progress{std::string(solver.name())};
  experiment::RunRequest request{.problem = problem,
                                 .solver = arguments.solver,
                                 .name = std::string(solver.name()),
                                 .options = setup.run,
                                 .metrics = split_list("metrics", arguments.metrics),
                                 .cadence = {.every = arguments.every, .growth = 0.01},
                                 .kept = {.growth = 0.01},
                                 .observer = progress.if_terminal(),
                                 .in_batches = in_batches ? &*in_batches : nullptr,
                                 .keeps_direction = arguments.certify,
                                 .trace_file = trace_file};
  for (const auto &metric : request.metrics) {
    require_metric("metrics", metric);
  }
  if (setup.run.measures_kkt()) {
    request.cadence.growth = 0.0;
  }
  if (!arguments.target.empty()) {
    request.target = parse_target(arguments.target);
    request.cadence.growth = 0.0;
    if (from != nullptr &&
        std::find(request.metrics.begin(), request.metrics.end(), request.target->metric) == request.metrics.end()) {
      throw InvalidInput(fmt::format("--target: the run that goes on does not measure {}; it measures {}",
                                     request.target->metric, fmt::join(request.metrics, ", ")));
    }
    measure_too(request, request.target->metric);
  }
  if (arguments.held_out_patience > 0) {
    request.hold_out = HoldOut{.patience = arguments.held_out_patience};
    request.cadence.growth = 0.0;
    measure_too(request, request.hold_out->metric);
  }
  arguments.metrics = fmt::format("{}", fmt::join(request.metrics, ",")); // as a run that goes on is told
  if (folder != nullptr) {
    request.saving = Saving{.save =
                                [&](const SavedState &state) {
                                  SavedState with_arguments = state;
                                  put_told(arguments, with_arguments);
                                  folder->save(std::move(with_arguments));
                                },
                            .every_seconds = arguments.save_every,
                            .from = from};
  }
  request.options.max_wall_seconds = seconds_left(setup.run.max_seconds, from);
  std::optional<Interruptible> interruptible(std::in_place); // until here an earlier run in the folder is untouched
  if (folder != nullptr && from == nullptr) {
    folder->begin("solve", own_arguments());
  }
  Series series = run_series(request, solver);
  const auto box = box_of(problem);
  if (box.exists()) {
    series.extra.emplace_back("x-at-bounds", static_cast<double>(box.entries_at_bounds(series.state.x)));
  }
  if (from != nullptr && series.summary.iterations == from->first<SavedState::Integers>("iterations") &&
      (series.summary.converged() || series.summary.termination == Termination::max_iterations)) {
    fmt::print(stderr, "duplex: nothing was left to do: the run had ended ({})\n", series.status());
  }

  Experiment result{.name = "solve",
                    .title = fmt::format("{} on {}", solver.name(), setup.problem->name()),
                    .options = {{"problem", setup.problem->name()},
                                {"problem_options", options_json(*setup.problem)},
                                {"batch", arguments.batch},
                                {"solver", solver.name()},
                                {"solver_options", options_json(solver)}},
                    .seed = seed_of(*setup.problem),
                    .series = {series}};
  result.interrupted = series.summary.termination == Termination::interrupted;
  for (const auto &info : catalog::describe(setup.run)) {
    result.options["run_options"][info.name] = info.value;
  }
  if (!arguments.as_json) {
    for (const auto &recovery : series.summary.recoveries) {
      fmt::print("recovered: {}\n", recovery);
    }
    fmt::print("{}\n", series.summary.brief());
    for (const auto &[name, value] : series.summary.metrics) {
      fmt::print("  {:<20} {}\n", name, short_number(value, 6));
    }
    if (box.exists()) {
      fmt::print("  {:<20} {} of {}\n", "x at its bounds", box.entries_at_bounds(series.state.x), problem.x_size());
    }
    if (arguments.explain) {
      fmt::print("{}\n", series.summary.explanation.empty() ? explanation_without_choices(series.summary.solver)
                                                            : series.summary.explanation);
    }
    (void)std::fflush(stdout);
  }
  if (folder != nullptr) {
    result.figure.title = result.title;
    for (const auto &metric : request.metrics) {
      result.figure.panels.push_back(
          {.title = metric, .x_label = "iteration", .y_label = metric, .curves = {series.curve(metric)}});
    }
    folder->write(results_of(result));
  }
  interruptible.reset();
  std::optional<Certificate> certificate; // may take long: all else is written by now
  if (arguments.certify && !series.summary.failed() && !result.interrupted) {
    certificate = duplex::certify(problem, problem.start(), series.state,
                                  {.claims = claims_of(series.summary, setup.run, solver)}, series.last_direction);
    result.series.front().certificate = certificate_json(*certificate);
    if (folder != nullptr) {
      folder->write(results_of(result));
    }
    if (!arguments.as_json) {
      fmt::print("{}", certificate->text());
    }
  }
  if (folder != nullptr) {
    folder->end(state_of(series.summary));
  }
  if (arguments.as_json) {
    fmt::print("{}\n", report::json_text(experiment::to_json(result), 2));
  } else if (folder != nullptr) {
    fmt::print("written: {}\n", arguments.out);
  }
  (void)std::fflush(stdout); // what follows is said after it, in a log too
  const bool has_own_tolerance = !series.summary.explanation.empty();
  const bool asked_for_convergence = has_own_tolerance || request.target || setup.run.has_tolerance();
  const bool overfitted_instead =
      series.summary.termination == Termination::overfitted && (request.target || setup.run.has_tolerance());
  const bool reached = asked_for_convergence ? series.summary.converged() && !overfitted_instead
                                             : reached_what_was_asked(series.summary);
  if (!reached && !series.summary.failed()) {
    fmt::print(stderr, "duplex: the run ended ({}) before it reached what was asked of it\n", series.status());
    if (const auto hint = how_to_go_on(series.summary); folder != nullptr && hint) {
      fmt::print(stderr, "go on with: duplex solve --resume {}{}\n", report::shell_quoted(arguments.out), *hint);
    }
  }
  const bool certified = !arguments.certify || (certificate && certificate->holds());
  if (certificate && !certified) {
    fmt::print(stderr, "duplex: {}\n",
               !certificate->exists() ? "there is no certificate: the hypergradient is not available"
               : !certificate->differences_decide()
                   ? (certificate->has_differences()
                          ? "there is no certificate: rounding hides differences of φ, by which the hypergradient is "
                            "checked"
                          : "there is no certificate: φ is not available beside x, where differences of it would check "
                            "the hypergradient")
               : !certificate->is_consistent() ? "differences of φ contradict the hypergradient; see `duplex check`"
                                               : "the certificate refutes the run: " + certificate->refuted);
  }
  if (!series.trace_failure.empty()) {
    fmt::print(stderr, "duplex: {}\n", series.trace_failure);
  }
  return reached && certified && series.trace_failure.empty() ? exit_success : exit_run_failed;
}

/// A trace is no result of this run, nor of another one.
void refuse_trace_over_results(const SolveArguments &arguments) {
  const std::filesystem::path trace = arguments.trace;
  constexpr std::array<std::string_view, 2> of_solve{"solve.csv", "solution.csv"}; // others have no name of a trace
  const bool is_here = !arguments.out.empty() && !trace.empty() &&
                       std::filesystem::absolute(arguments.out).lexically_normal() == trace.parent_path();
  if (is_here && std::find(of_solve.begin(), of_solve.end(), trace.filename().string()) != of_solve.end()) {
    throw InvalidInput(fmt::format("--trace {}: that is the name of a result of this run; name another one",
                                   trace.filename().string()));
  }
  checkpoint::refuse_files_of_runs("--trace", trace);
}

int begin_solving(SolveArguments arguments, const std::vector<std::string> &command_options) {
  if (arguments.problem.empty()) {
    throw InvalidInput("--problem NAME is needed, or --resume DIR (`duplex list` shows the problems)" +
                       (arguments.more.empty() ? "" : "; found '" + arguments.more.front() + "'"));
  }
  refuse_trace_over_results(arguments);
  if (arguments.out.empty()) {
    return solve_problem(std::move(arguments), command_options, nullptr, nullptr);
  }
  checkpoint::RunFolder folder(arguments.out);
  return folder.run([&] { return solve_problem(arguments, command_options, &folder, nullptr); });
}

int go_on_solving(SolveArguments arguments, const std::vector<std::string> &command_options) {
  refuse_other_options(arguments.more);
  checkpoint::RunFolder folder(arguments.resume, checkpoint::RunFolder::Opening::existing);
  folder.find("solve");
  const SavedState saved = folder.load();
  take_told(saved, arguments);
  arguments.out = arguments.resume;
  folder.go_on();
  return folder.run([&] {
    folder.go_where_it_was_started();
    return solve_problem(arguments, command_options, &folder, &saved);
  });
}

} // namespace

void add_solve(CLI::App &app, Action &chosen) {
  auto *command = app.add_subcommand("solve", "Run one solver on one problem");
  auto arguments = std::make_shared<SolveArguments>();
  auto *problem = command->add_option("--problem", arguments->problem, "Problem, as NAME or NAME:option=value:...");
  auto *solver = command->add_option("--solver", arguments->solver, "Solver, as NAME or NAME:option=value:...")
                     ->capture_default_str();
  auto *metrics = command->add_option("--metrics", arguments->metrics, "Metrics to measure, separated by commas")
                      ->capture_default_str();
  command->add_option("--target", arguments->target, "Stop when a metric is at most a value, as metric=value");
  auto *every = add_number(*command, "--every", arguments->every, at_least_one, "Measure every so many steps");
  auto *batch = add_number(*command, "--batch", arguments->batch, non_negative,
                           "Do each step on so many samples of each level, of a problem that is a sum over samples;\n"
                           "metrics see all of them (0: all)");
  auto *out = command->add_option("--out", arguments->out,
                                  "Write solve.json, solve.csv, solve.svg, solution.csv and a checkpoint here");
  command->add_option("--trace", arguments->trace,
                      "Write a line for every measured step to FILE.jsonl or FILE.csv as the run goes, or scalars for\n"
                      "TensorBoard to a file with 'tfevents' in its name");
  add_number(*command, "--save-every", arguments->save_every, positive, "Seconds between checkpoints");
  auto *resume =
      command->add_option("--resume", arguments->resume, "Go on with the run whose checkpoint is in this folder");
  auto *patience =
      add_number(*command, "--held-out-patience", arguments->held_out_patience, at_least_one,
                 "Stop once the loss on samples that neither level sees has not fallen for so many measurements,\n"
                 "and go back to where it was smallest");
  for (auto *fixed : {problem, solver, metrics, every, batch, out, patience}) {
    resume->excludes(fixed);
  }
  command->add_flag("--certify", arguments->certify,
                    "At the end solve the lower level exactly, difference φ along random directions, and print\n"
                    "‖∇φ(x)‖ and the KKT blocks; exit 1 where that does not bear out what the run claims");
  command->add_flag("--explain", arguments->explain, "Print what a run without given steps has measured and chosen");
  command->add_flag("--json", arguments->as_json, "Print JSON");
  command->allow_extras();
  command->footer(
      "Any option of the problem, the solver or the run may follow, such as --n 50 --alpha 0.2\n"
      "--iterations 500 --direction-tolerance 1e-6; `duplex list` shows them.\n"
      "x and y are the upper and the lower variables, v is the multiplier of grad_y f = 0, φ(x) = F(x, y*(x)),\n"
      "and d is the method's estimate of the hypergradient ∇φ(x), which x follows.\n"
      "automatic chooses its steps itself, and ends at its own --tolerance. Runs of other solvers without a\n"
      "tolerance or a target do all of their iterations.");
  command->callback([command, arguments, &chosen] {
    chosen = [command, arguments] {
      arguments->more = command->remaining();
      arguments->gave_save_every = command->count("--save-every") > 0;
      if (!arguments->trace.empty()) {
        (void)experiment::trace_format_of(arguments->trace);
        arguments->gave_trace = true;
        arguments->trace =
            std::filesystem::absolute(arguments->trace).string(); // a run that goes on leaves this folder
      }
      return arguments->resume.empty() ? begin_solving(*arguments, option_names(*command))
                                       : go_on_solving(*arguments, option_names(*command));
    };
  });
}

} // namespace duplex::cli
