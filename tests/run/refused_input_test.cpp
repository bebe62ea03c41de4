// What the caller got wrong is said before any work: which field, what was found,
// what was expected.

#include "support.hpp"

#include <limits>

namespace duplex::testing {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

CounterExample<double, IdentityMatrix> small_problem() { return {IdentityMatrix(3), Vec::Ones(3)}; }

/// Sets a numeric field by name; false if there is none of that name.
template <class Options> bool set_field(Options &options, std::string_view name, double value) {
  bool found = false;
  Options::fields(options, [&](std::string_view field, auto &slot, const Bound &, std::string_view, Role = Role::none) {
    using T = std::remove_cvref_t<decltype(slot)>;
    if constexpr (std::is_arithmetic_v<T>) {
      if (field == name) {
        slot = static_cast<T>(value);
        found = true;
      }
    }
  });
  return found;
}

template <class S> std::string refusal_of(const S &solver) {
  return refusal([&] {
    const auto problem = small_problem();
    auto state = problem.start();
    (void)run_steps(problem, solver, state, 1);
  });
}

class RefusedStep : public ::testing::TestWithParam<double> {};

TEST_P(RefusedStep, NamesSolverFieldValueAndBound) {
  AllSolvers::each([]<class S>() {
    for (const auto *field : {"alpha", "beta", "eta"}) {
      S solver = with_steps<S>();
      const bool zero_is_none = std::same_as<S, Bagdc> && std::string_view(field) != "eta"; // a step that is not given
      if (solver.traits().chooses_its_steps() || (zero_is_none && GetParam() == 0.0)) {
        continue;
      }
      if (set_field(solver, field, GetParam())) {
        EXPECT_EQ(refusal_of(solver), std::string(S::name) + ": " + field + " = " + number_text(GetParam()) +
                                          ", expected " + (zero_is_none ? ">=" : ">") + " 0 and finite");
      } else {
        EXPECT_STREQ(field, "eta") << S::name; // every solver has alpha and beta
      }
    }
  });
}

INSTANTIATE_TEST_SUITE_P(StepSizes, RefusedStep, ::testing::Values(-0.1, 0.0, nan, infinity));

TEST(SolverOptions, OfBagdcWithoutStepsAreRefusedWithTheMethodThatNeedsNone) {
  const std::string rest =
      " not given, expected alpha (the step of x) and beta (that of y), both > 0, and eta (that of "
      "v) where dual = constant; the method automatic needs no steps";
  EXPECT_EQ(refusal_of(Bagdc{}), "bagdc: alpha and beta are" + rest);
  EXPECT_EQ(refusal_of(Bagdc{.dual = DualStep::relaxed, .mixing = 3}), "bagdc: alpha and beta are" + rest);
  EXPECT_EQ(refusal_of(Bagdc{.beta = 0.1}), "bagdc: alpha is" + rest);
  EXPECT_EQ(refusal_of(Bagdc{.alpha = 0.1}), "bagdc: beta is" + rest);
  EXPECT_EQ(refusal_of(Bagdc{.alpha = 0.1, .beta = 0.1}), "");
}

TEST(SolverOptions, RefusesNanInEveryNumericField) {
  const auto try_all = []<class Options>(std::string_view owner, const Options &defaults, const auto &refuse) {
    Options::fields(defaults, [&](std::string_view field, const auto &value, const Bound &bound, std::string_view,
                                  Role = Role::none) {
      if constexpr (std::is_floating_point_v<std::remove_cvref_t<decltype(value)>>) {
        Options options = defaults;
        set_field(options, field, nan);
        EXPECT_EQ(refuse(options), std::string(owner) + ": " + std::string(field) + " = nan, expected " + bound.text());
      }
    });
  };
  AllSolvers::each([&]<class S>() { try_all(S::name, with_steps<S>(), refusal_of<S>); });
  try_all("options", Options{}, [](const Options &options) {
    return refusal([&] {
      const auto problem = small_problem();
      auto state = problem.start();
      (void)solve(problem, Nosa{}, state, options);
    });
  });
}

TEST(SolverOptions, RefusesWholeNumbersBelowTheirBound) {
  EXPECT_EQ(refusal_of(Rhg{.inner = 0}), "rhg: inner = 0, expected a whole number >= 1");
  EXPECT_EQ(refusal_of(Rhg{.kept = -1}), "rhg: kept = -1, expected a whole number >= 0");
  EXPECT_EQ(refusal_of(Neumann{.terms = 0}), "ns: terms = 0, expected a whole number >= 1");
  EXPECT_EQ(refusal_of(Cg{.linear_steps = 0}), "cg: linear-steps = 0, expected a whole number >= 1");
}

TEST(SolverOptions, RefusesWhatWouldBeIgnored) {
  EXPECT_EQ(refusal_of(Bagdc{.alpha = 0.1, .beta = 0.2, .lambda = 2.0}),
            "bagdc: lambda = 2 would be ignored, expected mu > 0 beside it");
  EXPECT_EQ(refusal_of(Bagdc{.alpha = 0.1, .beta = 0.2, .mu_decay = 0.5}),
            "bagdc: mu-decay = 0.5 would be ignored, expected mu > 0 beside it");
  EXPECT_EQ(refusal_of(Nosa{.upper = {.momentum = 0.5}}),
            "nosa: momentum = 0.5 would be ignored, expected upper = momentum beside it");
  for (const auto &rule :
       {UpperRule{.adam_beta1 = 0.5}, UpperRule{.adam_beta2 = 0.5}, UpperRule{.adam_epsilon = 0.5}}) {
    EXPECT_CONTAINS(refusal_of(Rhg{.upper = rule}), " = 0.5 would be ignored, expected upper = adam beside it");
  }
}

TEST(SolverOptions, RefusesWeightsOutsideTheirInterval) {
  EXPECT_EQ(refusal_of(Bagdc{.alpha = 0.1, .beta = 0.2, .mu = 1.0}), "bagdc: mu = 1, expected >= 0 and < 1");
  EXPECT_EQ(refusal_of(Bagdc{.alpha = 0.1, .beta = 0.2, .relaxation = 2.0}),
            "bagdc: relaxation = 2, expected > 0 and < 2");
  EXPECT_EQ(refusal_of(Bda{.aggregation = 0.0}), "bda: aggregation = 0, expected > 0 and < 1");
  EXPECT_EQ(refusal_of(Nosa{.upper = {.momentum = 1.0}}), "nosa: momentum = 1, expected >= 0 and < 1");
}

TEST(SolverOptions, RefusesTheoremScheduleWithoutMuOrWithALineSearch) {
  EXPECT_CONTAINS(refusal_of(Bagdc{.alpha = 0.1, .beta = 0.2, .schedule = Schedule::theorem}),
                  "schedule = theorem with mu = 0, expected mu > 0");
  EXPECT_CONTAINS(refusal_of(Bagdc{.alpha = 0.1, .beta = 0.2, .mu = 0.5, .schedule = Schedule::theorem}),
                  "dual = adaptive, expected dual = constant");
  EXPECT_EQ(refusal_of(
                Bagdc{.alpha = 0.1, .beta = 0.2, .dual = DualStep::constant, .mu = 0.5, .schedule = Schedule::theorem}),
            "");
}

TEST(RunOptions, RefusesZeroIterationsAndNegativeTolerance) {
  const auto refused = [](const Options &options) {
    return refusal([&] {
      const auto problem = small_problem();
      auto state = problem.start();
      (void)solve(problem, Nosa{}, state, options);
    });
  };
  EXPECT_EQ(refused({.max_iterations = 0}), "options: iterations = 0, expected a whole number >= 1");
  EXPECT_EQ(refused({.max_seconds = 0.0}), "options: seconds = 0, expected > 0");
  EXPECT_EQ(refused({.direction_tolerance = -1e-9}), "options: direction-tolerance = -1e-09, expected >= 0 and finite");
  EXPECT_EQ(refused({.kkt_tolerance = infinity}), "options: kkt-tolerance = inf, expected >= 0 and finite");
  EXPECT_EQ(refused({.divergence_factor = 1.0}), "options: divergence-factor = 1, expected > 1");
}

TEST(Start, RefusesSizesThatDoNotFit) {
  const auto problem = bent(); // two upper, three lower variables
  const auto refused = [&](State<Vec> state) { return refusal([&] { (void)run_steps(problem, Nosa{}, state, 1); }); };
  EXPECT_EQ(refused({Vec::Ones(3), Vec::Ones(3), Vec::Ones(3)}), "start: x has 3 entries, the problem expects 2");
  EXPECT_EQ(refused({Vec::Ones(2), Vec::Ones(2), {}}), "start: y has 2 entries, the problem expects 3");
  EXPECT_EQ(refused({Vec::Ones(2), Vec::Ones(3), Vec::Ones(2)}), "start: v has 2 entries, the problem expects 3");
  EXPECT_EQ(refused({{}, {}, {}}), "start: x has 0 entries, the problem expects 2");
}

TEST(Start, RefusesNanAndInfinityAndLeavesTheStateAlone) {
  const auto problem = bent();
  for (const double bad : {nan, infinity}) {
    for (const auto member : {&State<Vec>::x, &State<Vec>::y, &State<Vec>::v}) {
      auto state = problem.start();
      (state.*member)[1] = bad;
      const std::string name = member == &State<Vec>::x ? "x" : (member == &State<Vec>::y ? "y" : "v");
      EXPECT_EQ(refusal([&] { (void)run_steps(problem, Bagdc{.alpha = 0.1, .beta = 0.2}, state, 1); }),
                "start: " + name + " holds NaN or infinity, expected finite numbers");
      EXPECT_EQ(state.x[0], problem.start().x[0]);
    }
  }
}

TEST(Start, TakesAnEmptyMultiplierForZero) {
  const auto problem = bent();
  auto given = problem.start();
  auto empty = problem.start();
  empty.v = Vec();
  (void)run_steps(problem, Bagdc{.alpha = 0.1, .beta = 0.2}, given, 5);
  (void)run_steps(problem, Bagdc{.alpha = 0.1, .beta = 0.2}, empty, 5);
  EXPECT_TRUE(same_bits(given, empty));
}

TEST(MissingTier, IsRefusedByNameAtRunTime) {
  const AnyProblem<Vec> problem = bent<false>();
  ASSERT_FALSE(problem.offers_aggregation());
  const auto refused = [&](const auto &solver) {
    return refusal([&] {
      auto state = problem.start();
      (void)run_steps(problem, solver, state, 1);
    });
  };
  const std::string expected = ": the problem lacks upper().hess_yy(v, out) and upper().cross_xy(v, out), "
                               "which aggregation needs";
  EXPECT_EQ(refused(Bagdc{.alpha = 0.1, .beta = 0.2, .mu = 0.1}), "bagdc" + expected);
  EXPECT_EQ(refused(Bda{}), "bda" + expected);
  EXPECT_EQ(refused(Bagdc{.alpha = 0.1, .beta = 0.2, .mu = 0.0}), "");
}

TEST(MissingTier, IsRefusedOnTheConcreteTypeToo) {
  const auto problem = bent<false>();
  auto state = problem.start();
  EXPECT_CONTAINS(refusal([&] { (void)run_steps(problem, Bagdc{.alpha = 0.1, .beta = 0.2, .mu = 0.1}, state, 1); }),
                  "bagdc: the problem lacks");
}

TEST(MonitorInput, RefusesATargetThatIsNotAmongTheMetrics) {
  const auto problem = small_problem();
  const MetricBook book(problem);
  Monitor<Vec> monitor;
  monitor.metrics = {book.metric("kkt")};
  monitor.target = Target{"x-error", 0.1};
  auto state = problem.start();
  EXPECT_EQ(refusal([&] { (void)solve(problem, Nosa{}, state, {}, monitor); }),
            "monitor: the target's metric 'x-error' is not among the metrics");
}

TEST(MonitorInput, RefusesBadCadence) {
  const auto problem = small_problem();
  for (const Cadence cadence : {Cadence{.every = 0}, Cadence{.every = -5}, Cadence{.growth = -0.1},
                                Cadence{.growth = nan}, Cadence{.patience = nan}}) {
    Monitor<Vec> monitor;
    monitor.cadence = cadence;
    auto state = problem.start();
    EXPECT_EQ(refusal([&] { (void)solve(problem, Nosa{}, state, {}, monitor); }),
              "monitor: cadence must have every >= 1, growth >= 0 and patience >= 0");
  }
}

} // namespace
} // namespace duplex::testing
