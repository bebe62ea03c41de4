// Which step a run that breaks and recovers blames: judged where it was good, not where its steps have thrown it.

#include "support.hpp"

#include <limits>
#include <string>

namespace duplex::testing {
namespace {

constexpr Options recovering{.max_iterations = 3000, .direction_tolerance = 1e-8, .recoveries = 12};

template <class P, class S>
Summary expect_blame(const P &problem, const S &solver, const std::string &step, State<Vec> &state,
                     Options options = recovering) {
  const auto summary = solve(problem, solver, state, options);
  EXPECT_TRUE(summary.converged()) << summary.brief();
  EXPECT_FALSE(summary.recoveries.empty()) << summary.brief();
  for (const auto &recovery : summary.recoveries) {
    EXPECT_CONTAINS(recovery, "; try a smaller " + step);
  }
  return summary;
}

template <class S> Summary expect_blame_on_ridge(const S &solver, const std::string &step) {
  const auto problem = RidgeSettings{}.generate<double>(); // penalties are exp(x)
  auto state = problem.start();
  Options coarse = recovering;
  coarse.direction_tolerance = 1e-6;
  return expect_blame(problem, solver, step, state, coarse);
}

TEST(Blame, IsOnXWhereItRanToWhereTheLowerLevelIsStiff) {
  for (const double alpha : {100.0, 1000.0}) {
    for (const double beta : {0.1, 0.2}) {
      const auto summary = expect_blame_on_ridge(Bagdc{.alpha = alpha, .beta = beta}, "alpha");
      EXPECT_CONTAINS(summary.recoveries.front(), "x ran to where the lower level's curvature is ");
    }
  }
}

TEST(Blame, IsOnYWhereItsStepsHardlyHeldBefore) {
  for (const auto &recovery : {expect_blame_on_ridge(Rhg{.alpha = 10.0, .beta = 0.5}, "beta").recoveries.front(),
                               expect_blame_on_ridge(Cg{.alpha = 10.0, .beta = 0.5}, "beta").recoveries.front()}) {
    EXPECT_CONTAINS(recovery, "the steps of y are too long where x went, and hardly short enough before, beta = 0.5");
    EXPECT_CONTAINS(recovery, "with beta = 0.05");
  }
}

TEST(Blame, IsOnASeriesWhoseStepIsTooLong) {
  const auto wild = expect_blame_on_ridge(Neumann{.alpha = 10.0, .beta = 0.1, .series_step = 10.0}, "series-step");
  EXPECT_CONTAINS(wild.recoveries.front(), "the steps of v are too long, series-step = 10 with 2/λ = ");
  EXPECT_EQ(wild.recoveries.size(), 1U); // to 1/λ at once
  const auto hardly = expect_blame_on_ridge(Neumann{.alpha = 10.0, .beta = 0.1, .series_step = 0.5}, "series-step");
  EXPECT_EQ(hardly.recoveries.size(), 1U);
}

TEST(Blame, IsOnXWhereAMultiplierThatIsComputedAnewFollowsIt) {
  const auto problem = QuadraticSettings{.n = 6, .m = 8}.generate<double>();
  const auto expect = [&](const auto &solver) {
    auto state = problem.start();
    const auto summary = solve(problem, solver, state, {.max_iterations = 500, .recoveries = 12});
    EXPECT_FALSE(summary.failed()) << summary.brief();
    ASSERT_FALSE(summary.recoveries.empty());
    for (const auto &recovery : summary.recoveries) {
      EXPECT_CONTAINS(recovery, "; try a smaller alpha; ");
    }
  };
  expect(Cg{.alpha = 30.0, .beta = 0.3, .inner = 20});
  expect(Rhg{.alpha = 30.0, .beta = 0.3, .inner = 20});
  expect(Nosa{.alpha = 30.0, .beta = 0.3});
  expect(Neumann{.alpha = 30.0, .beta = 0.3, .series_step = 10.0, .naive = true}); // one term breaks by no step
}

/// In one variable, with F = ½(x − 3)² + ½(y − 1)².
template <class F> class InOneVariable {
public:
  using Vector = Vec;
  class Lower : public Point<Vec> {
  public:
    [[nodiscard]] double value() const { return F::value(x()[0], y()[0]); }
    void grad_y(Vec &out) const { out.setConstant(1, F::slope(x()[0], y()[0])); }
    void hess_yy(const Vec &v, Vec &out) const { out = F::curvature(x()[0], y()[0]) * v; }
    void cross_xy(const Vec &v, Vec &out) const { out = F::cross(x()[0], y()[0]) * v; }
  };
  class Upper : public Point<Vec> {
  public:
    [[nodiscard]] double value() const { return 0.5 * std::pow(x()[0] - 3.0, 2) + 0.5 * std::pow(y()[0] - 1.0, 2); }
    void grad_x(Vec &out) const { out.setConstant(1, x()[0] - 3.0); }
    void grad_y(Vec &out) const { out.setConstant(1, y()[0] - 1.0); }
  };
  [[nodiscard]] Lower lower() const { return {}; }
  [[nodiscard]] Upper upper() const { return {}; }
  [[nodiscard]] static Index x_size() { return 1; }
  [[nodiscard]] static Index y_size() { return 1; }
};

/// y²/2 − xy − log y, on y > 0.
struct Barrier {
  static double value(double x, double y) { return 0.5 * y * y - x * y - std::log(y); }
  static double slope(double x, double y) { return y > 0.0 ? y - x - 1.0 / y : not_a_number; }
  static double curvature(double /*x*/, double y) { return y > 0.0 ? 1.0 + 1.0 / (y * y) : not_a_number; }
  static double cross(double /*x*/, double /*y*/) { return -1.0; }
  static constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();
};

/// y⁴/4 + y²/2 − xy.
struct Quartic {
  static double value(double x, double y) { return 0.25 * std::pow(y, 4) + 0.5 * y * y - x * y; }
  static double slope(double x, double y) { return y * y * y + y - x; }
  static double curvature(double /*x*/, double y) { return 3.0 * y * y + 1.0; }
  static double cross(double /*x*/, double /*y*/) { return -1.0; }
};

/// eˣ(y − x)²/2.
struct Stiffening {
  static double value(double x, double y) { return 0.5 * std::exp(x) * (y - x) * (y - x); }
  static double slope(double x, double y) { return std::exp(x) * (y - x); }
  static double curvature(double x, double /*y*/) { return std::exp(x); }
  static double cross(double x, double y) { return std::exp(x) * (y - x - 1.0); }
};

/// Of the run's x and y at its end.
template <class F, class S>
std::pair<double, double> end_with_blame(const S &solver, const std::string &step, double x = 1.0, double y = 1.0) {
  State<Vec> state{Vec::Constant(1, x), Vec::Constant(1, y), Vec::Zero(1)};
  (void)expect_blame(InOneVariable<F>(), solver, step, state);
  return {state.x[0], state.y[0]};
}

TEST(Blame, IsOnXWhereItDragsYOutOfADomain) {
  const auto [x, y] = end_with_blame<Barrier>(Bagdc{.alpha = 30.0, .beta = 0.1}, "alpha");
  EXPECT_NEAR(x, 1.8878, 1e-4);
  EXPECT_NEAR(y, 2.3190, 1e-4);
}

TEST(Blame, IsOnYWhereItLeavesADomainByItself) {
  const auto [x, y] = end_with_blame<Barrier>(Bagdc{.alpha = 0.1, .beta = 2.0}, "beta");
  EXPECT_NEAR(x, 1.8878, 1e-4);
  EXPECT_NEAR(y, 2.3190, 1e-4);
}

TEST(Blame, IsOnXWhereYCannotFollowIt) {
  const auto [x, y] = end_with_blame<Quartic>(Bagdc{.alpha = 100.0, .beta = 0.1}, "alpha");
  EXPECT_NEAR(x, 2.96155, 1e-4);
  EXPECT_NEAR(y, 1.20628, 1e-4);
}

TEST(Blame, IsOnYWhereXBelongsWhereItsStepsAreTooLong) {
  const auto [x, y] = end_with_blame<Stiffening>(Rhg{.alpha = 0.1, .beta = 0.3, .inner = 100}, "beta", 0.0, 0.0);
  EXPECT_NEAR(x, 2.0, 1e-4); // in the middle of 3 and 1
  EXPECT_NEAR(y, 2.0, 1e-4);
}

TEST(Blame, IsOnYWhereATenthOfItsStepsFollowsX) {
  const auto [x, y] = end_with_blame<Quartic>(Cg{.alpha = 0.5, .beta = 1.2, .inner = 20}, "beta", 0.0, 0.0);
  EXPECT_NEAR(x, 2.96155, 1e-4);
  EXPECT_NEAR(y, 1.20628, 1e-4);
}

TEST(Blame, IsOnYWhereItDoesNotStayEvenWhereXDoes) {
  const auto [x, y] = end_with_blame<Quartic>(Bagdc{.alpha = 1e-2, .beta = 1.0}, "beta", 100.0, 0.0);
  EXPECT_NEAR(x, 2.96155, 1e-4);
  EXPECT_NEAR(y, 1.20628, 1e-4);
}

TEST(Blame, IsOnXWhereYOverflowsInFollowingIt) {
  const auto [x, y] = end_with_blame<Barrier>(Cg{.alpha = 30.0, .beta = 0.3, .inner = 100}, "alpha");
  EXPECT_NEAR(x, 1.8878, 1e-4);
  EXPECT_NEAR(y, 2.3190, 1e-4);
}

TEST(Blame, ThatIsGuessedAndInVainFallsOnAllSteps) {
  auto state = QuadraticSettings{}.generate<double>().start();
  Recovery<Vec> recovery(StepOptions::of(Neumann{.alpha = 1.0, .beta = 1.0}), state, 9);
  Diagnosis guess{{"", "", Role::upper_step}, "", true};
  guess.cause.guessed = true;
  EXPECT_EQ(recovery.go_back(guess, {}, 1, state), "; back to step 0 with alpha = 0.1");
  EXPECT_EQ(recovery.go_back(guess, {}, 2, state),
            "; back to step 0 with alpha = 0.01, beta = 0.1, since that was in vain before");
  recovery.learn(40, 1.0, state); // from a later good state on, the first guess counts again
  EXPECT_EQ(recovery.go_back(guess, {}, 41, state), "; back to step 40 with alpha = 0.001");
}

} // namespace
} // namespace duplex::testing
