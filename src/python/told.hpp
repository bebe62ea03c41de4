#pragma once
// Options by name as Python gives them: to the method, the problem or the run that has one of that name.

#include "catalog/catalog.hpp"
#include "python/lock.hpp"

#include <memory>
#include <string>
#include <vector>

namespace duplex::python {

/// In Python options have underscores in the place of dashes.
[[nodiscard]] std::string in_python(std::string name);
[[nodiscard]] std::string in_catalog(std::string name);

/// Sets every option of the dict on the method or on the run. Throws InvalidInput, with the nearest known name, where
/// neither has it; `others` are further names that the caller knows.
void set_options(const py::dict &options, catalog::ConfiguredSolver &solver, Options &run,
                 const std::vector<std::string> &others);

/// A problem by "name" or "name:option=value:…", with the options of the dict.
[[nodiscard]] std::unique_ptr<catalog::ConfiguredProblem> problem_with(const std::string &spec,
                                                                       const py::dict &options);

/// name, title and options of each.
[[nodiscard]] py::list described_methods();
[[nodiscard]] py::list described_problems();
[[nodiscard]] py::list described_run();
/// By "name" or "name:option=value:…".
[[nodiscard]] py::list options_of_method(const std::string &spec);

} // namespace duplex::python
