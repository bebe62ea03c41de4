#include "catalog/catalog.hpp"

#include "catalog/named_solver.hpp"

#include <duplex/problem/bounded.hpp>

namespace duplex::catalog {

/// Of each method in a file of its own, which CMake generates (held_solver.hpp).
template <class S> std::unique_ptr<ConfiguredSolver> hold();

namespace {

/// What x of any problem is kept within.
struct UpperBounds {
  double lower = -infinity;
  double upper = infinity;

  template <class Self, class Visit> static void fields(Self &self, Visit &&visit) {
    visit("x-lower", self.lower, Bound{.high_open = true}, "what each entry of x is at least (-inf: no bound)");
    visit("x-upper", self.upper, Bound{.low_open = true}, "what each entry of x is at most (inf: no bound)");
  }
};

template <class Settings> class ProblemHolder final : public ConfiguredProblem {
public:
  [[nodiscard]] std::string_view name() const override { return Settings::name; }
  [[nodiscard]] std::string_view title() const override { return Settings::title; }
  [[nodiscard]] std::vector<OptionInfo> options() const override {
    auto all = describe(settings_);
    const auto more = describe(bounds_);
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }
  bool set(std::string_view option, std::string_view value) override { return set_any(option, value); }
  bool set(std::string_view option, double value) override { return set_any(option, value); }
  void validate() const override {
    duplex::validate(settings_, Settings::name);
    duplex::validate(bounds_, Settings::name);
    if (bounds_.lower > bounds_.upper) {
      throw InvalidInput(std::string(Settings::name) + ": x-lower = " + number_text(bounds_.lower) +
                         " and x-upper = " + number_text(bounds_.upper) + ", expected x-lower <= x-upper");
    }
  }
  [[nodiscard]] std::vector<std::string> input_files() const override {
    if constexpr (requires { settings_.input_files(); }) {
      return settings_.input_files();
    } else {
      return {};
    }
  }
  [[nodiscard]] Problem make() const override {
    validate();
    Problem problem = settings_.template make<double>();
    const bool has_bounds = std::isfinite(bounds_.lower) || std::isfinite(bounds_.upper);
    return has_bounds ? Problem(bounded(std::move(problem), bounds_.lower, bounds_.upper)) : problem;
  }

private:
  template <class Value> bool set_any(std::string_view option, Value value) {
    return set_option(settings_, Settings::name, option, value) || set_option(bounds_, Settings::name, option, value);
  }

  Settings settings_;
  UpperBounds bounds_;
};

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

} // namespace duplex::catalog
