#include "reproduce/reproduce.hpp"

#include "checkpoint/run_folder.hpp"
#include "cli/command.hpp"
#include "cli/field_options.hpp"
#include "cli/interrupt.hpp"
#include "cli/siblings.hpp"
#include "report/files.hpp"
#include "report/json_file.hpp"

#include <fmt/format.h>

#include <unistd.h>

#include <algorithm>
#include <cstdio>

namespace duplex::cli {

namespace {

using experiment::Experiment;
using experiment::Json;

struct ReproduceArguments {
  std::string experiment;
  std::string out = "out";
  reproduce::Settings settings;
  bool as_json = false;
};

std::vector<std::string> experiment_names() {
  std::vector<std::string> names;
  for (const auto &entry : reproduce::entries) {
    names.emplace_back(entry.name);
  }
  names.emplace_back("all");
  return names;
}

/// In a process of its own, since LibTorch's memory would be counted by the experiments that measure theirs.
bool reproduce_with_torch(const ReproduceArguments &arguments, std::string_view name, Json &all) {
  if (!sibling_is_there(with_torch)) {
    fmt::print(stderr, "{} is left out: it needs LibTorch, and this Duplex was built without it\n", name);
    return true;
  }
  auto own = own_arguments();
  std::replace(own.begin(), own.end(), std::string("all"), std::string(name));
  (void)std::fflush(stdout);
  const int code = run_sibling(with_torch, own, arguments.as_json);
  if (arguments.as_json && code != exit_wrong_input) {
    const auto written = std::filesystem::path(arguments.out) / (std::string(name) + ".json");
    all.push_back(report::parsed_json(report::read_file(written), written.string()));
  }
  return code == exit_success;
}

/// Every experiment is a run of its own, so that one that needs LibTorch can be another process's. Its files have its
/// name: those of the others stay.
Experiment run_in_folder(const reproduce::Entry &entry, const ReproduceArguments &arguments) {
  const Interruptible interruptible;
  checkpoint::RunFolder folder(arguments.out);
  folder.begin("reproduce", own_arguments(), checkpoint::RunFolder::Earlier::kept);
  return folder.run([&] {
    Experiment result = entry.run(arguments.settings);
    folder.write(files_of(result));
    folder.end(result.interrupted ? checkpoint::RunState::interrupted : checkpoint::RunState::finished);
    return result;
  });
}

int reproduce_figures(const ReproduceArguments &arguments) {
  const auto names = experiment_names();
  if (std::find(names.begin(), names.end(), arguments.experiment) == names.end()) {
    throw InvalidInput(names::unknown_name("experiment", arguments.experiment, names));
  }
  validate(arguments.settings, "reproduce");
  bool everything_holds = true;
  Json all = Json::array();
  for (const auto &entry : reproduce::entries) {
    if (arguments.experiment != "all" && arguments.experiment != entry.name) {
      continue;
    }
    if (entry.needs_file && arguments.experiment == "all") {
      continue;
    }
    if (entry.needs_torch && arguments.experiment == "all") {
      everything_holds &= reproduce_with_torch(arguments, entry.name, all);
      continue;
    }
    if (isatty(STDERR_FILENO) == 1) {
      fmt::print(stderr, "{} ...\n", entry.name);
    }
    const Experiment result = run_in_folder(entry, arguments);
    if (arguments.as_json) {
      all.push_back(experiment::to_json(result));
    } else {
      experiment::print(result);
      const auto file = std::filesystem::path(arguments.out) / result.name;
      fmt::print("\nwritten: {0}.json, {0}.csv, {0}.svg\n\n", file.string());
    }
    everything_holds &= result.holds() && !result.interrupted;
    if (result.interrupted) {
      fmt::print(stderr, "interrupted: {} is incomplete\n", result.name);
      break;
    }
  }
  if (arguments.as_json) {
    fmt::print("{}\n", report::json_text(arguments.experiment == "all" ? all : all.front(), 2));
  }
  return everything_holds ? exit_success : exit_run_failed;
}

} // namespace

void add_reproduce(CLI::App &app, Action &chosen) {
  auto *command = app.add_subcommand("reproduce", reproduce_title);
  auto arguments = std::make_shared<ReproduceArguments>();
  arguments->settings.interrupt = &interrupt_requested();
  arguments->settings.tell = [](const std::string &text) { (void)std::fputs((text + "\n").c_str(), stderr); };
  std::string known = "One of:";
  for (const auto &entry : reproduce::entries) {
    known += fmt::format("\n{:<6} {}", entry.name, entry.title);
  }
  command
      ->add_option("EXPERIMENT", arguments->experiment,
                   known + "\nall    every one of them that needs no file of yours")
      ->required();
  command->add_option("--out", arguments->out, "Folder for NAME.json, NAME.csv and NAME.svg")->capture_default_str();
  command->add_flag("--json", arguments->as_json, "Print JSON");
  command->add_flag("--quick", arguments->settings.quick, "clean-anywhere: few rows of two tables, and no claims");
  add_field_options(*command, arguments->settings, "reproduce");
  command->footer("Exit 1 if a claim fails.");
  command->callback([arguments, &chosen] {
    chosen = [arguments] { return reproduce_figures(*arguments); };
    for (const auto &entry : reproduce::entries) {
      if (entry.needs_torch && arguments->experiment == entry.name) {
        chosen = needing_torch(chosen, arguments->experiment);
      }
    }
  });
}

} // namespace duplex::cli
