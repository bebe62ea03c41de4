#include "cli/command.hpp"
#include "cli/field_options.hpp"
#include "cli/setup.hpp"
#include "report/json_file.hpp"

#include <duplex/measure/check.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cmath>

namespace duplex::cli {

namespace {

struct CheckArguments {
  std::string problem;
  CheckOptions options;
  bool as_json = false;
};

int check_problem(const CheckArguments &arguments, const std::vector<std::string> &more,
                  const std::vector<std::string> &command_options) {
  Setup setup;
  setup.problem = catalog::make_problem(arguments.problem);
  setup.command_options = command_options;
  apply_options(setup, more);
  const auto problem = setup.problem->make();
  tell_remarks(*setup.problem);
  const CheckReport report = check(problem, arguments.options);
  if (arguments.as_json) {
    nlohmann::ordered_json rows = nlohmann::ordered_json::array();
    for (const auto &row : report.rows) {
      rows.push_back({{"derivative", row.quantity},
                      {"error", row.unchecked.empty() && std::isfinite(row.error) ? nlohmann::json(row.error)
                                                                                  : nlohmann::json(nullptr)},
                      {"note", row.note},
                      {"unchecked", row.unchecked},
                      {"passes", row.passes}});
    }
    const nlohmann::ordered_json json{{"problem", arguments.problem},
                                      {"tolerance", report.tolerance},
                                      {"passes", report.passes()},
                                      {"derivatives", rows}};
    fmt::print("{}\n", report::json_text(json, 2));
  } else {
    fmt::print("{}\n{}{}\n", arguments.problem, report.table(),
               report.passes()     ? "all derivatives agree with finite differences"
               : report.is_wrong() ? "some derivatives are WRONG: a solver would go astray in silence"
                                   : "nothing is wrong that could be checked, and not everything could be");
  }
  return report.passes() ? exit_success : exit_run_failed;
}

} // namespace

void add_check(CLI::App &app, Action &chosen) {
  auto *command = app.add_subcommand(
      "check", "Verify every derivative and the hypergradient of a problem against finite differences");
  auto arguments = std::make_shared<CheckArguments>();
  command->add_option("--problem", arguments->problem, "Problem, as NAME or NAME:option=value:...")->required();
  auto &options = arguments->options;
  add_number(*command, "--points", options.points, Bound{.low = 1, .high = 1000}, "Random points to check at");
  add_number(*command, "--spread", options.spread, finite_positive,
             "How far those lie around the start, in units of its entries, at most 1");
  add_number(*command, "--tolerance", options.tolerance, finite_non_negative,
             "Relative error of an entry that is allowed besides the error of differences (0: 1e-6)");
  add_number(*command, "--check-seed", options.seed, non_negative, "Seed of the random points");
  command->add_flag("--json", arguments->as_json, "Print JSON");
  command->allow_extras();
  command->footer("Any option of the problem may follow, such as --n 50; `duplex list NAME` shows them.");
  command->callback([command, arguments, &chosen] {
    chosen = [command, arguments] { return check_problem(*arguments, command->remaining(), option_names(*command)); };
  });
}

} // namespace duplex::cli
