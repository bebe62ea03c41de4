#pragma once
// One command, one file. A command adds itself to the parser and, when it was
// chosen, runs and returns the exit code:
//   0 success, 1 the run failed or stopped short of its target, 2 wrong usage or input.

#include <CLI/CLI.hpp>

#include <functional>
#include <string>
#include <vector>

namespace duplex::cli {

inline constexpr int exit_success = 0;
inline constexpr int exit_run_failed = 1;
inline constexpr int exit_wrong_input = 2;

/// Set by the parser to what the chosen command does.
using Action = std::function<int()>;

/// Without their dashes.
[[nodiscard]] inline std::vector<std::string> option_names(const CLI::App &command) {
  std::vector<std::string> names;
  for (const auto *option : command.get_options()) {
    names.push_back(option->get_single_name());
  }
  return names;
}

void add_list(CLI::App &app, Action &chosen);
void add_solve(CLI::App &app, Action &chosen);
void add_race(CLI::App &app, Action &chosen);
void add_check(CLI::App &app, Action &chosen);
/// In two forms (siblings.hpp), with one title.
inline constexpr const char *reproduce_title = "Reproduce the paper's figures and theorems, with their claims";
void add_reproduce(CLI::App &app, Action &chosen);
void add_clean(CLI::App &app, Action &chosen);
void add_predict(CLI::App &app, Action &chosen);
void add_few_shot(CLI::App &app, Action &chosen);

} // namespace duplex::cli
