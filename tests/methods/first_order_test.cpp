// Methods without second derivatives: where they end in closed form, by how much that is wrong, what they need of a
// problem, and what they refuse.

#include "saved_run.hpp"
#include "support.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace duplex::testing {
namespace {

template <class S> std::string refusal_of_step(const S &solver) {
  const auto problem = bent();
  auto state = problem.start();
  return refusal([&] { (void)run_steps(problem, solver, state, 1); });
}

TEST(FirstOrder, RefusesWrongOptions) {
  EXPECT_EQ(refusal_of_step(F2sa{.alpha = 0.0}), "f2sa: alpha = 0, expected > 0 and finite");
  EXPECT_EQ(refusal_of_step(F2sa{.inner = 0}), "f2sa: inner = 0, expected a whole number >= 1");
  EXPECT_EQ(refusal_of_step(F2sa{.penalty = -1.0}), "f2sa: penalty = -1, expected > 0 and finite");
  EXPECT_EQ(refusal_of_step(Pbgd{.penalty_growth = -1.0}), "pbgd: penalty-growth = -1, expected >= 0 and finite");
  EXPECT_EQ(refusal_of_step(Bome{.control = 0.0}), "bome: control = 0, expected > 0 and finite");
  EXPECT_EQ(refusal_of_step(Meha{.proximal = 0.0}), "meha: proximal = 0, expected > 0 and finite");
  EXPECT_CONTAINS(refusal_of_step(Meha{.penalty_exponent = 0.5}), "meha: penalty-exponent = 0.5, expected");
}

/// f = ½yᵀAy − xᵀy and F = ½‖x − e‖² + ½yᵀAy with a diagonal A.
const Vec curvatures = (Vec(3) << 1.0, 0.5, 0.25).finished();
OnDiagonal example() { return {DiagonalSpd<double>(curvatures), Vec::Ones(3)}; }

/// Where F + c (f − min f) has its minimum: xᵢ = 1/(1 + c/((1 + c) aᵢ)).
Vec penalized_answer(double c) { return (1.0 + c / (1.0 + c) / curvatures.array()).inverse(); }

template <class S> State<Vec> end_of(const S &solver, std::int64_t steps) {
  const auto problem = example();
  auto state = problem.start();
  const auto summary = solve(problem, solver, state, {.max_iterations = steps});
  EXPECT_FALSE(summary.failed()) << summary.brief();
  return state;
}

TEST(F2sa, EndsWhereThePenalizedProblemHasItsMinimum) {
  for (const double penalty : {1.0, 10.0, 100.0}) {
    const auto end =
        end_of(F2sa{.alpha = 0.2, .beta = 0.8, .inner = 60, .penalty = penalty, .penalty_growth = 0.0}, 400);
    EXPECT_LE((end.x - penalized_answer(penalty)).norm(), 1e-6 * penalty);
    EXPECT_LE((end.y - end.x.cwiseQuotient(curvatures)).norm(), 1e-5) << "y is the lower level's minimizer";
    const Vec multiplier = penalty / (1.0 + penalty) * end.x.cwiseQuotient(curvatures); // λ(z − w)
    EXPECT_LE((end.v - multiplier).norm(), 1e-4 * penalty);
  }
}

TEST(F2sa, IsWrongByTheInverseOfItsPenaltyAndRightWhereThatGrows) {
  const Vec answer = curvatures.array() / (1.0 + curvatures.array());
  const auto error_of = [&](double penalty, double growth) {
    return (end_of(F2sa{.alpha = 0.2, .beta = 0.8, .inner = 60, .penalty = penalty, .penalty_growth = growth}, 400).x -
            answer)
        .norm();
  };
  const double ten = error_of(10.0, 0.0);
  const double hundred = error_of(100.0, 0.0);
  EXPECT_NEAR(ten / hundred, 10.0, 1.0);
  EXPECT_LT(error_of(10.0, 1.0), 0.3 * hundred) << "the penalty is 410 at the end";
}

TEST(Pbgd, EndsWhereThePenalizedProblemHasItsMinimum) {
  for (const double penalty : {1.0, 10.0}) {
    const auto end = end_of(Pbgd{.alpha = 0.2, .beta = 0.8, .inner = 100, .penalty = penalty}, 6000);
    EXPECT_LE((end.x - penalized_answer(penalty)).norm(), 1e-6);
    EXPECT_LE((end.y - penalty / (1.0 + penalty) * end.x.cwiseQuotient(curvatures)).norm(), 1e-6);
  }
}

TEST(Bome, EndsAboutTheAnswerAsNearAsItsStepsAreShort) {
  const Vec answer = curvatures.array() / (1.0 + curvatures.array());
  const auto errors_of = [&](double alpha, std::int64_t steps) {
    const auto end = end_of(Bome{.alpha = alpha, .beta = 0.8, .inner = 20}, steps);
    return std::pair(relative_error(end.x, answer), (end.y - end.x.cwiseQuotient(curvatures)).norm() / end.y.norm());
  };
  const auto [of_x, of_y] = errors_of(0.02, 4000);
  const auto [less_of_x, less_of_y] = errors_of(0.002, 20'000);
  EXPECT_LT(of_x, 0.1);
  EXPECT_LT(less_of_x, 0.5 * of_x);
  EXPECT_LT(less_of_y, 0.5 * of_y);
}

/// For A = I and a weight c that stays: yᵢ = g xᵢ/(1/c + g) with g = γ/(γ + 1), and x = 1 − y.
TEST(Meha, EndsWhereItsConditionsSay) {
  const CounterExample problem(IdentityMatrix(2), Vec::Ones(2).eval());
  for (const double c : {1.0, 20.0}) {
    const double proximal = 4.0;
    auto state = problem.start();
    const Meha method{.alpha = 0.2, .beta = 0.3, .penalty = c, .penalty_exponent = 0.0, .proximal = proximal};
    (void)run_steps(problem, method, state, 6000);
    const double g = proximal / (proximal + 1.0);
    const double ratio = g / (1.0 / c + g);
    EXPECT_NEAR(state.x[0], 1.0 / (1.0 + ratio), 1e-8);
    EXPECT_NEAR(state.y[1], ratio / (1.0 + ratio), 1e-8);
  }
}

TEST(Meha, IsRightWhereItsPenaltyGrows) {
  const CounterExample problem(IdentityMatrix(2), Vec::Ones(2).eval());
  auto state = problem.start();
  (void)run_steps(problem, Meha{.alpha = 0.5, .beta = 0.3, .penalty = 4.0, .penalty_exponent = 0.4}, state, 40'000);
  EXPECT_NEAR(state.x[0], 0.5, 2e-3);
}

/// Gradients are right where second derivatives are not there: only a method that needs none can run on it.
struct OnlyGradients {
  using Vector = Vec;
  struct Lower : Point<Vec> {
    [[nodiscard]] double value() const { return 0.5 * y().squaredNorm() - x().dot(y()); }
    void grad_x(Vec &out) const { out = -y(); }
    void grad_y(Vec &out) const { out = y() - x(); }
  };
  struct Upper : Point<Vec> {
    [[nodiscard]] double value() const { return 0.5 * (x().array() - 1.0).square().sum() + 0.5 * y().squaredNorm(); }
    void grad_x(Vec &out) const { out = x().array() - 1.0; }
    void grad_y(Vec &out) const { out = y(); }
  };
  [[nodiscard]] Lower lower() const { return {}; }
  [[nodiscard]] Upper upper() const { return {}; }
  [[nodiscard]] Index x_size() const { return 2; }
  [[nodiscard]] Index y_size() const { return 2; }
  [[nodiscard]] State<Vec> start() const { return {Vec::Zero(2), Vec::Zero(2), {}}; }
};
static_assert(GradientsOnly<OnlyGradients> && !SecondOrderProblem<OnlyGradients>);

TEST(FirstOrder, RunsOnAProblemThatHasGradientsAlone) {
  auto state = OnlyGradients{}.start();
  const auto summary = solve(OnlyGradients{}, F2sa{.alpha = 0.5, .beta = 0.5, .penalty = 1e4, .penalty_growth = 0.0},
                             state, {.max_iterations = 2000, .kkt_tolerance = 1e-3});
  EXPECT_EQ(summary.termination, Termination::kkt_tolerance) << summary.brief() << ": ‖∇L‖ by differences";
  EXPECT_NEAR(state.x[0], 0.5, 1e-3);
  EXPECT_EQ(summary.counters.products(), 0);
  auto wild = OnlyGradients{}.start();
  const auto broken = solve(OnlyGradients{}, F2sa{.beta = 50.0}, wild, {.max_iterations = 2000});
  EXPECT_TRUE(broken.failed());
  EXPECT_CONTAINS(broken.message, "beta") << "which is to blame";
}

/// The same with products and without ∇x f.
struct NoSlopeInX : OnlyGradients {
  struct Lower : Point<Vec> {
    [[nodiscard]] double value() const { return 0.5 * y().squaredNorm() - x().dot(y()); }
    void grad_y(Vec &out) const { out = y() - x(); }
    void hess_yy(const Vec &v, Vec &out) const { out = v; }
    void cross_xy(const Vec &v, Vec &out) const { out = -v; }
  };
  [[nodiscard]] Lower lower() const { return {}; }
};

TEST(FirstOrder, IsRefusedWhereAProblemWhoseTypeIsForgottenLacksAGradient) {
  const AnyProblem<Vec> problem = NoSlopeInX{};
  auto state = problem.start();
  EXPECT_CONTAINS(refusal([&] { (void)solve(problem, Meha{}, state); }), "meha: the problem lacks lower().grad_x(out)");
  EXPECT_CONTAINS(refusal([&] { (void)solve(bounded(problem, -1.0, 1.0), Bome{}, state); }), "lacks lower().grad_x");
}

/// Two points of it, one of which is drawn at each step: the mean of its lower levels has y* = x.
struct DrawnGradients {
  using Vector = Vec;
  using Draw = int;
  struct Lower : Point<Vec> {
    const int *shift;
    explicit Lower(const int &draw) : shift(&draw) {}
    [[nodiscard]] Vec apart() const { return y() - x() - Vec::Constant(2, 0.1 * *shift); }
    [[nodiscard]] double value() const { return 0.5 * apart().squaredNorm(); }
    void grad_x(Vec &out) const { out = -apart(); }
    void grad_y(Vec &out) const { out = apart(); }
  };
  void draw(std::mt19937_64 &generator, int &shift) const { shift = generator() % 2 == 0 ? 1 : -1; }
  [[nodiscard]] Lower lower(const int &shift) const { return Lower(shift); }
  [[nodiscard]] OnlyGradients::Upper upper(const int & /*shift*/) const { return {}; }
  [[nodiscard]] Index x_size() const { return 2; }
  [[nodiscard]] Index y_size() const { return 2; }
  [[nodiscard]] State<Vec> start() const { return {Vec::Zero(2), Vec::Zero(2), {}}; }
};

TEST(FirstOrder, RunsOnSamplesThatHaveGradientsAlone) {
  auto state = DrawnGradients{}.start();
  const F2sa method{.alpha = 0.01, .beta = 0.05, .penalty = 5.0, .penalty_growth = 0.0};
  const auto summary = solve(DrawnGradients{}, method, state, {.max_iterations = 5000});
  EXPECT_EQ(summary.termination, Termination::max_iterations) << summary.brief();
  EXPECT_NEAR(state.x[0], 6.0 / 11.0, 0.1) << "1/(1 + c/(1 + c))";
  EXPECT_EQ(summary.counters.products(), 0);
}

TEST(Bome, DoesNotTakeAZeroDirectionForASolution) {
  const auto problem = RidgeSettings{.rho = 0.0}.generate<double>(); // ∇xF = 0 everywhere
  auto state = problem.start();
  const auto summary = solve(problem, Bome{.alpha = 0.01}, state, {.max_iterations = 5, .direction_tolerance = 1e-6});
  EXPECT_EQ(summary.termination, Termination::max_iterations) << summary.brief();
}

TEST(FirstOrder, GoesOnToTheSameBits) {
  const auto problem = bent();
  expect_same_bits(problem, F2sa{.alpha = 0.01, .inner = 3}, "f2sa");
  expect_same_bits(problem, Pbgd{.alpha = 0.01, .inner = 3, .penalty_growth = 0.5}, "pbgd");
  expect_same_bits(problem, Bome{.alpha = 0.01, .inner = 3}, "bome");
  expect_same_bits(problem, Meha{.alpha = 0.01}, "meha");
}

TEST(FirstOrder, DirectionsTendToTheHypergradientAsThePenaltyGrows) {
  const auto problem = bent();
  const auto error_of = [&](double penalty) {
    auto state = problem.start();
    const F2sa held{.alpha = 1e-12, .beta = 0.1, .inner = 4000, .penalty = penalty, .penalty_growth = 0.0};
    const auto steps = record(problem, held, state, 1);
    const Vec exact = ExactSolver(problem).at(state.x, state.y).hypergradient;
    return relative_error(steps.front().direction, exact);
  };
  const double ten = error_of(10.0);
  const double thousand = error_of(1000.0);
  EXPECT_LT(ten, 0.3);
  EXPECT_NEAR(std::log10(ten / thousand), 2.0, 0.2);
}

} // namespace
} // namespace duplex::testing
