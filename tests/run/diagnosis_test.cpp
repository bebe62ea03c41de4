// What a run says of itself when it breaks: the step, the level and what may mend it.

#include "running_ahead.hpp"
#include "support.hpp"

#include <limits>

namespace duplex::testing {
namespace {

/// f = ½(y − x)² and F = ½(x + 3)² + ½y² in one variable, so that x and y walk from 1 towards −1.5 and cross zero.
/// Beyond it, what `Breaks` names is no number any more.
enum class Breaks { lower_value, lower_hessian, upper_value, upper_gradient_alone, nothing };

class Crossing {
public:
  using Vector = Vec;
  explicit Crossing(Breaks breaks) : breaks_(breaks) {}

  class Lower : public Point<Vec> {
  public:
    explicit Lower(Breaks breaks) : breaks_(breaks) {}
    [[nodiscard]] double value() const { return 0.5 * (y() - x()).squaredNorm() + broken(Breaks::lower_value); }
    void grad_y(Vec &out) const { out = (y() - x()).array() + broken(Breaks::lower_value); }
    void hess_yy(const Vec &v, Vec &out) const {
      out = v.array() + broken(Breaks::lower_value) + broken(Breaks::lower_hessian);
    }
    void cross_xy(const Vec &v, Vec &out) const { out = -v; }

  protected:
    [[nodiscard]] double broken(Breaks what) const { return breaks_ == what && y()[0] < 0.0 ? not_a_number : 0.0; }

  private:
    Breaks breaks_;
  };

  class Upper : public Lower {
  public:
    using Lower::Lower;
    [[nodiscard]] double value() const {
      return 0.5 * (x().array() + 3.0).square().sum() + 0.5 * y().squaredNorm() + broken(Breaks::upper_value);
    }
    void grad_x(Vec &out) const { out = x().array() + 3.0 + broken(Breaks::upper_gradient_alone); }
    void grad_y(Vec &out) const { out = y().array() + broken(Breaks::upper_value); }
    void hess_yy(const Vec &v, Vec &out) const { out = v.array() + broken(Breaks::upper_value); }
    void cross_xy(const Vec &v, Vec &out) const { out = 0.0 * v; }
  };

