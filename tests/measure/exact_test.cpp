// The truth against which methods are scored: y*, v*, φ and ∇φ, the answers that
// problems carry, the metrics, and what Theorem 3.3 promises.

#include "support.hpp"

#include <Eigen/Cholesky>

#include <algorithm>
#include <cmath>

namespace duplex::testing {
namespace {

/// A problem without its closed form, so that Newton's method has to find y*.
template <class P> class WithoutClosedForm {
public:
  using Vector = VectorOf<P>;
  explicit WithoutClosedForm(P problem) : problem_(std::move(problem)) {}
  [[nodiscard]] auto lower() const { return problem_.lower(); }
  [[nodiscard]] auto upper() const { return problem_.upper(); }
  [[nodiscard]] Index x_size() const { return problem_.x_size(); }
  [[nodiscard]] Index y_size() const { return problem_.y_size(); }

private:
  P problem_;
};

template <class P> std::string unavailable(const P &problem) {
  return refusal<NotAvailable>([&] {
    ExactSolver exact(problem);
    (void)exact.at(Vec::Ones(problem.x_size()), Vec::Zero(problem.y_size()));
  });
}

LinearResult conjugate_gradients(const Mat &h, const Vec &b, Vec &v, const LinearOptions &options) {
  ConjugateGradient<Vec> linear;
  return linear.solve([&](const Vec &in, Vec &out) { out = h * in; }, b, v, options);
}

TEST(ConjugateGradients, SayWhatTheMatrixTurnedOutToBe) {
  Vec v = Vec::Zero(2);
  const Mat singular = Vec::Unit(2, 0).asDiagonal();
  EXPECT_EQ(conjugate_gradients(singular, Vec::Ones(2), v, {}).status, LinearStatus::singular);
  v.setZero();
  const auto consistent = conjugate_gradients(singular, Vec::Unit(2, 0), v, {});
  EXPECT_EQ(consistent.status, LinearStatus::converged);
  EXPECT_TRUE(same_bits(v, Vec(Vec::Unit(2, 0))));
  v.setZero();
  const Mat indefinite = (Vec(2) << 1.0, -2.0).finished().asDiagonal();
  EXPECT_EQ(conjugate_gradients(indefinite, Vec::Ones(2), v, {}).status, LinearStatus::indefinite);
  v.setZero();
  const auto zero = conjugate_gradients(singular, Vec::Zero(2), v, {});
  EXPECT_EQ(zero.status, LinearStatus::converged);
  EXPECT_EQ(zero.steps, 0);
}

TEST(ConjugateGradients, EndAfterOneStepPerDistinctEigenvalue) {
  const Index n = 12;
  Vec spectrum(n);
  for (Index i = 0; i < n; ++i) {
    spectrum[i] = 1.0 + static_cast<double>(i % 4);
  }
  const Mat h = DenseSpd<double>::with_spectrum(spectrum, 3).entries();
  const Vec b = random_vector(n, 4);
  for (const double damping : {0.0, 0.5}) {
    const Vec solution = (h + damping * Mat::Identity(n, n)).ldlt().solve(b);
    Vec v = random_vector(n, 5); // a start that is not zero
    const auto solved = conjugate_gradients(h, b, v, {.tolerance = 1e-12, .damping = damping});
    EXPECT_EQ(solved.status, LinearStatus::converged);
    EXPECT_EQ(solved.steps, 4);
    EXPECT_LE(relative_error(v, solution), 1e-12);
    const auto cut = conjugate_gradients(h, b, v = Vec::Zero(n), {.max_steps = 3, .damping = damping});
    EXPECT_EQ(cut.status, LinearStatus::step_limit);
    EXPECT_NEAR(cut.relative_residual, (b - h * v - damping * v).norm() / b.norm(), 1e-14);
  }
}

TEST(ExactPointOf, ASingularLowerLevelIsNotAvailable) {
  constexpr auto expected = "the lower Hessian is singular, so y*(x) and ∇φ(x) are not defined";
  EXPECT_CONTAINS(unavailable(MultipleMinimizers<double>(3)), expected);   // by factorization
  EXPECT_CONTAINS(unavailable(MultipleMinimizers<double>(200)), expected); // by conjugate gradients
  EXPECT_CONTAINS(unavailable(QuadraticSettings{.null_space = 1}.generate<double>()), "f(x, ·) has no minimizer");
}

TEST(ExactPointOf, AnIndefiniteLowerLevelIsNotAvailable) {
  for (const Index m : {4, 300}) {
    Quadratic<double>::Data data{Mat::Identity(m + 1, m + 1), Vec::Ones(m + 1), Mat::Identity(m, m), Mat::Ones(1, m),
                                 Vec::Zero(m)};
    data.lower_hessian(0, 0) = -0.5 * static_cast<double>(m);
    EXPECT_CONTAINS(unavailable(Quadratic<double>(data)), "the lower Hessian is indefinite");
  }
}

template <class P> void expect_newton_finds_closed_form(const P &problem, double tolerance) {
  const WithoutClosedForm hidden(problem);
  static_assert(!ClosedFormLower<WithoutClosedForm<P>>);
  ExactSolver closed(problem);
  ExactSolver newton(hidden);
  for (const std::uint64_t seed : {1, 2}) { // the second solve starts at the first one's y*
    const Vec x = random_vector(problem.x_size(), seed);
    const auto &truth = closed.at(x, Vec::Zero(problem.y_size()));
    const auto &found = newton.at(x, random_vector(problem.y_size(), seed + 10));
    EXPECT_LE(relative_error(found.y, truth.y), tolerance);
    EXPECT_LE(relative_error(found.v, truth.v), tolerance);
    EXPECT_LE(relative_error(found.hypergradient, truth.hypergradient), tolerance);
    EXPECT_NEAR(found.value, truth.value, tolerance * std::abs(truth.value));
  }
}

TEST(ExactPointOf, SmallProblemsIsFoundByFactorization) {
  const Index m = 60;
  ASSERT_LE(m, ExactSolver<Bent<>>::direct_limit);
  expect_newton_finds_closed_form(
      CounterExample(DiagonalSpd<double>(log_spaced_spectrum<double>(m, 1e3, 1e-2)), random_vector(m, 3)), 1e-14);
  expect_newton_finds_closed_form(QuadraticSettings{}.generate<double>(), 1e-13);
  expect_newton_finds_closed_form(RidgeSettings{}.generate<double>(), 1e-13);
}

TEST(ExactPointOf, LargeProblemsIsFoundByConjugateGradients) {
  const Index m = ExactSolver<Bent<>>::direct_limit + 100;
  expect_newton_finds_closed_form(
      CounterExample(DiagonalSpd<double>(log_spaced_spectrum<double>(m, 100.0, 0.1)), random_vector(m, 3)), 1e-13);
}

TEST(ExactPointOf, AProblemThatIsNotQuadraticIsStationaryAndGivesTheGradientOfPhi) {
  for (const Index m : {Index(5), ExactSolver<Bent<>>::direct_limit + 100}) {
    const Mat w = Eigen::Map<const Mat>(random_vector(2 * m, 6).data(), m, 2);
    const Bent problem(w, 1.0 / static_cast<double>(m));
    const Vec x = random_vector(2, 7);
    ExactSolver exact(problem);
    const auto point = exact.at(x, Vec::Constant(m, 3.0));
    EXPECT_LE(point.lower_residual, 1e-14 * std::sqrt(static_cast<double>(m)));
    KktResidual kkt(problem);
    const auto blocks = kkt.at(x, point.y, point.v);
    EXPECT_LE(blocks.multiplier, 1e-13 * point.v.norm());
    EXPECT_NEAR(blocks.stationarity, point.hypergradient.norm(), 1e-14 * point.hypergradient.norm());
    const Vec differences = difference_gradient(x, [&](const Vec &moved) { return exact.at(moved, point.y).value; });
    EXPECT_LE(relative_error(point.hypergradient, differences), 1e-9) << m;
  }
}

template <class P> double kkt_at_answer(const P &problem) {
  const auto answer = problem.answer();
  EXPECT_TRUE(answer.has_value());
  KktResidual kkt(problem);
  auto up = problem.upper();
  up.at(answer->x, answer->y);
  EXPECT_DOUBLE_EQ(up.value(), answer->value);
  return kkt.at(answer->x, answer->y, answer->v).residual();
}

TEST(AnswerOf, EveryProblemSatisfiesTheKktConditions) {
  for (const std::uint64_t seed : {0, 1, 2}) {
    for (const Index null_space : {0, 4}) {
      EXPECT_LE(kkt_at_answer(QuadraticSettings{.null_space = null_space, .seed = seed}.generate<double>()), 1e-10);
    }
    EXPECT_LE(kkt_at_answer(RidgeSettings{.seed = seed}.generate<double>()), 1e-10);
  }
  EXPECT_LE(kkt_at_answer(QuadraticSettings{.n = 3, .m = 2, .condition = 1e4}.generate<double>()), 1e-10);
  EXPECT_EQ(kkt_at_answer(MultipleMinimizers<double>(4)), 0.0);
  EXPECT_LE(kkt_at_answer(CounterExample(IdentityMatrix(5), Vec::Ones(5).eval())), 1e-15);
}

TEST(AnswerOf, RidgeIsAMinimumAlongEveryCoordinate) {
  const auto problem = RidgeSettings{}.generate<double>();
  const auto answer = problem.answer();
  ASSERT_TRUE(answer.has_value());
  ExactSolver exact(problem);
  const double lowest = exact.at(answer->x, answer->y).value;
  for (Index i = 0; i < problem.x_size(); ++i) {
    for (const double shift : {-0.1, 0.1}) {
      Vec x = answer->x;
      x[i] += shift;
      EXPECT_GT(exact.at(x, answer->y).value, lowest);
    }
  }
}

TEST(KktBlocksOf, APointAreTheThreePartsOfTheLagrangiansGradient) {
  const Vec z0 = random_vector(3, 1);
  const CounterExample problem(IdentityMatrix(3), z0);
  const Vec x = random_vector(3, 2);
  const Vec y = random_vector(3, 3);
  const Vec v = random_vector(3, 4);
  KktResidual kkt(problem);
  const auto blocks = kkt.at(x, y, v);
  EXPECT_NEAR(blocks.stationarity, (x - z0 + v).norm(), 1e-15);
  EXPECT_NEAR(blocks.multiplier, (y - v).norm(), 1e-15);
  EXPECT_NEAR(blocks.feasibility, (y - x).norm(), 1e-15);
  EXPECT_NEAR(blocks.squared(), std::pow(blocks.residual(), 2), 1e-14);
}

TEST(MetricNamed, UnknownIsRefused) {
  const auto problem = bent();
  EXPECT_EQ(refusal([&] { (void)MetricBook(problem).metric("speed"); }), "metric 'speed' is not known");
}

TEST(MetricNamed, AfterTheAnswerIsNotAvailableWhereThatIsUnknown) {
  const auto problem = bent();
  for (const auto *name : {"phi-gap", "x-error"}) {
    EXPECT_CONTAINS(refusal<NotAvailable>([&] { (void)MetricBook(problem).metric(name); }), "answer is not known");
  }
  EXPECT_EQ(MetricBook(problem).metric("phi").name, "phi");
}

TEST(MetricNamed, EveryOneIsWhatItsNameSays) {
  const Index n = 5;
  const Vec z0 = random_vector(n, 1);
  const CounterExample problem(DenseSpd<double>::with_spectrum(log_spaced_spectrum<double>(n, 10.0, 0.5), 2), z0);
  const Mat &a = problem.matrix().entries();
  const auto answer = problem.answer();
  const MetricBook book(problem);
  Monitor<Vec> monitor;
  for (const auto name : metric_names) {
    if (name != "held-out") { // of which this problem has none
      monitor.metrics.push_back(book.metric(name));
    }
  }
  const auto upper = [&](const Vec &x, const Vec &y) { return 0.5 * (x - z0).squaredNorm() + 0.5 * y.dot(a * y); };
  const auto response = [&](const Vec &x) { return Vec(a.ldlt().solve(x)); };
  const auto slope = [&](const Vec &x) { return Vec(x - z0 + response(x)); };
  int seen = 0;
  monitor.stop_when = [&](const Progress<Vec> &p) {
    const auto &[x, y, v] = p.state;
    const double kkt =
        std::sqrt((x - z0 + v).squaredNorm() + (a * y - a * v).squaredNorm() + (a * y - x).squaredNorm());
    const double phi = upper(x, response(x));
    const double expected[] = {p.direction.norm(),
                               kkt,
                               upper(x, y),
                               slope(x).norm(),
                               (p.direction - slope(p.previous_x)).norm(),
                               phi,
                               std::abs(phi - answer->value) / answer->value,
                               relative_error(x, answer->x)};
    for (std::size_t i = 0; i < monitor.metrics.size(); ++i) {
      EXPECT_NEAR(p.metrics[i], expected[i], 1e-13 * std::max(1.0, expected[i])) << monitor.metrics[i].name;
    }
    ++seen;
    return false;
  };
  auto state = problem.start();
  (void)solve(problem, Bagdc{.alpha = 0.2, .beta = 0.2}, state, {.max_iterations = 4}, monitor);
  EXPECT_EQ(seen, 4);
}

TEST(MetricNamed, HypergradientIsTheSameWhateverWasMeasuredBefore) {
  const auto problem =
      HyperCleaningSettings{.samples = 60, .trusted = 30, .features = 8, .classes = 3}.generate<double>();
  auto state = problem.start();
  (void)solve(problem, with_given_steps, state, {.max_iterations = 7});
  ExactSolver<HyperCleaning<double>> anew(problem);
  ExactSolver<HyperCleaning<double>> used(problem);
  (void)used.at(problem.start().x, problem.start().y);
  const Vec fresh = anew.at(state.x, state.y).hypergradient;
  EXPECT_TRUE(same_bits(used.at(state.x, state.y).hypergradient, fresh));
}

TEST(MetricNamed, IsNotANumberWhereARunHasComeToWhereItDoesNotExist) {
  const CounterExample problem(IdentityMatrix(4), Vec(Vec::Ones(4)), 0.5);
  Monitor<Vec> monitor;
  const auto from_the_third_on = [](const Progress<Vec> &progress) -> double {
    if (progress.iteration >= 3) {
      throw NotAvailable("there is none here");
    }
    return 1.0;
  };
  monitor.metrics = {{"some", from_the_third_on}};
  auto state = problem.start();
  const auto summary = solve(problem, Nosa{}, state, {.max_iterations = 5}, monitor);
  EXPECT_EQ(summary.termination, Termination::max_iterations);
  EXPECT_TRUE(std::isnan(summary.metrics.front().second));
  monitor.metrics = {{"none", [](const Progress<Vec> &) -> double { throw NotAvailable("there is none"); }}};
  EXPECT_EQ(refusal<NotAvailable>([&] { (void)solve(problem, Nosa{}, state, {.max_iterations = 5}, monitor); }),
            "there is none");
}

TEST(AnswerOfTheCounterExample, IsExactForAnyScaleOrNotKnown) {
  for (const double condition : {1.0, 1e8, 1e12, 1e15}) {
    for (const double smallest : {1e-20, 1e-3, 1.0}) {
      const Vec a = log_spaced_spectrum<double>(300, condition, smallest);
      const CounterExample problem(DiagonalSpd<double>(a), Vec(Vec::Ones(300)), 0.5);
      const auto answer = problem.answer();
      ASSERT_TRUE(answer.has_value());
      for (Index i = 0; i < a.size(); ++i) {
        const long double exact = static_cast<long double>(a[i]) / (1.0L + static_cast<long double>(a[i]));
        EXPECT_NEAR(answer->x[i] / static_cast<double>(exact), 1.0, 1e-15);
      }
      const CounterExample dense(
          DenseSpd<double>::with_spectrum(log_spaced_spectrum<double>(30, condition, smallest), 3), Vec(Vec::Ones(30)),
          0.5);
      if (const auto found = dense.answer()) { // by a factorization in more digits
        using Quad = Eigen::Matrix<long double, Eigen::Dynamic, Eigen::Dynamic>;
        const Quad entries = dense.matrix().entries().cast<long double>();
        const Quad exact = (entries + Quad::Identity(30, 30)).llt().solve(entries * Quad::Ones(30, 1));
        EXPECT_LE((found->x.cast<long double>() - exact).norm(), 1e-7L * exact.norm()) << condition << " " << smallest;
      } else {
        EXPECT_GE(condition * smallest, 1e5);
      }
    }
  }
}

TEST(MetricNamed, PhiMayServeSeveralRuns) {
  const CounterExample problem(IdentityMatrix(2), Vec::Ones(2).eval());
  Monitor<Vec> monitor;
  monitor.metrics = {MetricBook(problem).metric("phi")};
  for (const double start : {2.0, -3.0}) {
    State<Vec> state{Vec::Constant(2, start), Vec::Zero(2), {}};
    const auto summary = solve(problem, Nosa{}, state, {.max_iterations = 1}, monitor);
    const double phi = 0.5 * (state.x.array() - 1.0).square().sum() + 0.5 * state.x.squaredNorm();
    EXPECT_NEAR(summary.metrics.front().second, phi, 1e-14);
  }
}

TEST(SufficientStepsOf, AProblemFollowTheFormula) {
  const auto unit = sufficient_steps({}); // σ = L = L_F = 1: M = 1, L_v = 2, L_φ = 4
  EXPECT_EQ(unit.beta, 1.0);
  EXPECT_EQ(unit.eta, 1.0);
  EXPECT_DOUBLE_EQ(unit.alpha, 0.5 / std::sqrt(5.0 + 24.0));
  EXPECT_DOUBLE_EQ(unit.weights.lower, 5.0 * unit.alpha);
  EXPECT_DOUBLE_EQ(unit.weights.multiplier, 2.0 * unit.alpha);
  EXPECT_DOUBLE_EQ(sufficient_steps({}, 0.5).alpha, 0.5 / std::sqrt(4.0 * (5.0 + 24.0)));
  EXPECT_EQ(sufficient_steps({}, 0.5).beta, 0.5);
  // κ = 3, C_v = 2, M = 4, L_v = 8, L_φ = 64, βσ = ησ = ½
  const auto general = sufficient_steps({2.0, 6.0, 3.0, 0.5, 4.0});
  EXPECT_EQ(general.beta, 0.25);
  EXPECT_DOUBLE_EQ(general.alpha, 0.5 / std::sqrt(4.0 * (16.0 * 37.0 * 9.0 + 6.0 * 36.0 * 64.0)));
  EXPECT_DOUBLE_EQ(general.weights.lower, general.alpha * 16.0 * 37.0 / 0.5);
  EXPECT_DOUBLE_EQ(general.weights.multiplier, 2.0 * general.alpha * 36.0 / 0.5);
}

TEST(SufficientStepsOf, AQuadraticAreReadFromItsSpectra) {
  const auto constants = QuadraticSettings{.condition = 8.0, .coupling = 0.0}.generate<double>().constants();
  EXPECT_NEAR(constants.sigma, 0.125, 1e-14);
  EXPECT_NEAR(constants.lower_lipschitz, 1.0, 1e-14);
  EXPECT_NEAR(constants.upper_lipschitz, 1.0, 1e-14);
}

/// V never increases, and min‖∇φ‖² ≤ 2(V₀ − inf φ)/(α(K + 1)) over x₀ … x_K.
template <class P> void expect_descent(const P &problem, const SufficientSteps &steps, State<Vec> state) {
  const Bagdc solver{.alpha = steps.alpha, .beta = steps.beta, .eta = steps.eta, .dual = DualStep::constant};
  state.v = random_vector(problem.y_size(), 9);
  ExactSolver exact(problem);
  Vec scratch;
  const auto value = [&](const State<Vec> &s) { return lyapunov_value(exact.at(s.x, s.y), s, steps.weights, scratch); };
  const double first = value(state);
  double before = first;
  double smallest = exact.at(state.x, state.y).hypergradient.squaredNorm();
  double k = 0.0;
  for (const auto &step : record(problem, solver, state, 300)) {
    const double now = value(step.state);
    EXPECT_LE(now, before + 1e-14 * std::abs(first));
    before = now;
    smallest = std::min(smallest, exact.at(step.state.x, step.state.y).hypergradient.squaredNorm());
    k += 1.0;
    EXPECT_LE(smallest, 2.0 * (first - problem.answer()->value) / (steps.alpha * (k + 1.0)));
  }
  EXPECT_LT(before, first);
}

TEST(LyapunovValue, NeverIncreasesWithSufficientSteps) {
  const CounterExample problem(IdentityMatrix(4), random_vector(4, 1));
  for (const double fraction : {1.0, 0.2}) {
    expect_descent(problem, sufficient_steps({}, fraction), {random_vector(4, 2), random_vector(4, 3), {}});
  }
  const auto quadratic = QuadraticSettings{.n = 4, .m = 5, .condition = 3.0}.generate<double>();
  expect_descent(quadratic, sufficient_steps(quadratic.constants()), {random_vector(4, 2), random_vector(5, 3), {}});
}

TEST(LyapunovValue, AddsWeightedDistances) {
  const ExactPoint<Vec> exact{Vec::Ones(2), Vec::Zero(2), Vec::Zero(2), 7.0, 0.0};
  const State<Vec> state{Vec::Zero(2), Vec::Constant(2, 3.0), Vec::Constant(2, 1.0)};
  Vec scratch;
  EXPECT_DOUBLE_EQ(lyapunov_value(exact, state, {}, scratch), 7.0 + 0.5 * 8.0 + 0.5 * 2.0);
  EXPECT_DOUBLE_EQ(lyapunov_value(exact, state, {.lower = 2.0, .multiplier = 10.0}, scratch), 7.0 + 16.0 + 20.0);
}

/// f = Σ log cosh(y − x), F = ½‖y − c‖²: far from y*(x) = x, f is all but linear.
class FlatTails {
public:
  using Vector = Vec;
  struct Lower : Point<Vec> {
    [[nodiscard]] double value() const {
      const auto size = (y() - x()).array().abs();
      return (size + (-2.0 * size).exp().log1p() - std::log(2.0)).sum();
    }
    void grad_y(Vec &out) const { out = (y() - x()).array().tanh(); }
    void hess_yy(const Vec &v, Vec &out) const { out = (1.0 - (y() - x()).array().tanh().square()) * v.array(); }
    void cross_xy(const Vec &v, Vec &out) const {
      hess_yy(v, out);
      out = -out;
    }
  };
  struct Upper : Point<Vec> {
    [[nodiscard]] double value() const { return 0.5 * (y().array() - 1.0).square().sum(); }
    void grad_x(Vec &out) const { out.setZero(); }
    void grad_y(Vec &out) const { out = y().array() - 1.0; }
  };
  [[nodiscard]] Lower lower() const { return {}; }
  [[nodiscard]] Upper upper() const { return {}; }
  [[nodiscard]] Index x_size() const { return 2; }
  [[nodiscard]] Index y_size() const { return 2; }
};

/// f = ½(y₁ − x₁)² + ½(1 + a y₁ + b y₁²)(y₂ − x₂)², F = ½‖y − 1‖²: from y = 0 with x₂ = 0 no step shows how the second
/// entry of H changes.
class HiddenChange {
public:
  using Vector = Vec;
  double a;
  double b;
  struct Lower : Point<Vec> {
    double a;
    double b;
    [[nodiscard]] double stiffness() const { return 1.0 + a * y()[0] + b * y()[0] * y()[0]; }
    [[nodiscard]] double slope() const { return a + 2.0 * b * y()[0]; }
    [[nodiscard]] double apart() const { return y()[1] - x()[1]; }
    [[nodiscard]] double value() const {
      return 0.5 * std::pow(y()[0] - x()[0], 2) + 0.5 * stiffness() * apart() * apart();
    }
    void grad_y(Vec &out) const { out << y()[0] - x()[0] + 0.5 * slope() * apart() * apart(), stiffness() * apart(); }
    void hess_yy(const Vec &v, Vec &out) const {
      const double mixed = slope() * apart();
      out << (1.0 + b * apart() * apart()) * v[0] + mixed * v[1], mixed * v[0] + stiffness() * v[1];
    }
    void cross_xy(const Vec &v, Vec &out) const { out << -v[0], -slope() * apart() * v[0] - stiffness() * v[1]; }
  };
  struct Upper : Point<Vec> {
    [[nodiscard]] double value() const { return 0.5 * (y().array() - 1.0).square().sum(); }
    void grad_x(Vec &out) const { out.setZero(); }
    void grad_y(Vec &out) const { out = y().array() - 1.0; }
  };
  [[nodiscard]] Lower lower() const { return {{}, a, b}; }
  [[nodiscard]] Upper upper() const { return {}; }
  [[nodiscard]] Index x_size() const { return 2; }
  [[nodiscard]] Index y_size() const { return 2; }
};

TEST(ExactPointOf, ALowerLevelIsThatOfItsHessianAtTheEndAlsoWhereNoStepShowsHowItChanges) {
  const HiddenChange stiffer{0.0, 1.0};
  EXPECT_LE(
      (ExactSolver(stiffer).at(Vec(Eigen::Vector2d(3.0, 0.0)), Vec::Zero(2)).hypergradient - Eigen::Vector2d(2.0, -1.0))
          .norm(),
      1e-12);
  const HiddenChange softer{-0.4, 0.0};
  EXPECT_LE(
      (ExactSolver(softer).at(Vec(Eigen::Vector2d(2.0, 0.0)), Vec::Zero(2)).hypergradient - Eigen::Vector2d(1.0, -1.0))
          .norm(),
      1e-12);
  const HiddenChange saddle{-1.0, 0.0};
  EXPECT_THROW((void)ExactSolver(saddle).at(Vec(Eigen::Vector2d(2.0, 0.0)), Vec::Zero(2)), NotAvailable);
  EXPECT_THROW((void)ExactSolver(saddle).at(Vec(Eigen::Vector2d(1.0, 0.0)), Vec::Zero(2)), NotAvailable)
      << "singular at its end";
}

/// f = ½ weight·y², F = ½(y − 1)² + ½(x − 1)².
struct Weighted {
  using Vector = Vec;
  double weight;
  struct Lower : Point<Vec> {
    double weight;
    [[nodiscard]] double value() const { return 0.5 * weight * y().squaredNorm(); }
    void grad_y(Vec &out) const { out = weight * y(); }
    void hess_yy(const Vec &v, Vec &out) const { out = weight * v; }
    void cross_xy(const Vec & /*v*/, Vec &out) const { out.setZero(); }
  };
  struct Upper : Point<Vec> {
    [[nodiscard]] double value() const {
      return 0.5 * (y().array() - 1.0).square().sum() + 0.5 * (x().array() - 1.0).square().sum();
    }
    void grad_x(Vec &out) const { out = x().array() - 1.0; }
    void grad_y(Vec &out) const { out = y().array() - 1.0; }
  };
  [[nodiscard]] Lower lower() const { return {{}, weight}; }
  [[nodiscard]] Upper upper() const { return {}; }
  [[nodiscard]] Index x_size() const { return 1; }
  [[nodiscard]] Index y_size() const { return 1; }
};

TEST(ExactPointOf, ALowerHessianThatIsZeroIsSingularAndOneThatIsTooSmallIsSaidToBe) {
  const auto unavailable = [](double weight) {
    const Weighted problem{weight};
    SlopeMeter<Vec> meter{ProblemView<Vec>(problem)};
    return meter.at(Vec::Zero(1), Vec::Zero(1), {.exactly = true}).unavailable;
  };
  EXPECT_EQ(unavailable(1.0), "");
  EXPECT_CONTAINS(unavailable(0.0), "the lower Hessian is singular");
  EXPECT_CONTAINS(unavailable(1e-200), "give f larger units");
}

TEST(ExactPointOf, ALowerLevelWithFlatTailsIsFoundFromFarOut) {
  const FlatTails problem;
  ExactSolver exact(problem);
  for (const double far : {3.0, 4.0, 8.0, 40.0, 1e4}) {
    const Vec x = (Vec(2) << far, 0.1).finished();
    const auto &point = exact.at(x, Vec::Zero(2));
    EXPECT_LE((point.y - x).norm(), 1e-13) << far;
    EXPECT_LE((point.hypergradient - (x.array() - 1.0).matrix()).norm(), 1e-12) << far;
  }
}

} // namespace
} // namespace duplex::testing
