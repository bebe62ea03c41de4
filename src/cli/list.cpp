#include "catalog/catalog.hpp"
#include "cli/command.hpp"
#include "cli/setup.hpp"
#include "report/json_file.hpp"
#include "report/table.hpp"

#include <duplex/run/metrics.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <memory>

namespace duplex::cli {

namespace {

nlohmann::ordered_json option_list_json(const std::vector<catalog::OptionInfo> &options) {
  auto json = nlohmann::ordered_json::array();
  for (const auto &info : options) {
    json.push_back({{"name", info.name}, {"default", info.value}, {"accepts", info.accepted}, {"help", info.help}});
  }
  return json;
}

void print_options(const std::vector<catalog::OptionInfo> &options) {
  for (const auto &info : options) {
    fmt::print("    --{:<20} {} [{}; {}]\n", info.name, info.help, info.value.empty() ? "none" : info.value,
               info.accepted);
  }
}

int list(const std::string &what, bool as_json) {
  std::vector<std::pair<std::string, std::unique_ptr<catalog::Configurable>>> entries;
  for (const auto &name : catalog::problem_names()) {
    entries.emplace_back("problem", catalog::make_problem(name));
  }
  for (const auto &name : catalog::solver_names()) {
    entries.emplace_back("solver", catalog::make_solver(name));
  }
  std::vector<std::string> known;
  for (const auto &[kind, entry] : entries) {
    known.emplace_back(entry->name());
  }
  if (!what.empty() && std::find(known.begin(), known.end(), what) == known.end()) {
    throw InvalidInput(names::unknown_name("problem or solver", what, known));
  }
  nlohmann::ordered_json json{{"problems", nlohmann::ordered_json::array()},
                              {"solvers", nlohmann::ordered_json::array()}};
  for (const auto &[kind, entry] : entries) {
    if (!what.empty() && entry->name() != what) {
      continue;
    }
    if (as_json) {
      json[kind + "s"].push_back(
          {{"name", entry->name()}, {"title", entry->title()}, {"options", option_list_json(entry->options())}});
    } else {
      fmt::print("{} {}\n  {}\n", kind, entry->name(), entry->title());
      print_options(entry->options());
      fmt::print("\n");
    }
  }
  if (as_json) {
    json["run"] = option_list_json(catalog::describe(catalog::run_of_the_tool()));
    json["metrics"] = metric_names;
    fmt::print("{}\n", report::json_text(json, 2));
  } else if (what.empty()) {
    fmt::print("every run\n");
    print_options(catalog::describe(catalog::run_of_the_tool()));
    fmt::print("\nmetrics: {}\n", fmt::join(metric_names, ", "));
  }
  return exit_success;
}

} // namespace

void add_list(CLI::App &app, Action &chosen) {
  auto *command = app.add_subcommand("list", "Show problems, solvers, their options and defaults");
  auto what = std::make_shared<std::string>();
  auto as_json = std::make_shared<bool>(false);
  command->add_option("NAME", *what, "Show this problem or solver only");
  command->add_flag("--json", *as_json, "Print JSON");
  command->callback([what, as_json, &chosen] { chosen = [what, as_json] { return list(*what, *as_json); }; });
}

} // namespace duplex::cli
