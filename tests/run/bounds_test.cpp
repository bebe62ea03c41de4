// Runs within bounds on x: where they end, that they never leave, and what they say of themselves.

#include "support.hpp"

#include "noisy_problem.hpp"
#include "running_ahead.hpp"
#include "saved_run.hpp"

#include <Eigen/LU>

#include <array>
#include <optional>

namespace duplex::testing {
namespace {

/// A quadratic problem whose φ is ½xᵀQx + cᵀx + constant, by hypergradients at the axes.
struct QuadraticWithin {
  Quadratic<double> problem = QuadraticSettings{.n = 5, .m = 6, .coupling = 0.8, .seed = 4}.generate<double>();
  Vec low = Vec::Constant(5, -0.1);
  Vec high = Vec::Constant(5, 0.2);
  Mat q;
  Vec c;

  QuadraticWithin() {
    ExactSolver exact(problem);
    const auto slope = [&](const Vec &x) { return Vec(exact.at(x, Vec::Zero(6)).hypergradient); };
    c = slope(Vec::Zero(5));
    q.resize(5, 5);
    for (Index i = 0; i < 5; ++i) {
      q.col(i) = slope(Vec::Unit(5, i)) - c;
    }
    low[1] = high[1] = 0.05; // fixed
    low[2] = -infinity;
  }

  [[nodiscard]] auto bounded_problem() const { return bounded(problem, low, high); }

