#include "free_penalties.hpp"
#include "noisy_problem.hpp"
#include "saturating_fit.hpp"
#include "saved_run.hpp"
#include "support.hpp"

#include <duplex/methods/automatic/governor.hpp>

#include <cmath>
#include <string>

namespace duplex::testing {
namespace {

constexpr Automatic automatic;

std::int64_t products_of(const Summary &summary) { return summary.counters.gradients_and_products(); }

/// ‖∇φ(x)‖ / ‖∇φ(x₀)‖, exact.
template <class P> double relative_gradient(const P &problem, const State<VectorOf<P>> &state) {
  const auto start = problem.start();
  ExactSolver<P> exact(problem);
  const double first = norm(exact.at(start.x, start.y).hypergradient);
  return norm(exact.at(state.x, state.y).hypergradient) / first;
}

TEST(AutomaticSteps, RefuseAToleranceOfZero) {
  const auto problem = QuadraticSettings{}.generate<double>();
  auto state = problem.start();
  EXPECT_CONTAINS(refusal([&] { (void)solve(problem, Automatic{.tolerance = 0.0}, state); }),
                  "tolerance = 0, expected > 0 and < 1");
}

TEST(AutomaticSteps, AreTakenWhereNoMethodIsNamed) {
  const auto problem = QuadraticSettings{}.generate<double>();
  auto unnamed = problem.start();
  auto named = problem.start();
  EXPECT_EQ(solve(problem, unnamed).solver, "automatic");
  EXPECT_TRUE(solve(problem, automatic, named).converged());
  EXPECT_TRUE(same_bits(unnamed, named));
}

TEST(AutomaticSteps, AreRefusedWhereAProblemDrawsSamples) {
  const Noisy problem(30, 3, 4);
  State<Vec> state{Vec::Zero(3), Vec::Zero(3), {}};
  EXPECT_CONTAINS(refusal([&] { (void)solve(problem, Automatic{}, state); }),
                  "a method with steps, such as bagdc with alpha and beta");
}

TEST(AutomaticSteps, KeepTheirBudgetOnTheCounterExample) {
  for (const auto &[condition, budget] : {std::pair{10.0, 300}, {100.0, 3000}}) {
    const auto spectrum = log_spaced_spectrum<double>(100, condition, 1.0 / condition);
    const CounterExample problem(DiagonalSpd<double>(spectrum), Vec(Vec::Ones(100)), 0.0);
    auto state = problem.start();
    const auto summary = solve(problem, automatic, state);
    EXPECT_EQ(summary.termination, Termination::tolerance_verified) << summary.brief();
    EXPECT_LE(relative_gradient(problem, state), 1e-5);
    EXPECT_LE(products_of(summary), budget);
  }
}

TEST(AutomaticSteps, ClaimOnlyWhatTheExactHypergradientConfirms) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const QuadraticSettings settings{.n = 3 + static_cast<Index>(seed),
                                     .m = 23 - static_cast<Index>(seed),
                                     .condition = std::pow(10.0, 0.15 * static_cast<double>(seed)),
                                     .coupling = 1.0,
                                     .seed = seed};
    const auto problem = settings.generate<double>();
    auto state = problem.start();
    const auto summary = solve(problem, automatic, state);
    EXPECT_TRUE(summary.converged()) << summary.brief();
    EXPECT_LE(relative_gradient(problem, state), 1e-5) << "seed " << seed;
    EXPECT_LE(products_of(summary), 3000) << "seed " << seed;
  }
}

TEST(AutomaticSteps, DoNotKnowTheUnits) {
  const auto problem = QuadraticSettings{.n = 12, .m = 60, .condition = 200.0, .coupling = 1.0}.generate<double>();
  const auto run = [](const Quadratic<double> &quadratic) {
    auto state = quadratic.start();
    return solve(quadratic, automatic, state);
  };
  const auto plain = run(problem);
  ASSERT_TRUE(plain.converged());
  for (const int sign : {-1, 1}) { // powers of two round nothing: the runs are the same
    const double unit = std::ldexp(1.0, 10 * sign);
    EXPECT_EQ(run(problem.in_units({.upper = unit})).counters, plain.counters) << "F";
    EXPECT_EQ(run(problem.in_units({.lower = unit})).counters, plain.counters) << "f";
    EXPECT_EQ(run(problem.in_units({.x = unit})).counters, plain.counters) << "x";
    EXPECT_EQ(run(problem.in_units({.y = unit})).counters, plain.counters) << "y";
  }
  for (const double unit : {1e-3, 1e3}) {
    const auto scaled = run(problem.in_units({.upper = unit, .lower = 1.0 / unit, .x = unit, .y = 1.0 / unit}));
    EXPECT_NEAR(static_cast<double>(products_of(scaled)) / static_cast<double>(products_of(plain)), 1.0, 0.1);
  }
}

