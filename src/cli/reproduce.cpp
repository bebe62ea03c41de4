#include "reproduce/reproduce.hpp"

#include "cli/command.hpp"
#include "cli/field_options.hpp"
#include "cli/interrupt.hpp"
#include "cli/torch/tool.hpp"
#include "report/files.hpp"

#include <fmt/format.h>

#include <unistd.h>

#include <cstdio>

namespace duplex::cli {

namespace {

using experiment::Experiment;
using experiment::Json;

struct ReproduceArguments {
  std::string experiment;
  std::string out = "out";
  reproduce::Settings settings;
  bool show = false;
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

int reproduce_figures(const ReproduceArguments &arguments) {
  const auto names = experiment_names();
  if (std::find(names.begin(), names.end(), arguments.experiment) == names.end()) {
    throw InvalidInput(catalog::unknown_name("experiment", arguments.experiment, names));
  }
  validate(arguments.settings, "reproduce");
  report::require_writable_folder(arguments.out);
  bool everything_holds = true;
  Json all = Json::array();
  for (const auto &entry : reproduce::entries) {
    if (arguments.experiment != "all" && arguments.experiment != entry.name) {
      continue;
    }
    if (entry.needs_torch && !torch_is_there()) { // of "all"
      fmt::print(stderr, "{} is left out: it needs LibTorch, and this Duplex was built without it\n", entry.name);
      continue;
    }
    if (isatty(STDERR_FILENO) == 1) {
      fmt::print(stderr, "{} ...\n", entry.name);
    }
    const Experiment result = entry.run(arguments.settings);
    write(result, arguments.out);
    if (arguments.as_json) {
      all.push_back(experiment::to_json(result));
    } else {
      if (arguments.show && !result.figure.panels.empty()) {
        fmt::print("{}\n", report::to_terminal(result.figure.panels.front()));
      }
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
    fmt::print("{}\n", (arguments.experiment == "all" ? all : all.front()).dump(2));
  }
  return everything_holds ? exit_success : exit_run_failed;
}

} // namespace

void add_reproduce(CLI::App &app, Action &chosen) {
  auto *command = app.add_subcommand("reproduce", "Reproduce the paper's figures and theorems, with their claims");
  auto arguments = std::make_shared<ReproduceArguments>();
  arguments->settings.interrupt = &interrupt_requested();
  arguments->settings.tell = [](const std::string &text) { (void)std::fputs((text + "\n").c_str(), stderr); };
  std::string known = "One of:";
  for (const auto &entry : reproduce::entries) {
    known += fmt::format("\n{:<6} {}", entry.name, entry.title);
  }
  command->add_option("EXPERIMENT", arguments->experiment, known + "\nall    every one of them")->required();
  command->add_option("--out", arguments->out, "Folder for NAME.json, NAME.csv and NAME.svg")->capture_default_str();
  command->add_flag("--show", arguments->show, "Draw the first panel in the terminal too");
  command->add_flag("--json", arguments->as_json, "Print JSON");
  add_field_options(*command, arguments->settings, "reproduce");
  command->footer("Exit 1 if a claim fails.");
  command->callback([arguments, &chosen] {
    chosen = [arguments] { return reproduce_figures(*arguments); };
    const bool all = arguments->experiment == "all" && torch_is_there();
    for (const auto &entry : reproduce::entries) {
      if (entry.needs_torch && (all || arguments->experiment == entry.name)) {
        chosen = needing_torch(chosen, arguments->experiment);
        break;
      }
    }
  });
}

} // namespace duplex::cli