  [[nodiscard]] Lower lower() const { return Lower(breaks_); }
  [[nodiscard]] Upper upper() const { return Upper(breaks_); }
  [[nodiscard]] static Index x_size() { return 1; }
  [[nodiscard]] static Index y_size() { return 1; }
  [[nodiscard]] static State<Vec> start() { return {Vec::Ones(1), Vec::Ones(1), Vec::Zero(1)}; }

private:
  Breaks breaks_;
};
static_assert(AggregatedProblem<Crossing>);

/// The step, from 1, at which y first is negative after it.
template <class S> std::int64_t crossing_step(const S &solver) {
  const auto steps = record(Crossing(Breaks::nothing), solver, Crossing::start(), 200);
  std::int64_t step = 1;
  for (const auto &of_run : steps) {
    if (of_run.state.y[0] < 0.0) {
      return step;
    }
    ++step;
  }
  ADD_FAILURE() << S::name << " does not cross zero";
  return 0;
}

template <class S> void expect_message(Breaks breaks, const S &solver, const std::string &what) {
  const Crossing problem(breaks);
  auto state = problem.start();
  const auto summary = solve(problem, solver, state, {.max_iterations = 200});
  EXPECT_TRUE(summary.failed());
  const auto step = crossing_step(solver);
  EXPECT_EQ(summary.iterations, step);
  EXPECT_CONTAINS(summary.message, what + " at step " + std::to_string(step));
  EXPECT_TRUE(all_finite(state.x)) << "x stays where it was";
}

constexpr Bagdc bagdc{.alpha = 0.2, .beta = 0.5, .eta = 0.5, .dual = DualStep::constant};

TEST(Diagnosis, BlamesTheStepOfXWhereTheMultiplierOnlyFollows) {
  const auto problem = CounterExampleSettings{}.make<double>();
  auto state = problem.start();
  const auto summary = solve(problem, Bagdc{.alpha = 2.05, .beta = 0.2}, state, {.max_iterations = 1000});
  EXPECT_EQ(summary.termination, Termination::diverged);
  EXPECT_CONTAINS(summary.message, "x runs away, and v follows it; try a smaller alpha");
}

TEST(Diagnosis, NamesTheLevelAndTheStepOfALossThatBecomesNaN) {
  const auto with_solvers = [](Breaks breaks, const std::string &what) {
    expect_message(breaks, bagdc, what);
    expect_message(breaks, Bagdc{.alpha = 0.2, .beta = 0.5}, what);
    expect_message(breaks, Rhg{.alpha = 0.2, .beta = 0.5, .inner = 1}, what);
    expect_message(breaks, Cg{.alpha = 0.2, .beta = 0.5, .inner = 2}, what);
    expect_message(breaks, Neumann{.alpha = 0.2, .beta = 0.5, .inner = 2}, what);
  };
  with_solvers(Breaks::upper_value, "upper level: the loss F is NaN");
  expect_message(Breaks::upper_value, Nosa{.alpha = 0.2, .beta = 0.5}, "upper level: the loss F is NaN");
  expect_message(Breaks::upper_value, Bda{.alpha = 0.2, .beta = 0.5, .inner = 1}, "upper level: the loss F is NaN");
  expect_message(Breaks::lower_value, bagdc, "lower level: the loss f is NaN");
  expect_message(Breaks::lower_value, Cg{.alpha = 0.2, .beta = 0.5, .inner = 1}, "lower level: the loss f is NaN");
  expect_message(Breaks::lower_value, Neumann{.alpha = 0.2, .beta = 0.5, .inner = 1}, "lower level: the loss f is NaN");
}

TEST(Diagnosis, NamesTheLossWhereItBrokeYInTheNextStep) {
  for (const double alpha : {0.05, 0.2}) {
    const Nosa nosa{.alpha = alpha, .beta = 0.5}; // which takes no second derivative at y⁺
    const Crossing problem(Breaks::lower_value);
    auto state = problem.start();
    const auto summary = solve(problem, nosa, state);
    EXPECT_EQ(summary.iterations, crossing_step(nosa) + 1);
    EXPECT_EQ(summary.message, "lower level: the loss f is NaN at step " + std::to_string(summary.iterations));
  }
  const Crossing problem(Breaks::lower_value); // inside the loop of T steps
  auto state = problem.start();
  EXPECT_CONTAINS(solve(problem, Rhg{.alpha = 0.2, .beta = 0.5, .inner = 10}, state).message,
                  "lower level: the loss f is NaN at step ");
}

TEST(Diagnosis, NamesDerivativesThatBreakAlone) {
  expect_message(Breaks::lower_hessian, bagdc, "lower level: the second derivatives of f are not finite");
  expect_message(Breaks::upper_gradient_alone, bagdc, "upper level: the gradient of F is not finite");
}

TEST(Diagnosis, IsNotCountedAndKeepsWhatTheMethodSays) {
  const Crossing problem(Breaks::upper_value);
  auto state = problem.start();
  const auto summary = solve(problem, Cg{.alpha = 0.2, .beta = 0.5, .inner = 1}, state);
  EXPECT_EQ(summary.termination, Termination::step_failed);
  EXPECT_EQ(summary.counters.values, 0);
  EXPECT_CONTAINS(summary.message, "(conjugate gradients met NaN or infinity");
}

TEST(Diagnosis, FindsTheStepAmongThoseThatWereNotLookedAt) {
  struct Outcome {
    Summary summary;
    State<Vec> state;
    std::vector<std::int64_t> seen;
  };
  RunningAhead::times_back = 0;
  for (const double alpha : {0.01, 0.02, 0.2}) {
    Bagdc plain = bagdc;
    plain.alpha = alpha;
    for (const std::int64_t cadence : {7, 1000}) {
      const auto outcome = [&](const auto &solver) {
        const Crossing problem(Breaks::upper_value);
        Outcome result{{}, problem.start(), {}};
        Monitor<Vec> monitor;
        monitor.cadence.every = cadence;
        monitor.stop_when = [&](const Progress<Vec> &progress) {
          result.seen.push_back(progress.iteration);
          return false;
        };
        result.summary = solve(problem, solver, result.state, {}, monitor);
        return result;
      };
      const auto expected = outcome(plain);
      const auto ahead = outcome(RunningAhead{plain});
      EXPECT_EQ(ahead.summary.message, expected.summary.message);
      EXPECT_EQ(ahead.summary.iterations, crossing_step(plain));
      EXPECT_EQ(ahead.summary.counters, expected.summary.counters);
      EXPECT_EQ(ahead.state.x, expected.state.x) << alpha << ", " << cadence;
      EXPECT_EQ(ahead.state.y, expected.state.y);
      EXPECT_EQ(ahead.seen, expected.seen);
    }
  }
  EXPECT_GE(RunningAhead::times_back, 3);
}

TEST(Diagnosis, OfARunAheadThatGoesWellIsThatOfAnyOther) {
  for (const std::int64_t steps : {4, 5, 6, 20, 21, 200}) {
    const Crossing problem(Breaks::nothing);
    auto plain = problem.start();
    auto ahead = problem.start();
    const auto expected = solve(problem, bagdc, plain, {.max_iterations = steps});
    const auto summary = solve(problem, RunningAhead{bagdc}, ahead, {.max_iterations = steps});
    EXPECT_EQ(summary.direction_norm, expected.direction_norm) << steps;
    EXPECT_EQ(summary.counters, expected.counters) << steps;
    EXPECT_EQ(ahead.x, plain.x) << steps;
  }
}

/// A quadratic whose numbers overflow without the limit on ‖d‖.
template <class S> std::string message_of_overflow(const S &solver, double limit = infinity) {
  const CounterExample problem(IdentityMatrix(4), Vec::Ones(4).eval());
  auto state = problem.start();
  state.y.setConstant(10.0);
  const auto summary = solve(problem, solver, state, {.divergence_factor = limit});
  EXPECT_EQ(summary.termination, Termination::diverged) << summary.brief();
  EXPECT_CONTAINS(summary.message, " at step " + std::to_string(summary.iterations));
  return summary.message;
}

TEST(Diagnosis, OfALossThatNoStepMendsIsTheEndOfARunThatRecoversInVain) {
  const Crossing problem(Breaks::upper_value); // the way to the answer leads out of the domain of F
  for (const std::int64_t inner : {1, 20}) {
    auto state = problem.start();
    const auto summary = solve(problem, Rhg{.alpha = 0.1, .beta = 0.5, .inner = inner}, state,
                               {.max_iterations = 2000, .direction_tolerance = 1e-8, .recoveries = 12});
    EXPECT_FALSE(summary.converged()) << summary.brief();
    EXPECT_CONTAINS(summary.message, "upper level: the loss F is NaN");
  }
}

TEST(Diagnosis, NamesTheVariableThatIsNotFinite) {
  EXPECT_EQ(message_of_overflow(Rhg{.beta = 1e200, .inner = 3}),
            "lower level: y is not finite at step 1; try a smaller beta");
  EXPECT_EQ(message_of_overflow(Bagdc{.alpha = 0.1, .beta = std::numeric_limits<double>::max()}),
            "lower level: y is not finite at step 1; try a smaller beta");
  EXPECT_EQ(message_of_overflow(Bagdc{
                .alpha = 0.1, .beta = 0.2, .eta = std::numeric_limits<double>::max(), .dual = DualStep::constant}),
            "multiplier v is not finite at step 1; try a smaller eta");
  EXPECT_EQ(message_of_overflow(Nosa{.alpha = std::numeric_limits<double>::max()}),
            "upper level: x is not finite at step 2; try a smaller alpha");
}

TEST(Diagnosis, NamesTheStepThatIsTooLong) {
  for (const double limit : {1e10, infinity}) {
    const auto of_y = [&](const auto &solver) {
      const auto message = message_of_overflow(solver, limit);
      EXPECT_CONTAINS(message, limit < infinity ? "‖d‖ grew to " : "‖d‖ is not finite");
      EXPECT_CONTAINS(message, "the steps of y are too long, beta = 3 with 2/λ = 2");
      EXPECT_CONTAINS(message, "; try a smaller beta");
    };
    of_y(Bagdc{.alpha = 0.1, .beta = 3.0});
    of_y(Nosa{.beta = 3.0});
    of_y(Rhg{.beta = 3.0, .inner = 3});
    of_y(Neumann{.beta = 3.0, .inner = 3});
    EXPECT_CONTAINS(
        message_of_overflow(Bagdc{.alpha = 0.1, .beta = 0.2, .eta = 3.0, .dual = DualStep::constant}, limit),
        "the steps of v are too long, eta = 3 with 2/λ = 2");
  }
  EXPECT_CONTAINS(message_of_overflow(Bagdc{.alpha = 100.0, .beta = 0.2}, 1e10), ": x grew most, to ");
}

} // namespace
} // namespace duplex::testing