TEST(AutomaticSteps, SolveProblemsThatAreNotQuadratic) {
  const auto problem = bent();
  auto state = problem.start();
  const auto summary = solve(problem, Automatic{.tolerance = 1e-8}, state);
  EXPECT_EQ(summary.termination, Termination::tolerance_verified) << summary.brief();
  EXPECT_LE(relative_gradient(problem, state), 1e-8);
  EXPECT_LE(products_of(summary), 500);
  EXPECT_CONTAINS(summary.explanation, "not quadratic in y");

  const auto ridge = RidgeSettings{}.make<double>();
  auto penalties = ridge.start();
  const auto tuned = solve(ridge, automatic, penalties);
  EXPECT_EQ(tuned.termination, Termination::tolerance_verified) << tuned.brief();
  EXPECT_LE(relative_gradient(ridge, penalties), 1e-5);
  EXPECT_CONTAINS(tuned.explanation, "a Hessian that changes with x");
}

TEST(AutomaticSteps, WorkInSinglePrecision) {
  const auto problem = QuadraticSettings{.condition = 100.0}.generate<float>();
  auto state = problem.start();
  const auto summary = solve(problem, Automatic{.tolerance = 1e-3}, state);
  EXPECT_EQ(summary.termination, Termination::tolerance_verified) << summary.brief();
  EXPECT_LE(relative_gradient(problem, state), 1e-3);
}

TEST(AutomaticSteps, DoNotClaimWhatRoundingHides) {
  const auto problem = QuadraticSettings{.condition = 1000.0}.generate<float>();
  auto state = problem.start();
  const auto summary = solve(problem, Automatic{.tolerance = 1e-9}, state);
  EXPECT_FALSE(summary.converged()) << summary.brief();
}

TEST(AutomaticSteps, LetTheUpperLevelChooseWhereTheLowerOneHasManyMinimizers) {
  for (const double start : {0.0, 0.01, -0.7}) {
    const MultipleMinimizers<double> problem(10, start);
    auto state = problem.start();
    const auto summary = solve(problem, automatic, state);
    EXPECT_TRUE(summary.converged()) << summary.brief();
    EXPECT_LE((state.x.array() - 1.0).abs().maxCoeff(), 1e-4) << summary.explanation;
    EXPECT_LE(summary.iterations, 5);
  }
}

/// A run from y so far away claims success, and is right by Newton's method of the problem's own. Says what it tells.
std::string expect_solved(const SaturatingFit &problem, double distance) {
  auto state = problem.start(distance);
  const double first = problem.slope_at(state.x);
  const auto summary = solve(problem, automatic, state);
  EXPECT_EQ(summary.termination, Termination::tolerance_verified) << distance << ": " << summary.brief();
  EXPECT_LE(problem.slope_at(state.x), 1.001e-5 * first) << distance;
  return summary.explanation;
}

TEST(AutomaticSteps, BeginWhereTheLowerLevelIsAllButLinear) {
  for (const std::uint64_t seed : {1, 2}) {
    for (const double distance : {1.0, 30.0, 1000.0}) {
      expect_solved(SaturatingFit(3, false, seed), distance);
    }
  }
  EXPECT_CONTAINS(expect_solved(SaturatingFit(33, false, 1), 50.0), "begun anew 1 time");
}

TEST(AutomaticSteps, LetAnyOfManyMinimizersDoWhereNeitherLevelSeesThem) {
  for (const std::uint64_t seed : {1, 2, 3}) {
    expect_solved(SaturatingFit(3, true, seed), 0.0);
    expect_solved(SaturatingFit(3, true, seed), 1.0);
  }
}

TEST(AutomaticSteps, DoNotTakeALowerLevelWithoutAMinimizerForSolved) {
  for (const std::uint64_t seed : {1, 2, 3, 4, 5}) {
    auto data = QuadraticSettings{.n = 5, .m = 7, .seed = seed}.generate<double>().data();
    data.lower_hessian.setZero();
    const Quadratic<double> problem(std::move(data));
    auto state = problem.start();
    const auto summary = solve(problem, automatic, state);
    EXPECT_FALSE(summary.converged()) << summary.brief();
    EXPECT_CONTAINS(summary.message, "the lower Hessian is singular");
  }
}

TEST(AutomaticSteps, SayThatTheLowerHessianIsSingularWhereNothingCanChooseAmongItsMinimizers) {
  auto data = QuadraticSettings{.null_space = 3}.generate<double>().data();
  const Index n = QuadraticSettings{}.n;
  data.upper_hessian.bottomRightCorner(data.upper_hessian.rows() - n, data.upper_hessian.rows() - n).setZero();
  data.upper_hessian.topRightCorner(n, data.upper_hessian.rows() - n).setZero();
  data.upper_hessian.bottomLeftCorner(data.upper_hessian.rows() - n, n).setZero();
  const Quadratic<double> problem(std::move(data));
  auto state = problem.start();
  const auto summary = solve(problem, automatic, state);
  EXPECT_TRUE(summary.failed()) << summary.explanation;
  EXPECT_CONTAINS(summary.message, "the lower Hessian is singular");
}

