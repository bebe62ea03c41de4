#include "python/told.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace duplex::python {

namespace {

/// A value of an option as text; a float stays a number.
bool set_any(const std::string &name, const py::handle &value, const auto &set) {
  if (PyFloat_Check(value.ptr())) {
    return set(name, value.cast<double>());
  }
  if (PyBool_Check(value.ptr())) {
    return set(name, std::string(value.ptr() == Py_True ? "true" : "false"));
  }
  return set(name, py::str(value).cast<std::string>());
}

/// A number of NumPy and the like as one of Python's.
py::object plain(const py::handle &value) {
  return py::hasattr(value, "item") && py::hasattr(value, "dtype") ? value.attr("item")()
                                                                   : py::reinterpret_borrow<py::object>(value);
}

void add_names(const std::vector<catalog::OptionInfo> &options, std::vector<std::string> &names) {
  for (const auto &info : options) {
    names.push_back(in_python(info.name));
  }
}

/// Sets one option; `others` are further names that are known where it is given.
void set_one(catalog::Configurable &taker, const std::string &shown, const py::handle &value,
             std::vector<std::string> others) {
  const std::string name = in_catalog(shown);
  if (taker.is_pinned(name)) {
    throw InvalidInput(fmt::format("{}: {} is given twice: here and within its name", taker.name(), shown));
  }
  if (!set_any(name, plain(value), [&](const auto &option, const auto &to) { return taker.set(option, to); })) {
    add_names(taker.options(), others);
    throw InvalidInput(fmt::format("{}: {}", taker.name(), names::unknown_name("option", shown, others)));
  }
}

py::list described(const std::vector<catalog::OptionInfo> &options) {
  py::list out;
  for (const auto &info : options) {
    py::dict option;
    option["name"] = in_python(info.name);
    option["default"] = info.value;
    option["accepts"] = info.accepted;
    option["help"] = info.help;
    out.append(option);
  }
  return out;
}

py::dict described(const catalog::Configurable &entry) {
  py::dict out;
  out["name"] = std::string(entry.name());
  out["title"] = std::string(entry.title());
  out["options"] = described(entry.options());
  return out;
}

} // namespace

std::string in_python(std::string name) {
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

std::string in_catalog(std::string name) {
  std::replace(name.begin(), name.end(), '_', '-');
  return name;
}

void set_options(const py::dict &options, catalog::ConfiguredSolver &solver, Options &run,
                 const std::vector<std::string> &others) {
  std::vector<std::string> known = others;
  add_names(catalog::describe(run), known);
  for (const auto &[key, given] : options) {
    const auto name = in_catalog(key.cast<std::string>());
    const auto value = plain(given);
    if (!set_any(name, value,
                 [&](const auto &option, const auto &to) { return catalog::set_option(run, "run", option, to); })) {
      set_one(solver, key.cast<std::string>(), value, known);
    }
  }
  solver.validate();
  (void)solver.traits(); // which refuses options that contradict one another
  validate(run, "run");
}

std::unique_ptr<catalog::ConfiguredProblem> problem_with(const std::string &spec, const py::dict &options) {
  auto problem = catalog::make_problem(spec);
  for (const auto &[key, value] : options) {
    set_one(*problem, key.cast<std::string>(), value, {});
  }
  problem->validate();
  return problem;
}

py::list described_methods() {
  py::list out;
  for (const auto &name : catalog::solver_names()) {
    out.append(described(*catalog::make_solver(name)));
  }
  return out;
}

py::list described_problems() {
  py::list out;
  for (const auto &name : catalog::problem_names()) {
    out.append(described(*catalog::make_problem(name)));
  }
  return out;
}

py::list options_of_method(const std::string &spec) { return described(catalog::make_solver(spec)->options()); }

py::list described_run() { return described(catalog::describe(catalog::run_of_the_tool())); }

} // namespace duplex::python
