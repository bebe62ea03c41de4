#include "catalog/catalog.hpp"

#include "catalog/held_problem.hpp"
#include "catalog/named_solver.hpp"

namespace duplex::catalog {

/// Of each method in a file of its own, which CMake generates (held_solver.hpp).
template <class S> std::unique_ptr<ConfiguredSolver> hold();

namespace {

/// held.operator()<T>() makes the one of the list that the text names.
template <class Base, class List, class Hold>
std::unique_ptr<Base> make(std::string_view kind, std::string_view text, const Hold &held) {
  const names::Spec spec = names::parse_spec(text);
  std::unique_ptr<Base> made;
  List::each([&]<class T>() {
    if (T::name == spec.name) {
      made = held.template operator()<T>();
    }
  });
  if (!made) {
    throw InvalidInput(names::unknown_name(kind, spec.name, names_in<List>()));
  }
  for (const auto &[key, value] : spec.settings) {
    if (!made->set(key, value)) {
      refuse_option(made->name(), key, made->options());
    }
    made->pin(key);
  }
  return made;
}

} // namespace

std::vector<std::string> solver_names() { return names_in<AllSolvers>(); }
std::vector<std::string> problem_names() { return names_in<AllProblemSettings>(); }

std::unique_ptr<ConfiguredSolver> make_solver(std::string_view spec) {
  return make<ConfiguredSolver, AllSolvers>("solver", spec, []<class S>() { return hold<S>(); });
}

std::unique_ptr<ConfiguredProblem> make_problem(std::string_view spec) {
  const auto held = []<class Settings>() { return std::make_unique<ProblemHolder<Settings>>(); };
  return make<ConfiguredProblem, AllProblemSettings>("problem", spec, held);
}

std::uint64_t seed_of(const Configurable &problem) {
  std::uint64_t seed = 0;
  for (const auto &info : problem.options()) {
    if (info.name == "seed") {
      (void)read_field(info.value, seed);
    }
  }
  return seed;
}

} // namespace duplex::catalog