TEST(AutomaticSteps, SayThatTheLowerLevelIsNotConvex) {
  auto data = QuadraticSettings{}.generate<double>().data();
  data.lower_hessian.diagonal().array() -= 0.5;
  const Quadratic<double> problem(std::move(data));
  auto state = problem.start();
  const auto summary = solve(problem, automatic, state);
  EXPECT_EQ(summary.termination, Termination::step_failed);
  EXPECT_CONTAINS(summary.message, "the lower Hessian is indefinite");
}

TEST(AutomaticSteps, StayWhereTheStartIsTheSolution) {
  const auto problem = QuadraticSettings{}.generate<double>();
  auto state = problem.start();
  ASSERT_TRUE(solve(problem, Automatic{.tolerance = 1e-9}, state).converged());
  const auto summary = solve(problem, automatic, state, {.direction_tolerance = 1e-6});
  EXPECT_TRUE(summary.converged()) << summary.brief();
  EXPECT_LE(summary.iterations, 3);

  const CounterExample at_rest(IdentityMatrix(4), Vec(Vec::Ones(4)), 0.5); // x* = y* = v* = e/2
  auto resting = at_rest.start();
  const auto nothing_to_do = solve(at_rest, automatic, resting);
  EXPECT_EQ(nothing_to_do.termination, Termination::not_verified) << "a part of nothing cannot be shown";
  EXPECT_CONTAINS(nothing_to_do.message, "at the start already");
  EXPECT_EQ(nothing_to_do.iterations, 1);
  EXPECT_TRUE(resting.x.isApproxToConstant(0.5));
}

TEST(AutomaticSteps, GoBeyondTheirToleranceWhereARunAsksForMore) {
  const auto problem = QuadraticSettings{.condition = 50.0}.generate<double>();
  auto state = problem.start();
  const auto summary = solve(problem, automatic, state, {.direction_tolerance = 1e-10});
  EXPECT_EQ(summary.termination, Termination::direction_tolerance) << summary.brief();
  EXPECT_LE(summary.direction_norm, 1e-10);
  EXPECT_LE(relative_gradient(problem, state), 1e-9);
  auto other = problem.start();
  EXPECT_EQ(solve(problem, automatic, other, {.kkt_tolerance = 1e-9}).termination, Termination::kkt_tolerance);
}

TEST(AutomaticSteps, SolveWherePenaltiesThatNothingHoldsRunAway) {
  double largest = 0.0;
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    const FreePenalties problem(seed);
    auto state = problem.start();
    ASSERT_TRUE(check(problem, state).passes());
    const auto summary = solve(problem, state);
    EXPECT_TRUE(summary.converged()) << seed << ": " << summary.brief();
    largest = std::max(largest, state.x.maxCoeff());
  }
  EXPECT_GT(largest, 12.0) << "some of them did run away";
}

/// From steps 1, 2, 3, … of a run that begins anew on its way.
TEST(AutomaticSteps, ThatBeginAnewGoOnToTheSameBitsWhereverTheyAreCut) {
  const FreePenalties problem(111);
  auto whole = problem.start();
  const auto uninterrupted = solve(problem, whole);
  ASSERT_TRUE(uninterrupted.converged()) << uninterrupted.brief();
  EXPECT_CONTAINS(uninterrupted.explanation, "begun anew 1 time");
  for (std::int64_t cut = 1; cut < uninterrupted.iterations; ++cut) {
    const SavedState saved = saved_after(problem, automatic, cut);
    const Saving saving{.from = &saved};
    auto state = problem.start();
    const auto summary = solve(problem, automatic, state, {.saving = &saving});
    EXPECT_EQ(summary.termination, uninterrupted.termination) << cut << ": " << summary.brief();
    EXPECT_EQ(summary.iterations, uninterrupted.iterations) << cut;
    EXPECT_TRUE(same_bits(state, whole)) << cut;
  }
}

TEST(AutomaticSteps, ShowWhatTheyChose) {
  const auto problem = QuadraticSettings{.condition = 50.0}.generate<double>();
  const auto steps = record(problem, automatic, problem.start(), 5);
  ASSERT_EQ(steps.size(), 5U);
  for (const auto &step : steps) {
    EXPECT_GT(step.steps.alpha, 0.0);
    EXPECT_NEAR((step.state.x - step.previous_x).norm(), step.steps.alpha * step.direction.norm(),
                1e-9 * step.state.x.norm());
    EXPECT_GT(step.steps.beta, 0.0);
    EXPECT_EQ(step.steps.mu, 0.0);
  }
  auto state = problem.start();
  const auto summary = solve(problem, automatic, state);
  for (const auto *part :
       {"lower level: curvatures from", "accuracy: d feels", "upper level: alpha from", "end: d is"}) {
    EXPECT_CONTAINS(summary.explanation, part);
  }
  auto given = problem.start();
  EXPECT_TRUE(solve(problem, with_given_steps, given, {.max_iterations = 3}).explanation.empty());
}

} // namespace
} // namespace duplex::testing
