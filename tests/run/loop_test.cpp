// The loop: when it stops, what it counts, what its clock sees, how x moves.

#include "follower.hpp"
#include "support.hpp"

#include <atomic>
#include <chrono>
#include <csignal>
#include <limits>
#include <thread>

namespace duplex::testing {
namespace {

using Identity = CounterExample<double, IdentityMatrix>;

Identity paper_problem() { return {IdentityMatrix(100), Vec::Ones(100)}; }

template <class Measure> Monitor<Vec> watching(const Measure &measure) {
  Monitor<Vec> monitor;
  monitor.metrics = {{"measure", measure}};
  return monitor;
}

TEST(Divergence, IsReportedWithStepAndAdviceForTooLargeEta) {
  const auto problem = paper_problem();
  auto state = problem.start();
  const auto summary = solve(problem, Bagdc{.alpha = 0.1, .beta = 0.2, .eta = 2.0, .dual = DualStep::constant}, state,
                             {.max_iterations = 20'000});
  EXPECT_EQ(summary.termination, Termination::diverged);
  EXPECT_TRUE(summary.failed());
  EXPECT_FALSE(summary.converged());
  EXPECT_CONTAINS(summary.message, "‖d‖ grew to");
  EXPECT_CONTAINS(summary.message, "at step " + std::to_string(summary.iterations) + ": the steps of v are too long");
  EXPECT_CONTAINS(summary.message, "; try a smaller eta");
}

TEST(Divergence, IsJudgedAgainstTheFirstDirection) {
  const auto problem = paper_problem();
  const Bagdc solver{.alpha = 0.1, .beta = 0.2, .eta = 3.0, .dual = DualStep::constant};
  const auto steps = record(problem, solver, problem.start(), 40);
  const double first = steps.front().direction.norm();
  ASSERT_GT(first, 1.0);
  std::int64_t expected = 1;
  while (steps[static_cast<std::size_t>(expected - 1)].direction.norm() <= 3.0 * first) {
    ++expected;
  }
  auto state = problem.start();
  const auto summary = solve(problem, solver, state, {.divergence_factor = 3.0});
  EXPECT_EQ(summary.termination, Termination::diverged);
  EXPECT_EQ(summary.iterations, expected);
}

TEST(Divergence, IsReportedWhereTheDirectionIsNotFinite) {
  const auto problem = bent();
  auto state = problem.start();
  state.y[0] = 800.0; // exp overflows
  const auto summary = solve(problem, Nosa{}, state);
  EXPECT_EQ(summary.termination, Termination::diverged);
  EXPECT_EQ(summary.iterations, 1);
  EXPECT_EQ(summary.message, "lower level: the loss f is infinite at step 1");
}

TEST(Divergence, NeverReportsMetricsOfAStateThatIsNotFinite) {
  const auto problem = paper_problem();
  auto state = problem.start();
  const auto monitor = watching([](const Progress<Vec> &p) { return p.state.x.norm(); });
  const auto summary =
      solve(problem, Nosa{.alpha = std::numeric_limits<double>::max()}, state, {.max_iterations = 1}, monitor);
  EXPECT_EQ(summary.termination, Termination::diverged);
  EXPECT_CONTAINS(summary.message, "upper level: x is not finite at step 1; try a smaller alpha");
  EXPECT_TRUE(summary.metrics.empty());
}

struct EtaCount {
  double eta;
  DualStep dual;
  std::int64_t iterations;
};

void PrintTo(const EtaCount &c, std::ostream *out) { *out << name_of(c.dual) << " " << c.eta; }

class IterationsOnPaperProblem : public ::testing::TestWithParam<EtaCount> {};

TEST_P(IterationsOnPaperProblem, AreThoseMeasuredForEta) {
  const auto problem = paper_problem();
  auto state = problem.start();
  const auto summary = solve(problem, Bagdc{.alpha = 0.1, .beta = 0.2, .eta = GetParam().eta, .dual = GetParam().dual},
                             state, {.direction_tolerance = 1e-5});
  EXPECT_EQ(summary.termination, Termination::direction_tolerance);
  EXPECT_EQ(summary.iterations, GetParam().iterations);
  EXPECT_LE(summary.direction_norm, 1e-5);
}

INSTANTIATE_TEST_SUITE_P(Figure1, IterationsOnPaperProblem,
                         ::testing::Values(EtaCount{0.125, DualStep::constant, 152},
                                           EtaCount{0.25, DualStep::constant, 122},
                                           EtaCount{0.5, DualStep::constant, 96}, EtaCount{1.0, DualStep::constant, 80},
                                           EtaCount{0.3, DualStep::adaptive, 80}));

TEST(SummaryOf, ARunThatNeverBeganIsAFailure) {
  const Summary summary;
  EXPECT_EQ(summary.termination, Termination::not_run);
  EXPECT_TRUE(summary.failed());
  EXPECT_FALSE(summary.converged());
  EXPECT_EQ(summary.seconds_per_step(), 0.0);
}

TEST(SummaryOf, ARunIsOneLineThatNamesSolverReasonAndCounts) {
  const auto problem = paper_problem();
  auto state = problem.start();
  const auto summary = run_steps(problem, Nosa{}, state, 3);
  const std::string brief = summary.brief();
  EXPECT_EQ(brief.find('\n'), std::string::npos);
  EXPECT_CONTAINS(brief, "nosa: max iterations after 3 steps, ");
  EXPECT_CONTAINS(brief, ", 9 gradients, 0 Hessian and 3 cross products");
}

TEST(StoppingRule, OfIterationsIsExact) {
  const auto problem = paper_problem();
  auto state = problem.start();
  const auto summary = run_steps(problem, Nosa{}, state, 7);
  EXPECT_EQ(summary.termination, Termination::max_iterations);
  EXPECT_EQ(summary.iterations, 7);
  EXPECT_FALSE(summary.converged() || summary.failed());
}

TEST(StoppingRule, OfSecondsEndsARunWithoutEnd) {
  const auto problem = paper_problem();
  auto state = problem.start();
  const auto summary =
      solve(problem, Nosa{}, state, {.max_iterations = std::numeric_limits<std::int64_t>::max(), .max_seconds = 0.02});
  EXPECT_EQ(summary.termination, Termination::max_seconds);
  EXPECT_GE(summary.seconds, 0.02);
  EXPECT_LT(summary.seconds, 1.0);
}

TEST(StoppingRule, OfTheDirectionPassesOverTheFirstStep) {
  const auto problem = paper_problem(); // at x = z₀, y = v = 0 the first direction of NOSA is β²z₀
  State<Vec> state{Vec::Ones(100), Vec::Zero(100), {}};
  const auto summary = solve(problem, Nosa{}, state, {.direction_tolerance = 1e3});
  EXPECT_EQ(summary.termination, Termination::direction_tolerance);
  EXPECT_EQ(summary.iterations, 2);
}

TEST(StoppingRule, OfTheDirectionIsOffAtZero) {
  const MultipleMinimizers<double> problem(1); // y₁ = x = 1 and y₂ = x make every direction vanish
  State<Vec> state{Vec::Ones(1), Vec::Ones(2), {}};
  const auto summary = run_steps(problem, Nosa{}, state, 5);
  EXPECT_EQ(summary.direction_norm, 0.0);
  EXPECT_EQ(summary.termination, Termination::max_iterations);
}

TEST(StoppingRule, OfTheKktResidualIsMetAtTheFinalState) {
  const auto problem = paper_problem();
  auto state = problem.start();
  const auto summary = solve(problem, with_given_steps, state, {.kkt_tolerance = 1e-6});
  EXPECT_EQ(summary.termination, Termination::kkt_tolerance);
  EXPECT_TRUE(summary.converged());
  KktResidual residual(problem);
  EXPECT_LE(residual.at(state.x, state.y, state.v).residual(), 1e-6);
  auto shorter = problem.start();
  (void)run_steps(problem, with_given_steps, shorter, summary.iterations - 1);
  EXPECT_GT(residual.at(shorter.x, shorter.y, shorter.v).residual(), 1e-6);
}

TEST(StoppingRule, OfATargetIsMetByTheReportedMetric) {
  const auto problem = paper_problem();
  auto state = problem.start();
  const MetricBook book(problem);
  Monitor<Vec> monitor;
  monitor.metrics = {book.metric("kkt"), book.metric("x-error")};
  monitor.target = Target{"x-error", 1e-3};
  const auto summary = solve(problem, with_given_steps, state, {}, monitor);
  EXPECT_EQ(summary.termination, Termination::target_reached);
  ASSERT_EQ(summary.metrics.size(), 2U);
  EXPECT_EQ(summary.metrics[1].first, "x-error");
  EXPECT_NEAR(summary.metrics[1].second, relative_error(state.x, Vec::Constant(100, 0.5)), 1e-15);
  EXPECT_LE(summary.metrics[1].second, 1e-3);
}

TEST(StoppingRule, OfAPredicateSeesTheStep) {
  const auto problem = paper_problem();
  auto state = problem.start();
  Monitor<Vec> monitor;
  monitor.stop_when = [](const Progress<Vec> &progress) { return progress.iteration == 13; };
  const auto summary = solve(problem, with_given_steps, state, {}, monitor);
  EXPECT_EQ(summary.termination, Termination::predicate);
  EXPECT_EQ(summary.iterations, 13);
}

std::atomic<bool> control_c{false};

TEST(StoppingRule, OfASignalEndsTheRunAfterTheStepAtHand) {
  control_c = false;
  auto *before = std::signal(SIGINT, [](int) { control_c = true; });
  const auto problem = paper_problem();
  auto state = problem.start();
  Monitor<Vec> monitor;
  monitor.stop_when = [](const Progress<Vec> &progress) {
    if (progress.iteration == 7) {
      (void)std::raise(SIGINT);
    }
    return false;
  };
  const auto summary = solve(problem, with_given_steps, state, {.interrupt = &control_c}, monitor);
  (void)std::signal(SIGINT, before);
  EXPECT_EQ(summary.termination, Termination::interrupted);
  EXPECT_EQ(summary.iterations, 8);
  EXPECT_FALSE(summary.failed());
}

/// bent() with a lower gradient that takes five milliseconds.
class Slow : public Bent<> {
public:
  Slow() : Bent<>(bent()) {}
  class Lower : public Bent<>::Lower {
  public:
    using Bent<>::Lower::Lower;
    void grad_y(Vec &out) const {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
      Bent<>::Lower::grad_y(out);
    }
  };
  [[nodiscard]] Lower lower() const { return Lower(*this); }
};

TEST(Clock, CountsSlowStepsAndExcludesSlowMetrics) {
  const Slow problem;
  auto state = problem.start();
  const auto monitor = watching([](const Progress<Vec> &) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    return 0.0;
  });
  const auto begin = std::chrono::steady_clock::now();
  const auto summary = solve(problem, Nosa{}, state, {.max_iterations = 10}, monitor);
  const double wall = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  EXPECT_GE(summary.seconds, 0.05);
  EXPECT_LT(summary.seconds, wall - 0.199);
  EXPECT_NEAR(summary.seconds_per_step(), summary.seconds / 10.0, 1e-15);
}

struct Cost {
  std::int64_t gradients;
  std::int64_t hessian_products;
  std::int64_t cross_products;
};

template <class S, class P> void expect_cost(const P &problem, const S &solver, const Cost &cost) {
  const auto steps = record(problem, solver, problem.start(), 3);
  const Counters expected{
      .gradients = cost.gradients, .hessian_products = cost.hessian_products, .cross_products = cost.cross_products};
  for (std::int64_t k = 1; k <= 3; ++k) {
    const Counters &seen = steps[static_cast<std::size_t>(k - 1)].counters;
    EXPECT_EQ(seen.values, 0) << S::name;
    EXPECT_EQ(seen.gradients, k * expected.gradients) << S::name;
    EXPECT_EQ(seen.hessian_products, k * expected.hessian_products) << S::name;
    EXPECT_EQ(seen.cross_products, k * expected.cross_products) << S::name;
  }
}

TEST(CostOfAStep, IsWhatEachHeaderSays) {
  constexpr std::int64_t t = 6;
  const auto problem = bent();
  expect_cost(problem, Bagdc{.alpha = 0.1, .beta = 0.2, .dual = DualStep::constant}, {3, 1, 1});
  expect_cost(problem, Bagdc{.alpha = 0.1, .beta = 0.2, .dual = DualStep::adaptive}, {3, 2, 1});
  expect_cost(problem, Bagdc{.alpha = 0.1, .beta = 0.2, .dual = DualStep::relaxed}, {3, 2, 1});
  expect_cost(problem, Bagdc{.alpha = 0.1, .beta = 0.2, .dual = DualStep::polak_ribiere}, {3, 2, 1});
  expect_cost(problem, Bagdc{.alpha = 0.1, .beta = 0.2, .dual = DualStep::constant, .mu = 0.5}, {4, 2, 2});
  expect_cost(problem, Nosa{}, {3, 0, 1});
  expect_cost(problem, Rhg{.inner = t}, {t + 2, t - 1, t});
  expect_cost(problem, Rhg{.inner = t, .kept = 2}, {t + 2, 1, 2});
  expect_cost(problem, Bda{.inner = t}, {2 * t + 2, 2 * (t - 1), 2 * t});
  expect_cost(problem, Neumann{.inner = t, .terms = 9}, {t + 2, 8, 1});
  expect_cost(problem, Neumann{.inner = t, .naive = true}, {3, 0, 1});
  expect_cost(problem, Cg{.inner = t, .epsilon = 0.0, .linear_steps = 2}, {t + 2, 2, 1});
  expect_cost(problem, Cg{.inner = t, .epsilon = 0.0, .linear_steps = 2, .warm_multiplier = true}, {t + 2, 3, 1});
  expect_cost(problem, Cg{.inner = t, .naive = true}, {3, 1, 1});
  expect_cost(problem, STfbo{}, {3, 1, 1});
  expect_cost(problem, Soba{}, {3, 1, 1});
  expect_cost(problem, MaSoba{}, {3, 1, 1});
  expect_cost(problem, Srba{}, {3, 1, 1});
  expect_cost(problem, Spaba{}, {3, 1, 1});
  expect_cost(problem, Sbagdc{}, {3, 1, 1});
  expect_cost(problem, F2sa{.inner = t}, {3 * t + 3, 0, 0});
  expect_cost(problem, Pbgd{.inner = t}, {t + 5, 0, 0});
  expect_cost(problem, Bome{.inner = t}, {t + 5, 0, 0});
  expect_cost(problem, Meha{}, {6, 0, 0});
  expect_cost(problem, DTfbo{.epsilon = 0.0, .inner = t}, {t + 2, t, 1});
  expect_cost(problem, DTfbo{.epsilon = 1e9}, {3, 1, 1});
}

TEST(CostOfAStep, IsCountedAlikeInTheFusedStep) {
  const CounterExample problem(DenseSpd<double>(Mat::Identity(4, 4)), Vec::Ones(4).eval());
  for (const bool fused : {true, false}) {
    expect_cost(problem, Bagdc{.alpha = 0.1, .beta = 0.2, .dual = DualStep::constant, .fused = fused}, {3, 1, 1});
    expect_cost(problem, Bagdc{.alpha = 0.1, .beta = 0.2, .dual = DualStep::relaxed, .fused = fused}, {3, 2, 1});
  }
}

TEST(CostOfAStep, DoesNotIncludeMetrics) {
  const auto problem = RidgeSettings{.features = 4}.generate<double>(); // which has all of them
  const MetricBook book(problem);
  Monitor<Vec> monitor;
  for (const auto name : metric_names) {
    monitor.metrics.push_back(book.metric(name));
  }
  auto plain = problem.start();
  auto watched = problem.start();
  const auto without = run_steps(problem, with_given_steps, plain, 10);
  const auto with = solve(problem, with_given_steps, watched, {.max_iterations = 10, .kkt_tolerance = 1e-30}, monitor);
  EXPECT_EQ(without.counters, with.counters);
  EXPECT_TRUE(same_bits(plain, watched));
}

std::vector<std::int64_t> observed(const Cadence &cadence, const Options &options) {
  const auto problem = paper_problem();
  auto state = problem.start();
  Trace<Vec> trace;
  Monitor<Vec> monitor;
  monitor.observers = {&trace};
  monitor.cadence = cadence;
  (void)solve(problem, with_given_steps, state, options, monitor);
  std::vector<std::int64_t> iterations;
  for (const auto &row : trace.rows()) {
    iterations.push_back(row.iteration);
  }
  return iterations;
}

TEST(CadenceOf, ObserversIncludesTheFirstAndTheLastStep) {
  using Observed = std::vector<std::int64_t>;
  EXPECT_EQ(observed({.every = 4}, {.max_iterations = 10}), (Observed{1, 5, 9, 10}));
  EXPECT_EQ(observed({.growth = 0.5}, {.max_iterations = 12}), (Observed{1, 2, 3, 5, 8, 12}));
  EXPECT_EQ(observed({.every = 50}, {.direction_tolerance = 1e-5}), (Observed{1, 51, 80}));
}

TEST(CadenceOf, ObserversMayBeLargerThanAnyRun) {
  using Observed = std::vector<std::int64_t>;
  EXPECT_EQ(observed({.every = std::numeric_limits<std::int64_t>::max()}, {.max_iterations = 10}), (Observed{1, 10}));
  EXPECT_EQ(observed({.growth = 1e300}, {.max_iterations = 10}), (Observed{1, 10}));
  EXPECT_EQ(observed({.growth = infinity}, {.max_iterations = 10}), (Observed{1, 10}));
}

TEST(OneProblem, ServesSeveralThreadsWithTheSameBits) {
  const auto problem = bent();
  std::vector<State<Vec>> states(4, problem.start());
  std::vector<std::thread> threads;
  for (auto &state : states) {
    threads.emplace_back([&] { (void)run_steps(problem, Rhg{.inner = 5}, state, 200); });
  }
  for (auto &thread : threads) {
    thread.join();
  }
  for (const auto &state : states) {
    EXPECT_TRUE(same_bits(state, states.front()));
  }
}

/// Its slope grows from 1 at x = .01 to 100 on the way down.
struct Steepening {
  static double value(double x) { return 100.0 * std::cos(x); }
  static double slope(double x) { return -100.0 * std::sin(x); }
};

TEST(ARunWithoutSteps, ThatDivergesLeavesTheStart) {
  State<Vec> state{Vec::Constant(1, 0.01), Vec::Zero(1), {}};
  const auto summary = solve(Follower<Steepening>{}, state, {.divergence_factor = 10.0});
  EXPECT_EQ(summary.termination, Termination::diverged) << summary.brief();
  EXPECT_EQ(state.x[0], 0.01);
  EXPECT_EQ(state.y[0], 0.0);
  EXPECT_CONTAINS(summary.message, "the state is the start again");
}

} // namespace
} // namespace duplex::testing
