// The direction d of each method, step by step, on a problem that is quadratic in
// nothing: where every term is taken matters here.

#include "support.hpp"

#include <algorithm>
#include <array>

namespace duplex::testing {
namespace {

/// The derivatives of bent_scalar(), written out by hand.
double lower_y(double x, double y) { return (1 + x * x) * y - std::sin(x) + 0.25 * std::exp(y - 0.5 * x); }
double lower_yy(double x, double y) { return 1 + x * x + 0.25 * std::exp(y - 0.5 * x); }
double lower_xy(double x, double y) { return 2 * x * y - std::cos(x) - 0.125 * std::exp(y - 0.5 * x); }
double upper_x(double x, double y) { return x - 0.5 + 0.5 * x * y * y; }
double upper_y(double x, double y) { return y - 1 + 0.5 * x * x * y; }
double upper_yy(double x, double /*y*/) { return 1 + 0.5 * x * x; }
double upper_xy(double x, double y) { return x * y; }

TEST(LineSearchRule, KeepsItsLastStepWhereTheCurvatureIsNotPositive) {
  LineSearch search(0.7, infinity);
  EXPECT_EQ(search.step(1.0, 0.0, 1.0), 0.7);
  EXPECT_EQ(search.step(1.0, -2.0, 1.0), 0.7);
  EXPECT_EQ(search.step(3.0, 2.0, 1.0), 1.5);
  EXPECT_EQ(search.step(1.0, 0.0, 1.0), 1.5);
  EXPECT_EQ(search.step(0.0, 0.0, 0.0), 1.5);
}

TEST(LineSearchRule, NeverExceedsItsCap) {
  LineSearch search(5.0, 2.0);
  EXPECT_EQ(search.step(1.0, 0.0, 1.0), 2.0);
  EXPECT_EQ(search.step(10.0, 1.0, 1.0), 2.0);
  EXPECT_EQ(search.step(1.0, 4.0, 1.0), 0.25);
}

struct AlgorithmOne {
  const char *label;
  Bagdc solver;
};

void PrintTo(const AlgorithmOne &c, std::ostream *out) { *out << c.label; }

class AlgorithmOneByHand : public ::testing::TestWithParam<AlgorithmOne> {};

TEST_P(AlgorithmOneByHand, GivesTheSameStepsAsBagdc) {
  Bagdc o = GetParam().solver;
  o.alpha = o.alpha > 0.0 ? o.alpha : 0.1;
  o.beta = o.beta > 0.0 ? o.beta : 0.2;
  const auto steps = record(bent_scalar(), o, {Vec::Constant(1, 0.9), Vec::Constant(1, -0.4), {}}, 60);
  ASSERT_EQ(steps.size(), 60U);
  double x = 0.9;
  double y = -0.4;
  double v = 0.0;
  for (int k = 0; k < 60; ++k) {
    const double mu = o.mu * std::pow(k + 1.0, -o.mu_decay);
    const bool theorem = o.schedule == Schedule::theorem;
    const double alpha = theorem ? o.alpha * std::pow(mu, 11) : o.alpha;
    const auto psi = [&](double upper, double lower) { return mu * o.lambda * upper + (1 - mu) * lower; };

    const double y_next = y - o.beta * psi(upper_y(x, y), lower_y(x, y));
    const double hessian = psi(upper_yy(x, y_next), lower_yy(x, y_next));
    double eta = theorem ? o.eta * std::pow(mu, 4) : o.eta;
    if (o.dual != DualStep::constant) { // in one dimension every direction is conjugate
      eta = (o.dual == DualStep::relaxed ? o.relaxation : 1.0) * std::min(1.0 / hessian, o.eta_cap);
    }
    v += eta * (upper_y(x, y_next) - hessian * v);
    const double d = upper_x(x, y_next) - psi(upper_xy(x, y), lower_xy(x, y)) * v;
    x -= alpha * d;
    y = y_next;

    const auto &step = steps[static_cast<std::size_t>(k)];
    ASSERT_NEAR(step.state.y[0], y, 1e-14) << "step " << k;
    ASSERT_NEAR(step.state.v[0], v, 1e-14) << "step " << k;
    ASSERT_NEAR(step.direction[0], d, 1e-14) << "step " << k;
    ASSERT_NEAR(step.state.x[0], x, 1e-14) << "step " << k;
    if (o.dual != DualStep::polak_ribiere) { // there η is a multiple of p, not of r
      ASSERT_NEAR(step.steps.eta, eta, 1e-14) << "step " << k;
    }
    ASSERT_NEAR(step.steps.mu, mu, 1e-15) << "step " << k;
    ASSERT_NEAR(step.steps.alpha, alpha, 1e-14 * alpha) << "step " << k;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Options, AlgorithmOneByHand,
    ::testing::Values(AlgorithmOne{"constant", {.eta = 0.4, .dual = DualStep::constant}},
                      AlgorithmOne{"adaptive", {.dual = DualStep::adaptive}},
                      AlgorithmOne{"relaxed", {.dual = DualStep::relaxed}}, AlgorithmOne{"capped", {.eta_cap = 0.55}},
                      AlgorithmOne{"polak-ribiere", {.dual = DualStep::polak_ribiere}},
                      AlgorithmOne{"aggregated", {.eta = 0.4, .dual = DualStep::constant, .mu = 0.5, .lambda = 0.7}},
                      AlgorithmOne{"aggregated adaptive", {.mu = 0.5, .mu_decay = 0.3}},
                      AlgorithmOne{"theorem 3.1",
                                   {.alpha = 204.8,
                                    .beta = 0.3,
                                    .eta = 8.0,
                                    .dual = DualStep::constant,
                                    .mu = 0.5,
                                    .mu_decay = 0.05,
                                    .schedule = Schedule::theorem}}));

TEST(GaussSeidelOrder, IsSeenInTheFirstDirection) {
  const double x = 0.9;
  const double y = -0.4;
  const double v = 0.6;
  const double eta = 0.4;
  const auto steps = record(bent_scalar(), Bagdc{.alpha = 0.1, .beta = 0.2, .eta = eta, .dual = DualStep::constant},
                            {Vec::Constant(1, x), Vec::Constant(1, y), Vec::Constant(1, v)}, 1);
  const double y_next = y - 0.2 * lower_y(x, y);
  const double v_next = v + eta * (upper_y(x, y_next) - lower_yy(x, y_next) * v);
  const double v_jacobi = v + eta * (upper_y(x, y) - lower_yy(x, y) * v);
  const double d = steps[0].direction[0];
  EXPECT_NEAR(d, upper_x(x, y_next) - lower_xy(x, y) * v_next, 1e-15);
  for (const double elsewhere : {
           upper_x(x, y_next) - lower_xy(x, y_next) * v_next, // cross product at y⁺
           upper_x(x, y) - lower_xy(x, y) * v_next,           // ∇xF at y
           upper_x(x, y_next) - lower_xy(x, y) * v_jacobi,    // multiplier moved at y
           upper_x(x, y_next) - lower_xy(x, y) * v,           // multiplier not moved
       }) {
    EXPECT_GT(std::abs(d - elsewhere), 1e-2);
  }
}

TEST(PolakRibiere, FollowsItsDefinitionInSeveralDimensions) {
  const auto problem = bent();
  const double beta = 0.2;
  const auto steps =
      record(problem, Bagdc{.alpha = 0.3, .beta = beta, .dual = DualStep::polak_ribiere}, problem.start(), 30);
  auto lower = problem.lower();
  auto upper = problem.upper();
  State<Vec> s = problem.start();
  Vec out(3);
  Vec r_before = Vec::Zero(3);
  Vec p = Vec::Zero(3);
  int restarts = 0;
  for (const auto &step : steps) {
    lower.at(s.x, s.y);
    lower.grad_y(out);
    s.y = (s.y - beta * out).eval();
    lower.at(s.x, s.y);
    upper.at(s.x, s.y);
    Vec r(3);
    upper.grad_y(r);
    lower.hess_yy(s.v, out);
    r -= out;
    const double mix = r_before.squaredNorm() > 0 ? r.dot(r - r_before) / r_before.squaredNorm() : 0.0;
    restarts += mix < 0.0 ? 1 : 0;
    p = (r + std::max(0.0, mix) * p).eval();
    r_before = r;
    lower.hess_yy(p, out);
    s.v += r.dot(p) / p.dot(out) * p;
    EXPECT_LE((step.state.y - s.y).norm(), 1e-13);
    EXPECT_LE((step.state.v - s.v).norm(), 1e-13);
    s = step.state; // x as the library moved it: its direction is tested above
  }
  EXPECT_GT(restarts, 0);
}

TEST(Nosa, FollowsItsDefinition) {
  const auto steps =
      record(bent_scalar(), Nosa{.alpha = 0.1, .beta = 0.2}, {Vec::Constant(1, 0.9), Vec::Constant(1, -0.4), {}}, 20);
  double x = 0.9;
  double y = -0.4;
  for (const auto &step : steps) {
    const double y_next = y - 0.2 * lower_y(x, y);
    const double d = upper_x(x, y_next) - 0.2 * lower_xy(x, y) * upper_y(x, y_next);
    x -= 0.1 * d;
    y = y_next;
    ASSERT_NEAR(step.direction[0], d, 1e-14);
    ASSERT_NEAR(step.state.x[0], x, 1e-14);
    ASSERT_NEAR(step.state.y[0], y, 1e-14);
  }
}

/// F(x, y_T) after T inner steps from y, the first `frozen` of them at `base`. With
/// u > 0 step t descends on (1 − u)f + (u/√(t+1))F.
double unrolled_value(const Vec &x, Vec y, std::int64_t inner, double beta, double u, std::int64_t frozen,
                      const Vec &base) {
  const auto problem = bent();
  auto lower = problem.lower();
  auto upper = problem.upper();
  Vec slope_of_f(3);
  Vec slope_of_upper(3);
  for (std::int64_t t = 0; t < inner; ++t) {
    const Vec &here = t < frozen ? base : x;
    lower.at(here, y);
    upper.at(here, y);
    lower.grad_y(slope_of_f);
    upper.grad_y(slope_of_upper);
    y -= beta * ((1 - u) * slope_of_f + u / std::sqrt(t + 1.0) * slope_of_upper);
  }
  upper.at(x, y);
  return upper.value();
}

/// Compares the second step's direction, where warm and cold starts differ.
template <class S> void expect_gradient_of_unrolled_value(const S &solver, double u, std::int64_t frozen) {
  const auto problem = bent();
  const auto steps = record(problem, solver, problem.start(), 2);
  const Vec x = steps[1].previous_x;
  const Vec y = solver.inner_start == InnerStart::warm ? steps[0].state.y : problem.start().y;
  const Vec expected = difference_gradient(
      x, [&](const Vec &moved) { return unrolled_value(moved, y, solver.inner, solver.beta, u, frozen, x); });
  EXPECT_LE(relative_error(steps[1].direction, expected), 1e-10)
      << S::name << " T = " << solver.inner << " " << name_of(solver.inner_start);
}

TEST(UnrolledHypergradientOf, RhgIsTheGradientOfItsUnrolledValue) {
  for (const std::int64_t inner : {1, 3, 7}) {
    for (const auto start : {InnerStart::warm, InnerStart::cold}) {
      expect_gradient_of_unrolled_value(Rhg{.beta = 0.2, .inner = inner, .inner_start = start}, 0.0, 0);
    }
  }
}

TEST(UnrolledHypergradientOf, TruncatedRhgTreatsTheFirstStepsAsConstant) {
  for (const std::int64_t kept : {1, 2, 5}) {
    expect_gradient_of_unrolled_value(Rhg{.beta = 0.2, .inner = 7, .kept = kept}, 0.0, 7 - kept);
  }
}

TEST(UnrolledHypergradientOf, BdaIsTheGradientOfItsUnrolledValue) {
  for (const std::int64_t inner : {1, 3, 7}) {
    for (const auto start : {InnerStart::warm, InnerStart::cold}) {
      expect_gradient_of_unrolled_value(Bda{.beta = 0.2, .inner = inner, .aggregation = 0.4, .inner_start = start}, 0.4,
                                        0);
    }
  }
}

TEST(UnrolledHypergradientOf, RhgThatKeepsAllStepsIsTheFullOne) {
  const auto problem = bent();
  auto full = problem.start();
  (void)run_steps(problem, Rhg{.inner = 6}, full, 5);
  for (const std::int64_t kept : {6, 100}) {
    auto truncated = problem.start();
    (void)run_steps(problem, Rhg{.inner = 6, .kept = kept}, truncated, 5);
    EXPECT_TRUE(same_bits(full, truncated));
  }
  auto truncated = problem.start();
  (void)run_steps(problem, Rhg{.inner = 6, .kept = 5}, truncated, 5);
  EXPECT_FALSE(same_bits(full, truncated));
}

TEST(ConvergedInnerLoop, GivesEveryNestedMethodTheExactHypergradient) {
  const auto problem = bent();
  const auto start = problem.start();
  ExactSolver exact(problem);
  const auto &truth = exact.at(start.x, start.y);
  const auto agrees = [&](const auto &solver) {
    const auto step = record(problem, solver, start, 1).front();
    EXPECT_LE(relative_error(step.direction, truth.hypergradient), 1e-13) << solver.name;
    EXPECT_LE(relative_error(step.state.v, truth.v), 1e-13) << solver.name;
    EXPECT_LE(relative_error(step.state.y, truth.y), 1e-13) << solver.name;
  };
  agrees(Cg{.inner = 400, .epsilon = 1e-15, .linear_steps = 10});
  agrees(Cg{.inner = 400, .epsilon = 1e-15, .linear_steps = 10, .warm_multiplier = true});
  agrees(Neumann{.inner = 400, .terms = 400});
  agrees(Neumann{.inner = 400, .terms = 400, .series_step = 0.3});
  agrees(Rhg{.inner = 400});
}

TEST(ConvergedInnerLoop, TakesMoreThanAFewStepsToBeExact) {
  const auto problem = bent();
  const auto start = problem.start();
  ExactSolver exact(problem);
  const Vec truth = exact.at(start.x, start.y).hypergradient;
  const auto error = [&](const auto &solver) {
    return relative_error(record(problem, solver, start, 1).front().direction, truth);
  };
  EXPECT_GT(error(Cg{.inner = 400, .linear_steps = 1}), 1e-3);
  EXPECT_GT(error(Cg{.inner = 1, .linear_steps = 10}), 1e-3);
  EXPECT_GT(error(Cg{.inner = 400, .damping = 0.1}), 1e-3);
  EXPECT_GT(error(Neumann{.inner = 400, .terms = 5}), 1e-3);
}

TEST(UpperVariable, FollowsMomentumAsWrittenByHand) {
  const auto problem = bent();
  const Bagdc solver{.alpha = 0.05, .beta = 0.2, .upper = {.method = UpperMethod::momentum, .momentum = 0.7}};
  Vec x = problem.start().x;
  Vec move = Vec::Zero(2);
  for (const auto &step : record(problem, solver, problem.start(), 30)) {
    move = 0.7 * move + step.direction;
    x -= 0.05 * move;
    ASSERT_LE((step.state.x - x).norm(), 1e-15);
  }
}

TEST(UpperVariable, FollowsAdamAsWrittenByHand) {
  const auto problem = bent();
  const UpperRule rule{.method = UpperMethod::adam, .adam_beta1 = 0.8, .adam_beta2 = 0.95, .adam_epsilon = 1e-3};
  Vec x = problem.start().x;
  Vec first = Vec::Zero(2);
  Vec second = Vec::Zero(2);
  double t = 0.0;
  for (const auto &step : record(problem, Rhg{.alpha = 0.05, .inner = 3, .upper = rule}, problem.start(), 30)) {
    t += 1.0;
    for (Index i = 0; i < 2; ++i) {
      const double d = step.direction[i];
      first[i] = 0.8 * first[i] + 0.2 * d;
      second[i] = 0.95 * second[i] + 0.05 * d * d;
      x[i] -= 0.05 * (first[i] / (1 - std::pow(0.8, t))) / (std::sqrt(second[i] / (1 - std::pow(0.95, t))) + 1e-3);
    }
    ASSERT_LE((step.state.x - x).norm(), 1e-14);
  }
}

} // namespace
} // namespace duplex::testing