  /// The solution, by trying which entries are at which bound: 3ⁿ systems of equations.
  [[nodiscard]] Vec solution() const {
    std::optional<Vec> found;
    int total = 1;
    for (Index i = 0; i < 5; ++i) {
      total *= 3;
    }
    for (int code = 0; code < total; ++code) {
      Vec x = Vec::Zero(5);
      std::vector<Index> free;
      int rest = code;
      bool exists = true;
      for (Index i = 0; i < 5; ++i, rest /= 3) {
        if (rest % 3 == 0) {
          free.push_back(i);
        } else {
          x[i] = rest % 3 == 1 ? low[i] : high[i];
          exists = exists && std::isfinite(x[i]);
        }
      }
      if (!exists) {
        continue;
      }
      const auto count = static_cast<Index>(free.size());
      Mat within(count, count);
      Vec right(count);
      const Vec fixed = q * x + c;
      for (Index i = 0; i < count; ++i) {
        right[i] = -fixed[free[static_cast<std::size_t>(i)]];
        for (Index j = 0; j < count; ++j) {
          within(i, j) = q(free[static_cast<std::size_t>(i)], free[static_cast<std::size_t>(j)]);
        }
      }
      const Vec solved = within.partialPivLu().solve(right);
      for (Index i = 0; i < count; ++i) {
        x[free[static_cast<std::size_t>(i)]] = solved[i];
      }
      const Vec slope = q * x + c;
      constexpr double rounding = 1e-10;
      bool solves = ((x - low).array() >= -rounding).all() && ((high - x).array() >= -rounding).all();
      for (Index i = 0; i < 5; ++i) {
        const bool is_low = x[i] <= low[i] + rounding;
        const bool is_high = x[i] >= high[i] - rounding;
        solves = solves && (std::abs(slope[i]) <= rounding || (is_low && slope[i] > 0.0) ||
                            (is_high && slope[i] < 0.0) || (is_low && is_high));
      }
      if (solves) {
        found = x;
      }
    }
    EXPECT_TRUE(found);
    return found.value_or(Vec::Zero(5));
  }
};

template <class P> State<Vec> start_in(const P &problem) {
  auto state = problem.start();
  box_of(problem).project(state.x);
  return state;
}

TEST(ARunWithinBounds, OfAutomaticStepsEndsAtTheSolutionThatAnEnumerationFinds) {
  const QuadraticWithin within;
  const auto problem = within.bounded_problem();
  auto state = problem.start();
  const auto summary = solve(problem, Automatic{.tolerance = 1e-9}, state);
  EXPECT_EQ(summary.termination, Termination::tolerance_verified) << summary.brief();
  EXPECT_LE((state.x - within.solution()).norm(), 1e-7);
  EXPECT_TRUE(box_of(problem).holds(state.x));
}

TEST(ARunWithinBounds, OfAutomaticStepsIsRightWhereNothingIsQuadratic) {
  const auto problem = bounded(bent(), -0.2, 0.1);
  auto state = start_in(problem);
  const auto summary = solve(problem, state);
  EXPECT_EQ(summary.termination, Termination::tolerance_verified) << summary.brief();
  EXPECT_TRUE(box_of(problem).holds(state.x));
}

TEST(ARunWithinBounds, EndsAtTheSolutionThatAnEnumerationFinds) {
  const QuadraticWithin within;
  const auto problem = within.bounded_problem();
  const Vec solution = within.solution();
  ASSERT_GE(box_of(problem).entries_at_bounds(solution), 2); // a fixed one, and others
  ASSERT_LT(box_of(problem).entries_at_bounds(solution), 5);
  for (const UpperRule &rule : {UpperRule{}, UpperRule{.method = UpperMethod::momentum, .momentum = 0.5}}) {
    auto state = problem.start();
    const auto summary = solve(problem, Bagdc{.alpha = 0.02, .beta = 0.5, .upper = rule}, state,
                               {.max_iterations = 100'000, .direction_tolerance = 1e-11});
    EXPECT_EQ(summary.termination, Termination::direction_tolerance) << summary.brief();
    EXPECT_LE((state.x - solution).norm(), 1e-9);
    EXPECT_TRUE(box_of(problem).holds(state.x));
    EXPECT_EQ(box_of(problem).entries_at_bounds(state.x), box_of(problem).entries_at_bounds(solution));
  }
}

TEST(ARunWithinBounds, MeetsEveryToleranceByTheFreePart) {
  const QuadraticWithin within;
  const auto problem = within.bounded_problem();
  const Bagdc method{.alpha = 0.05, .beta = 0.5};
  for (const Options &options : {Options{.max_iterations = 100'000, .kkt_tolerance = 1e-9},
                                 Options{.max_iterations = 100'000, .kkt_relative_tolerance = 1e-8}}) {
    auto state = problem.start();
    const auto summary = solve(problem, method, state, options);
    EXPECT_EQ(summary.termination, Termination::kkt_tolerance) << summary.brief();
    EXPECT_LE((state.x - within.solution()).norm(), 1e-6);
  }
  Monitor<Vec> monitor;
  const MetricBook book(problem);
  monitor.metrics = {book.metric("hypergradient"), book.metric("kkt"), book.metric("direction")};
  monitor.target = Target{"hypergradient", 1e-9};
  auto state = problem.start();
  const auto summary = solve(problem, method, state, {.max_iterations = 100'000}, monitor);
  EXPECT_EQ(summary.termination, Termination::target_reached) << summary.brief();
  EXPECT_EQ(summary.metrics[2].second, summary.direction_norm);
  EXPECT_GT((within.q * state.x + within.c).norm(), 1e-3); // all of ∇φ does not vanish there
}

/// Every step of a run that is observed, in the box.
template <class P, class S> void expect_stays_inside(const P &problem, const S &solver, std::int64_t steps) {
  const auto box = box_of(problem);
  auto state = start_in(problem);
  Recorder<Vec> recorder;
  Monitor<Vec> monitor;
  monitor.observers = {&recorder};
  (void)solve(problem, solver, state, {.max_iterations = steps}, monitor);
  bool touches = false;
  for (const auto &step : recorder.steps) {
    EXPECT_EQ(box.outside_text(step.state.x), "");
    touches = touches || box.entries_at_bounds(step.state.x) > 0;
  }
  EXPECT_EQ(box.outside_text(state.x), "");
  EXPECT_TRUE(touches || solver.name == Bome::name) << "which may leave x where it is while y goes towards both levels";
}

TEST(ARunWithinBounds, OfEveryMethodOnEveryProblemStaysInside) {
  AllSolvers::each([]<class S>() {
    AllProblemSettings::each([]<class Settings>() {
      S solver = with_steps<S>(0.05, 0.01);
      if (solver.traits().chooses_its_steps()) {
        return;
      }
      SCOPED_TRACE(std::string(S::name) + " on " + std::string(Settings::name));
      if constexpr (requires { solver.inner; }) {
        solver.inner = 3;
      }
      const AnyProblem<Vec> inner = Settings{}.template make<double>();
      const Vec start = inner.start().x;
      constexpr double room = 1e-9; // so that a step or two touch the bounds
      const AnyProblem<Vec> problem = bounded(inner, Vec(start.array() - room), Vec(start.array() + room));
      for (const auto method :
           {UpperMethod::gradient, UpperMethod::momentum, UpperMethod::adam, UpperMethod::normalized}) {
        if constexpr (requires { solver.upper; }) {
          solver.upper.method = method;
        }
        if (solver.name == "cg" && Settings::name == "multiple-minimizers") { // which it refuses
          continue;
        }
        expect_stays_inside(problem, solver, 12);
      }
    });
  });
}

template <class P> void expect_fused_agrees(const P &problem) {
  for (const auto dual : {DualStep::constant, DualStep::adaptive}) {
    for (const auto method :
         {UpperMethod::gradient, UpperMethod::momentum, UpperMethod::adam, UpperMethod::normalized}) {
      Bagdc solver{.alpha = 0.05, .beta = 0.05, .eta = 0.05, .dual = dual};
      solver.upper.method = method;
      auto fused = start_in(problem);
      auto general = fused;
      const auto one = run_steps(problem, solver, fused, 30);
      solver.fused = false;
      const auto two = run_steps(problem, solver, general, 30);
      EXPECT_LE(relative_error(fused.x, general.x), 1e-9);
      EXPECT_NEAR(one.direction_norm, two.direction_norm, 1e-9 * (1.0 + two.direction_norm));
      EXPECT_GT(box_of(problem).entries_at_bounds(fused.x), 0);
    }
  }
}

/// f = ½(y₁ − x)² + ½e(y₂ − x)², F = ½(x − c)² + ½‖y‖², and whether it was ever asked of an x that is not in its
/// bounds.
struct Watched {
  using Vector = Vec;
  struct Lower : Point<Vec> {
    explicit Lower(const Watched &problem) : p(&problem) {}
    void at(const Vec &x, const Vec &y) {
      p->left_bounds = p->left_bounds || !(x[0] >= p->low && x[0] <= p->high);
      Point<Vec>::at(x, y);
    }
    [[nodiscard]] double value() const {
      return 0.5 * (std::pow(y()[0] - x()[0], 2) + p->e * std::pow(y()[1] - x()[0], 2));
    }
    void grad_y(Vec &out) const { out << y()[0] - x()[0], p->e * (y()[1] - x()[0]); }
    void hess_yy(const Vec &v, Vec &out) const { out << v[0], p->e * v[1]; }
    void cross_xy(const Vec &v, Vec &out) const { out[0] = -v[0] - p->e * v[1]; }
    const Watched *p;
  };
  struct Upper : Point<Vec> {
    explicit Upper(const Watched &problem) : p(&problem) {}
    [[nodiscard]] double value() const { return 0.5 * std::pow(x()[0] - p->c, 2) + 0.5 * y().squaredNorm(); }
    void grad_x(Vec &out) const { out[0] = x()[0] - p->c; }
    void grad_y(Vec &out) const { out = y(); }
    const Watched *p;
  };
  [[nodiscard]] Lower lower() const { return Lower(*this); }
  [[nodiscard]] Upper upper() const { return Upper(*this); }
  [[nodiscard]] Index x_size() const { return 1; }
  [[nodiscard]] Index y_size() const { return 2; }
  [[nodiscard]] Vec lower_bound() const { return Vec::Constant(1, low); }
  [[nodiscard]] Vec upper_bound() const { return Vec::Constant(1, high); }

  double low = 0.0;
  double high = 0.0;
  double c = 0.0;
  double e = 1.0;
  mutable bool left_bounds = false;
};

TEST(ARunWithinBounds, OfAutomaticStepsDoesNotLeaveThemByRounding) {
  const Vec draws = random_vector(400, 3).cwiseAbs();
  for (Index i = 0; i < 400; i += 2) {
    const double low = 0.1 * draws[i]; // the solution lies below
    const Watched problem{.low = low, .high = infinity, .c = -1.0};
    State<Vec> state{Vec::Constant(1, low + 3.0 * draws[i + 1]), Vec::Zero(2), {}};
    const auto summary = solve(problem, state);
    ASSERT_TRUE(summary.converged()) << summary.brief();
    ASSERT_FALSE(problem.left_bounds) << low;
    ASSERT_EQ(state.x[0], low);
  }
}

TEST(ARunWithinBounds, OfAutomaticStepsFromACornerIsRightWhateverYBeginsWith) {
  for (const double e : {1.0, 1e-2, 1e-4, 1e-5, 1e-6}) {
    for (const double y : {-100.0, -1.0, 0.0, 1.0, 50.0, 1e3}) {
      const Watched problem{.low = 1.0, .high = 2.0, .e = e};
      State<Vec> state{Vec::Ones(1), Vec(Eigen::Vector2d(0.0, y)), {}};
      const auto summary = solve(problem, state);
      EXPECT_TRUE(summary.converged()) << "e = " << e << ", y = " << y << ": " << summary.brief();
      EXPECT_FALSE(problem.left_bounds);
      EXPECT_EQ(state.x[0], 1.0);
      EXPECT_NEAR(state.y[0], 1.0, 1e-3);
      EXPECT_NEAR(state.y[1], 1.0, 1e-3) << "e = " << e << ", y = " << y;
    }
  }
}

TEST(ARunWithinBounds, OfAutomaticStepsLeavesACornerThatOnlyARoughDirectionHeldItAt) {
  for (const double e : {1.0, 1e-3, 1e-5}) {
    for (const double y : {-1e3, 0.0, 30.0, 1e3}) {
      const Watched problem{.low = 1.0, .high = 10.0, .c = 6.0, .e = e};
      State<Vec> state{Vec::Ones(1), Vec(Eigen::Vector2d(0.0, y)), {}};
      const auto summary = solve(problem, state);
      EXPECT_TRUE(summary.converged()) << "e = " << e << ", y = " << y << ": " << summary.brief();
      EXPECT_NEAR(state.x[0], 2.0, 1e-3) << "e = " << e << ", y = " << y; // φ = ½(x − 6)² + x²
    }
  }
}

TEST(ARunWithinBounds, OfAutomaticStepsSolvesForYWhereXIsFixedAndNothingIsAssembled) {
  const auto spectrum = log_spaced_spectrum<double>(2500, 1e3, 1.0);
  const auto problem = bounded(CounterExample(DiagonalSpd<double>(spectrum), Vec(Vec::Ones(2500)), 0.0), 2.0, 2.0);
  State<Vec> state{Vec::Constant(2500, 2.0), Vec::Zero(2500), {}};
  ASSERT_TRUE(solve(problem, state).converged());
  const Vec truth = Vec::Constant(2500, 2.0).cwiseQuotient(spectrum); // Ay = x
  EXPECT_LT((state.y - truth).norm(), 1e-2 * truth.norm());
}

TEST(ARunWithinBounds, OfAutomaticStepsSolvesForYWhereXIsFixed) {
  const auto problem =
      bounded(QuadraticSettings{.n = 3, .m = 60, .condition = 1e3, .seed = 5}.generate<double>(), 0.5, 0.5);
  State<Vec> state{Vec::Constant(3, 0.5), Vec::Zero(60), {}};
  ASSERT_TRUE(solve(problem, state).converged());
  const Vec truth = ExactSolver(problem).at(state.x, state.y).y;
  EXPECT_LT((state.y - truth).norm(), 1e-3 * truth.norm());
}

TEST(ARunWithinBounds, IsTheSameWithFusedSteps) {
  const auto spectrum = log_spaced_spectrum<double>(700, 10.0, 1.0); // more than a piece of x
  expect_fused_agrees(bounded(CounterExample(DiagonalSpd<double>(spectrum), Vec(Vec::Ones(700)), 0.0), -0.1, 0.05));
  const Mat matrix = Mat::Identity(40, 40) + Mat::Constant(40, 40, 0.05);
  expect_fused_agrees(bounded(CounterExample(DenseSpd<double>(matrix), Vec(Vec::Ones(40)), 0.0), -0.1, 0.05));
  expect_fused_agrees(bounded(HyperCleaningSettings{}.generate<double>(), -1e-6, 1e-6));
}

TEST(ARunWithinBounds, GoesOnToTheSameBits) {
  const QuadraticWithin within;
  for (const auto method : {UpperMethod::gradient, UpperMethod::momentum, UpperMethod::adam, UpperMethod::normalized}) {
    Bagdc solver{.alpha = 0.05, .beta = 0.5};
    solver.upper.method = method;
    expect_same_bits(within.bounded_problem(), solver, std::string(name_of(method)));
  }
  const auto spectrum = log_spaced_spectrum<double>(600, 10.0, 1.0);
  expect_same_bits(bounded(CounterExample(DiagonalSpd<double>(spectrum), Vec(Vec::Ones(600)), 0.0), -0.1, 0.05),
                   Bagdc{.alpha = 0.05, .beta = 0.05}, "fused");
  expect_same_bits(bounded(HyperCleaningSettings{}.generate<double>(), -0.01, 0.01), Bagdc{.alpha = 0.5, .beta = 0.05},
                   "hyper-cleaning");
}

TEST(ARunWithinBounds, DoesNotGoOnWithinOthers) {
  const QuadraticWithin within;
  const Bagdc method{.alpha = 0.05, .beta = 0.5};
  const SavedState saved = saved_after(within.bounded_problem(), method, 5);
  const Saving saving{.from = &saved};
  const auto refused = [&](const auto &problem) {
    auto state = start_in(problem);
    return refusal([&] { (void)solve(problem, method, state, {.saving = &saving}); });
  };
  EXPECT_EQ(refused(bounded(within.problem, -1.0, 1.0)), "the saved run has other bounds on x");
  EXPECT_EQ(refused(within.problem), "the saved run has bounds on x, and this one has none");
}

TEST(ARunWithinBounds, RecoversToStatesInside) {
  const QuadraticWithin within;
  const auto problem = within.bounded_problem();
  auto state = problem.start();
  const auto summary = solve(problem, Bagdc{.alpha = 0.05, .beta = 30.0}, state,
                             {.max_iterations = 20'000, .direction_tolerance = 1e-9, .recoveries = 5});
  EXPECT_FALSE(summary.recoveries.empty());
  EXPECT_EQ(summary.termination, Termination::direction_tolerance) << summary.brief();
  EXPECT_LE((state.x - within.solution()).norm(), 1e-6);
}

struct NoisyWithin : Noisy {
  using Noisy::Noisy;
  [[nodiscard]] static Vec lower_bound() { return Vec::Constant(3, -0.05); }
  [[nodiscard]] static Vec upper_bound() { return Vec::Constant(3, 0.2); }
};

TEST(ARunWithinBounds, OnASampleAtEveryStepStaysInside) {
  const NoisyWithin problem(50, 3, 5);
  State<Vec> state{Vec::Constant(3, 0.1), Vec::Zero(3), {}};
  (void)solve(problem, Bagdc{.alpha = 0.1, .beta = 0.2}, state, {.max_iterations = 50, .seed = 3});
  EXPECT_TRUE(box_of(problem).holds(state.x));
  EXPECT_GT(box_of(problem).entries_at_bounds(state.x), 0);
}

TEST(ARunWithinBounds, ThatRunsAheadGivesTheSameBits) {
  const QuadraticWithin within;
  const auto problem = within.bounded_problem();
  RunningAhead ahead;
  ahead.alpha = 0.05;
  ahead.beta = 0.5;
  auto one = problem.start();
  auto two = problem.start();
  const auto first = run_steps(problem, ahead, one, 40);
  const auto second = run_steps(problem, Bagdc{.alpha = 0.05, .beta = 0.5}, two, 40);
  EXPECT_TRUE(same_bits(one, two));
  EXPECT_EQ(first.direction_norm, second.direction_norm);
}

TEST(ADirectionThatGrows, IsBrokenWhetherOrNotXMayFollowIt) {
  const QuadraticWithin within;
  const auto problem = bounded(within.problem, 0.0, 0.0); // x cannot move
  auto state = problem.start();
  state.x.setZero();
  const auto summary = solve(problem, Bagdc{.alpha = 0.05, .beta = 30.0}, state, {.max_iterations = 20'000});
  EXPECT_EQ(summary.termination, Termination::diverged) << summary.brief();
  EXPECT_CONTAINS(summary.message, "beta");
}

} // namespace
} // namespace duplex::testing
