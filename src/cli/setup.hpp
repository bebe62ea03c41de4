#pragma once
// What `solve`, `race` and `check` share: a problem, solvers and run options from
// the command line. Options that the parser does not know by itself belong to the
// problem, to the solvers or to the run, and are found by name.

#include "catalog/catalog.hpp"
#include "checkpoint/run_folder.hpp"
#include "experiment/experiment.hpp"

#include <duplex/solve.hpp>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace duplex::cli {

struct Setup {
  std::unique_ptr<catalog::ConfiguredProblem> problem;
  std::vector<std::unique_ptr<catalog::ConfiguredSolver>> solvers;
  Options run;
  bool overrides_names = false; ///< options also replace what was given within a name: of a run that goes on
  std::vector<std::string> command_options = {}; ///< the command's own, to suggest them where a name is misspelt
};

/// Applies `--name value`, `--name=value` and `--switch` to everything that has an
/// option of that name. Throws InvalidInput, with the nearest known name, where
/// nothing has; then validates everything.
void apply_options(Setup &setup, const std::vector<std::string> &arguments);

/// The solver's spec with `--name value` arguments added to it. Throws InvalidInput where a value is wrong and,
/// with the nearest of the solver's options and of `others`, where the solver has no such option.
[[nodiscard]] std::string solver_spec(const std::string &spec, const std::vector<std::string> &arguments,
                                      const std::vector<std::string> &others);

/// Throws InvalidInput, with the nearest known name, where there is no such metric.
void require_metric(const std::string &option, const std::string &metric);

/// "metric=value" as a target. Throws InvalidInput where it is not that.
[[nodiscard]] Target parse_target(const std::string &text);

/// Tells the folder, where there is one, which files the run reads. Throws InvalidInput where the run would write its
/// trace over one of them, or where it goes on and had not read one before.
void add_inputs(const std::vector<std::string> &files, checkpoint::RunFolder *folder,
                const std::filesystem::path &trace = {});

/// The options of a solver or a problem as they stand.
[[nodiscard]] experiment::Json options_json(const catalog::Configurable &configured);

/// Says on standard error what is to be known of how the problem's files were read.
void tell_remarks(const catalog::ConfiguredProblem &problem);

/// Splits at commas; empty parts are refused with the option's name.
[[nodiscard]] std::vector<std::string> split_list(const std::string &option, const std::string &text);

} // namespace duplex::cli
