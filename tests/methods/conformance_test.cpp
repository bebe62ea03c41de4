// Every solver on every problem of the generated catalog.

#include "support.hpp"

#include <set>

namespace duplex::testing {
namespace {

/// Small steps and short inner loops, so that every pair can be run.
template <class S> S tame() {
  S solver = with_steps<S>(1e-3, 1e-2);
  if constexpr (requires { solver.inner; }) {
    solver.inner = 4;
  }
  return solver;
}

/// The concrete types that settings make, as a list of problems.
template <class Visit> void concrete(const CounterExampleSettings &s, const Visit &visit) {
  const Vec spectrum = log_spaced_spectrum<double>(s.n, s.condition, s.smallest);
  const Vec ones = Vec::Ones(s.n);
  CounterExampleSettings settings = s;
  settings.matrix = MatrixKind::identity;
  visit(settings, CounterExample(IdentityMatrix(s.n), ones, s.start));
  settings.matrix = MatrixKind::diagonal;
  visit(settings, CounterExample(DiagonalSpd<double>(spectrum), ones, s.start));
  settings.matrix = MatrixKind::dense;
  visit(settings, CounterExample(DenseSpd<double>::with_spectrum(spectrum, s.seed), ones, s.start));
}
template <class Visit> void concrete(const MultipleMinimizersSettings &s, const Visit &visit) {
  visit(s, MultipleMinimizers<double>(s.n, s.start));
}
template <class Settings, class Visit>
requires requires(const Settings &s) { s.template generate<double>(); }
void concrete(const Settings &s, const Visit &visit) { visit(s, s.template generate<double>()); }

/// Calls visit(solver, settings, problem) for every pair; each counts on the way.
template <class Visit> int each_pair(const Visit &visit) {
  int pairs = 0;
  AllSolvers::each([&]<class S>() {
    AllProblemSettings::each([&]<class Settings>() {
      concrete(Settings{}, [&](const auto &settings, const auto &problem) {
        SCOPED_TRACE(std::string(S::name) + " on " + std::string(Settings::name));
        visit(tame<S>(), settings, problem);
        ++pairs;
      });
    });
  });
  return pairs;
}

template <class Options> void expect_fields_describe_themselves(std::string_view owner, const Options &defaults) {
  std::set<std::string> names;
  Options::fields(defaults, [&](std::string_view name, const auto &value, const Bound &bound, std::string_view help,
                                Role = Role::none) {
    using T = std::remove_cvref_t<decltype(value)>;
    SCOPED_TRACE(std::string(owner) + " " + std::string(name));
    EXPECT_TRUE(names.emplace(name).second) << "twice";
    EXPECT_EQ(name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-"), std::string_view::npos);
    EXPECT_GE(help.size(), 5U);
    EXPECT_FALSE(accepted_text<T>(bound).empty());
    if constexpr (std::is_floating_point_v<T>) {
      EXPECT_EQ(std::stod(field_text(value)), value);
      EXPECT_TRUE(bound.holds(value));
    } else if constexpr (NamedEnum<T>) {
      EXPECT_CONTAINS(accepted_text<T>(bound), field_text(value));
    } else if constexpr (!std::is_same_v<T, std::string>) {
      EXPECT_FALSE(field_text(value).empty());
    }
  });
  EXPECT_GE(names.size(), 2U);
  EXPECT_EQ(refusal([&] { validate(defaults, owner); }), "");
}

template <class Options> std::set<std::string> field_names() {
  std::set<std::string> names;
  const Options defaults{};
  Options::fields(defaults, [&](std::string_view name, const auto &, const Bound &, std::string_view,
                                Role = Role::none) { names.emplace(name); });
  return names;
}

TEST(CatalogOf, EverythingHasNoOptionThatCouldMeanTwoThings) {
  const auto run = field_names<Options>();
  AllSolvers::each([&]<class S>() {
    AllProblemSettings::each([&]<class Settings>() {
      const auto of_problem = field_names<Settings>();
      for (const auto &name : field_names<S>()) {
        EXPECT_FALSE(of_problem.contains(name)) << S::name << " and " << Settings::name << ": " << name;
        EXPECT_FALSE(run.contains(name)) << S::name << " and the run: " << name;
      }
      for (const auto &name : of_problem) {
        EXPECT_FALSE(run.contains(name)) << Settings::name << " and the run: " << name;
      }
    });
  });
}

TEST(CatalogOf, SolversDescribesTheirOptions) {
  std::set<std::string> names;
  AllSolvers::each([&]<class S>() {
    EXPECT_TRUE(names.emplace(S::name).second);
    EXPECT_FALSE(S::title.empty());
    expect_fields_describe_themselves(S::name, S{});
  });
  for (const std::string known : {"automatic", "bagdc", "bda", "bome", "cg", "d-tfbo", "f2sa", "ma-soba", "meha",
                                  "nosa", "ns", "pbgd", "rhg", "s-tfbo", "saba", "sbagdc", "soba", "spaba", "srba"}) {
    EXPECT_TRUE(names.contains(known)) << known;
  }
}

TEST(CatalogOf, ProblemsDescribesTheirOptions) {
  std::set<std::string> names;
  AllProblemSettings::each([&]<class Settings>() {
    EXPECT_TRUE(names.emplace(Settings::name).second);
    EXPECT_FALSE(Settings::title.empty());
    expect_fields_describe_themselves(Settings::name, Settings{});
  });
  EXPECT_EQ(names, (std::set<std::string>{"counter-example", "hyper-cleaning", "logistic", "multiple-minimizers",
                                          "quadratic", "ridge", "softmax"}));
}

TEST(EveryPair, RunsTwentyStepsOrSaysWhyNot) {
  const int pairs = each_pair([](const auto &solver, const auto &settings, const auto &problem) {
    auto state = problem.start();
    const auto start = state;
    const auto summary = run_steps(problem, solver, state, 20);
    if (solver.name == "cg" && settings.name == "multiple-minimizers") { // the Hessian is singular
      EXPECT_EQ(summary.termination, Termination::step_failed);
      EXPECT_CONTAINS(summary.message, "singular");
    } else {
      if (solver.traits().chooses_its_steps()) { // it may have arrived
        EXPECT_TRUE(summary.converged() || summary.iterations == 20) << summary.brief();
      } else {
        EXPECT_EQ(summary.termination, Termination::max_iterations) << summary.brief();
        EXPECT_EQ(summary.iterations, 20);
      }
      auto upper = problem.upper();
      upper.at(start.x, start.y);
      Vec slope = Vec::Zero(start.x.size());
      upper.grad_x(slope);
      const bool may_stay = solver.name == Bome::name && slope.norm() == 0.0; // while descent on F serves y too
      EXPECT_TRUE(may_stay || !same_bits(state.x, start.x));
      EXPECT_TRUE(all_finite(state.x) && all_finite(state.y) && all_finite(state.v));
    }
    EXPECT_EQ(summary.solver, solver.name);
    EXPECT_EQ(summary.brief().find('\n'), std::string::npos);
  });
  int solvers = 0;
  AllSolvers::each([&]<class S>() { ++solvers; });
  EXPECT_EQ(pairs, 9 * solvers);
}

TEST(EveryPair, GivesTheSameBitsTwice) {
  (void)each_pair([](const auto &solver, const auto &settings, const auto & /*problem*/) {
    const auto first_problem = settings.template make<double>(); // made twice: the seed fixes the data
    const auto second_problem = settings.template make<double>();
    auto first = first_problem.start();
    auto second = second_problem.start();
    const auto one = run_steps(first_problem, solver, first, 20);
    const auto two = run_steps(second_problem, solver, second, 20);
    EXPECT_TRUE(same_bits(first, second));
    EXPECT_EQ(one.direction_norm, two.direction_norm);
    EXPECT_EQ(one.counters, two.counters);
  });
}

TEST(EveryPair, GivesTheSameBitsWithItsTypeForgotten) {
  (void)each_pair([](const auto &solver, const auto &settings, const auto &problem) {
    const AnyProblem<Vec> forgotten = settings.template make<double>();
    EXPECT_EQ(forgotten.x_size(), problem.x_size());
    EXPECT_EQ(forgotten.y_size(), problem.y_size());
    EXPECT_EQ(forgotten.offers_aggregation(), offers_aggregation(problem));
    auto typed_state = problem.start();
    auto any_state = forgotten.start();
    EXPECT_TRUE(same_bits(typed_state, any_state));
    const auto typed = run_steps(problem, solver, typed_state, 20);
    const auto any = run_steps(forgotten, solver, any_state, 20);
    EXPECT_TRUE(same_bits(typed_state, any_state));
    EXPECT_EQ(typed.termination, any.termination);
    EXPECT_EQ(typed.counters, any.counters);
  });
}

TEST(EveryProblem, KeepsItsAnswerAndClosedFormWithItsTypeForgotten) {
  AllProblemSettings::each([]<class Settings>() {
    concrete(Settings{}, [](const auto &settings, const auto &problem) {
      SCOPED_TRACE(Settings::name);
      const AnyProblem<Vec> forgotten = settings.template make<double>();
      using P = std::remove_cvref_t<decltype(problem)>;
      if constexpr (AnsweredProblem<P>) {
        const auto typed = problem.answer();
        const auto any = forgotten.answer();
        ASSERT_TRUE(typed && any);
        EXPECT_TRUE(same_bits(typed->x, any->x) && same_bits(typed->y, any->y) && same_bits(typed->v, any->v));
        EXPECT_EQ(typed->value, any->value);
        Vec y(problem.y_size());
        Vec v(problem.y_size());
        EXPECT_EQ(forgotten.respond(typed->x, y, v), ClosedFormLower<P>);
        if constexpr (ClosedFormLower<P>) {
          EXPECT_LE(relative_error(y, typed->y), 1e-10);
          EXPECT_LE(relative_error(v, typed->v), 1e-10);
        }
      } else {
        EXPECT_FALSE(forgotten.answer());
      }
    });
  });
}

} // namespace
} // namespace duplex::testing
