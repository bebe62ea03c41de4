#include "checkpoint/run_folder.hpp"
#include "cli/command.hpp"
#include "cli/field_options.hpp"
#include "cli/interrupt.hpp"
#include "cli/progress.hpp"
#include "cli/setup.hpp"
#include "cli/siblings.hpp"
#include "fewshot/report.hpp"
#include "report/html.hpp"
#include "report/json_file.hpp"
#include "report/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

namespace duplex::cli {

namespace {

struct FewShotArguments {
  fewshot::Settings settings;
  std::string out = "few-shot";
  std::string resume;
  double save_every = 10.0;
  bool as_json = false;
};

/// What may differ when a run goes on.
constexpr std::array<std::string_view, 4> changeable_settings{"steps", "seconds", "target", "test-tasks"};

fewshot::Settings settings_to_go_on(const fewshot::Settings &given, const std::vector<std::string> &named,
                                    const SavedState &state) {
  for (const auto &name : named) {
    if (std::find(changeable_settings.begin(), changeable_settings.end(), name) == changeable_settings.end()) {
      throw InvalidInput(fmt::format("--{} cannot change when a run goes on; --steps, --seconds, --target and "
                                     "--test-tasks can",
                                     name));
    }
  }
  auto settings = fewshot::settings_of(state);
  const auto is_named = [&](std::string_view name) {
    return std::find(named.begin(), named.end(), name) != named.end();
  };
  settings.steps = is_named("steps") ? given.steps : settings.steps;
  settings.seconds = is_named("seconds") ? given.seconds : settings.seconds;
  settings.target = is_named("target") ? given.target : settings.target;
  settings.test_tasks = is_named("test-tasks") ? given.test_tasks : settings.test_tasks;
  return settings;
}

std::vector<report::NamedContent> results_of(const fewshot::Outcome &outcome) {
  std::vector<report::NamedContent> files{
      {"backbone.pt", outcome.backbone},
      {"looks.csv", fewshot::looks_csv(outcome)},
      {"summary.json", report::json_text(fewshot::summary_json(outcome), 2) + "\n"}};
  if (report::html_available()) {
    files.push_back({"report.html", report::html_page(fewshot::report_json(outcome))});
  }
  return files;
}

void print_result(const fewshot::Outcome &outcome, const std::string &folder) {
  if (outcome.test) {
    fmt::print("test: {} on {} tasks of {}\n", fewshot::accuracy_text(*outcome.test), outcome.settings.test_tasks,
               fewshot::tested_classes(outcome.settings));
  }
  fmt::print("{} step{} in {} of training on {}{}, after {} for the images and {} of preparing; ended: {}\n",
             outcome.steps, outcome.steps == 1 ? "" : "s", duration_text(outcome.seconds), outcome.device,
             outcome.replayed ? ", replayed as graphs" : "", duration_text(outcome.seconds_data),
             duration_text(outcome.seconds_preparing), name_of(outcome.ending));
  fmt::print("written to {}: backbone.pt, looks.csv, summary.json, checkpoint.dpx\n", folder);
  if (report::html_available()) {
    fmt::print("report: {}\n", (std::filesystem::path(folder) / "report.html").string());
  }
  if (outcome.ending == fewshot::Ending::interrupted) {
    fmt::print("go on with: duplex few-shot --resume {}\n", report::shell_quoted(folder));
  }
}

/// A run that is about to begin or to go on.
struct Prepared {
  fewshot::Settings settings;
  std::string shown; ///< the folder, as it was given
  std::unique_ptr<checkpoint::RunFolder> folder = {};
  std::optional<SavedState> saved = {}; ///< where it goes on
};

Prepared prepared(const FewShotArguments &arguments, const std::vector<std::string> &named_settings,
                  const std::vector<std::string> &more, const std::vector<std::string> &own_options) {
  using checkpoint::RunFolder;
  Prepared run{arguments.settings, arguments.resume.empty() ? arguments.out : arguments.resume};
  if (arguments.resume.empty()) {
    run.settings.solver = solver_spec(run.settings.solver, more, own_options);
  } else {
    if (!more.empty()) {
      throw InvalidInput(fmt::format("{} cannot change when a run goes on", more.front()));
    }
    run.folder = std::make_unique<RunFolder>(run.shown, RunFolder::Opening::existing);
    run.folder->find("few-shot");
    run.saved = run.folder->load();
    run.settings = settings_to_go_on(run.settings, named_settings, *run.saved);
  }
  run.settings = run.settings.completed();
  if (!run.folder) {
    run.folder = std::make_unique<RunFolder>(run.shown);
  }
  return run;
}

int learn(const FewShotArguments &arguments, const Prepared &run) {
  const auto &settings = run.settings;
  auto &folder = *run.folder;
  StatusLine status;
  const fewshot::Hooks hooks{.progress =
                                 [&](std::int64_t step, double seconds, const fewshot::Look &last) {
                                   status.show(fmt::format("step {} of {}, {} of training; at step {}: {}", step,
                                                           settings.steps, duration_text(seconds), last.step,
                                                           fewshot::accuracy_text(last.found)));
                                 },
                             .look =
                                 [&](const fewshot::Look &look) {
                                   if (!arguments.as_json) {
                                     status.clear();
                                     fmt::print("step {:>5}  {:>9}  {}\n", look.step, duration_text(look.seconds),
                                                fewshot::accuracy_text(look.found));
                                     (void)std::fflush(stdout);
                                   }
                                 },
                             .save = [&](const SavedState &state) { folder.save(state); },
                             .seconds_between_saves = arguments.save_every,
                             .reads = [&](const std::filesystem::path &file) { folder.add_input(file); },
                             .interrupt = &interrupt_requested()};
  const Interruptible interruptible;
  if (!run.saved) {
    folder.begin("few-shot", own_arguments());
  }
  const auto outcome = fewshot::train(settings, hooks, run.saved ? &*run.saved : nullptr);
  status.clear();
  folder.write(results_of(outcome));
  folder.end(outcome.ending == fewshot::Ending::interrupted ? checkpoint::RunState::interrupted
                                                            : checkpoint::RunState::finished);
  if (arguments.as_json) {
    fmt::print("{}\n", report::json_text(fewshot::summary_json(outcome), 2));
  } else {
    print_result(outcome, run.shown);
  }
  const bool short_of_target = settings.target > 0.0 && outcome.ending != fewshot::Ending::target;
  return outcome.ending == fewshot::Ending::interrupted || short_of_target ? exit_run_failed : exit_success;
}

/// In the process that trains.
int learn_in_folder(const FewShotArguments &arguments, const Prepared &run) {
  if (run.saved) {
    run.folder->go_on();
  }
  return run.folder->run([&] {
    if (run.saved) {
      run.folder->go_where_it_was_started();
    }
    return learn(arguments, run);
  });
}

} // namespace

void add_few_shot(CLI::App &app, Action &chosen) {
  auto *command = app.add_subcommand("few-shot", "Learn features from which a class is known by an image or a few");
  auto arguments = std::make_shared<FewShotArguments>();
  add_field_options(*command, arguments->settings, "few-shot");
  const std::vector<std::string> settings = option_names(*command);
  auto *out = command->add_option("--out", arguments->out, "Folder of the results")->capture_default_str();
  add_number(*command, "--save-every", arguments->save_every, non_negative, "Seconds between checkpoints");
  command->add_option("--resume", arguments->resume, "Go on with the run whose results are in this folder")
      ->excludes(out);
  command->add_flag("--json", arguments->as_json, "Print JSON");
  command->allow_extras();
  command->footer(
      "Further options go to the solver, such as --eta 0.2 (`duplex list` shows them). Tasks are drawn from\n"
      "DoubleMNIST, made of MNIST's files (`sh scripts/mnist.sh` gets them). Writes the backbone for Python's\n"
      "torch.load, a checkpoint to go on from, and report.html. docs/commands/few-shot.md says how it works.");
  command->callback([command, arguments, settings, &chosen] {
    chosen = [command, arguments, settings] {
      std::vector<std::string> named_settings;
      for (const auto *option : command->get_options()) {
        const auto name = option->get_single_name();
        if (option->count() > 0 && std::find(settings.begin(), settings.end(), name) != settings.end()) {
          named_settings.push_back(name);
        }
      }
      // What is wrong is said before LibTorch is loaded.
      const auto run = prepared(*arguments, named_settings, command->remaining(), option_names(*command));
      return needing_torch([&] { return learn_in_folder(*arguments, run); }, "few-shot")();
    };
  });
}

} // namespace duplex::cli
