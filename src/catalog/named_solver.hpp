#pragma once
// A solver by its name, as the type that it is: for problems on a backend that the catalog does not run itself.

#include "catalog/options.hpp"
#include "names/spec.hpp"

#include <duplex/catalog.hpp>

namespace duplex::catalog {

template <class List> [[nodiscard]] std::vector<std::string> names_in() {
  std::vector<std::string> names;
  List::each([&]<class T>() { names.emplace_back(T::name); });
  return names;
}

[[noreturn]] inline void refuse_option(std::string_view owner, std::string_view option,
                                       const std::vector<OptionInfo> &options) {
  std::vector<std::string> known;
  for (const auto &info : options) {
    known.push_back(info.name);
  }
  throw InvalidInput(std::string(owner) + ": " + names::unknown_name("option", option, known));
}

/// Calls visit(solver) with the solver that the spec names. Its options are the defaults given, as far as it has such
/// options, and then those of the spec. Throws InvalidInput as make_solver() does.
template <class Visit> void with_solver(const names::Spec &spec, const names::OptionDefaults &defaults, Visit &&visit) {
  bool found = false;
  AllSolvers::each([&]<class S>() {
    if (S::name == spec.name) {
      found = true;
      S solver;
      for (const auto &[key, value] : defaults) {
        const std::string_view option = key;
        std::visit([&](const auto &given) { (void)set_option(solver, S::name, option, given); }, value);
      }
      for (const auto &[key, value] : spec.settings) {
        if (!set_option(solver, S::name, key, value)) {
          refuse_option(S::name, key, describe(solver));
        }
      }
      validate(solver, S::name);
      (void)solver.traits(); // which refuses options that contradict one another
      visit(solver);
    }
  });
  if (!found) {
    throw InvalidInput(names::unknown_name("solver", spec.name, names_in<AllSolvers>()));
  }
}

} // namespace duplex::catalog
