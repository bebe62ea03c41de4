// The one rule by which a run may say that it has succeeded, and what it is made of: a hypergradient with an error that
// is measured, beside that of the start.

#include "support.hpp"

#include "reproduce/least_squares.hpp"

#include <Eigen/Cholesky>

#include <array>

namespace duplex::testing {
namespace {

using reproduce::LeastSquares;

/// f = y log y − y − xy with y*(x) = eˣ, F = ½(x − 1)² + ½(y − 2)²: not finite at y = 0.
class Entropy {
public:
  using Vector = Vec;
  struct Lower : Point<Vec> {
    [[nodiscard]] double value() const { return (y().array() * y().array().log() - y().array()).sum() - x().dot(y()); }
    void grad_y(Vec &out) const { out = y().array().log().matrix() - x(); }
    void hess_yy(const Vec &v, Vec &out) const { out = v.cwiseQuotient(y()); }
    void cross_xy(const Vec &v, Vec &out) const { out = -v; }
  };
  struct Upper : Point<Vec> {
    [[nodiscard]] double value() const {
      return 0.5 * (x().array() - 1.0).square().sum() + 0.5 * (y().array() - 2.0).square().sum();
    }
    void grad_x(Vec &out) const { out = x().array() - 1.0; }
    void grad_y(Vec &out) const { out = y().array() - 2.0; }
  };
  [[nodiscard]] Lower lower() const { return {}; }
  [[nodiscard]] Upper upper() const { return {}; }
  [[nodiscard]] Index x_size() const { return 1; }
  [[nodiscard]] Index y_size() const { return 1; }
  [[nodiscard]] State<Vec> start() const { return {Vec::Constant(1, -1.0), Vec::Ones(1), {}}; }
};

TEST(ExactPointOf, ALowerLevelThatIsNotFiniteAtZeroIsFoundWithinItsDomain) {
  const Entropy problem;
  ExactSolver exact(problem);
  const auto &point = exact.at(Vec::Constant(1, -1.0), Vec::Ones(1));
  EXPECT_NEAR(point.y[0], std::exp(-1.0), 1e-15);
  EXPECT_NEAR(point.hypergradient[0], -2.0 + (std::exp(-1.0) - 2.0) * std::exp(-1.0), 1e-14);
  EXPECT_TRUE(check(problem, problem.start(), {.spread = 0.1}).passes());
  EXPECT_TRUE(certify(problem, problem.start(), problem.start()).holds());
  auto state = problem.start();
  EXPECT_EQ(solve(problem, Automatic{}, state).termination, Termination::tolerance_verified);
}

/// f = (1 + x)y + ½y² − ε log y and F = ½(y − 1)² + 10⁻⁴(x − 1)². For y < 0 f is NaN, and yet its formula's slope is
/// finite there and has a zero with positive curvature; or everything is as codes of barriers often have it.
class LogBarrier {
public:
  using Vector = Vec;
  enum class Beyond { formula, infinite_and_flat };
  static constexpr double epsilon = 1e-3;

  explicit LogBarrier(Beyond beyond) : beyond_(beyond) {}

  class Lower : public Point<Vec> {
  public:
    explicit Lower(Beyond beyond) : beyond_(beyond) {}
    [[nodiscard]] double value() const {
      const double at = y()[0];
      return is_flat() ? infinity : (1.0 + x()[0]) * at + 0.5 * at * at - epsilon * std::log(at);
    }
    void grad_y(Vec &out) const { out[0] = is_flat() ? 0.0 : 1.0 + x()[0] + y()[0] - epsilon / y()[0]; }
    void hess_yy(const Vec &v, Vec &out) const {
      out[0] = is_flat() ? v[0] : v[0] * (1.0 + epsilon / (y()[0] * y()[0]));
    }
    void cross_xy(const Vec &v, Vec &out) const { out[0] = v[0]; }

  private:
    [[nodiscard]] bool is_flat() const { return beyond_ == Beyond::infinite_and_flat && y()[0] <= 0.0; }
    Beyond beyond_;
  };
  struct Upper : Point<Vec> {
    [[nodiscard]] double value() const {
      return 0.5 * (y()[0] - 1.0) * (y()[0] - 1.0) + 1e-4 * (x()[0] - 1.0) * (x()[0] - 1.0);
    }
    void grad_x(Vec &out) const { out[0] = 2e-4 * (x()[0] - 1.0); }
    void grad_y(Vec &out) const { out[0] = y()[0] - 1.0; }
  };
  [[nodiscard]] Lower lower() const { return Lower(beyond_); }
  [[nodiscard]] Upper upper() const { return {}; }
  [[nodiscard]] Index x_size() const { return 1; }
  [[nodiscard]] Index y_size() const { return 1; }

  [[nodiscard]] static double answer(double x) {
    const double b = 1.0 + x;
    const double root = std::sqrt(b * b + 4.0 * epsilon);
    return b > 0.0 ? 2.0 * epsilon / (b + root) : 0.5 * (root - b);
  }
  [[nodiscard]] static double slope(double x) {
    const double y = answer(x);
    return 2e-4 * (x - 1.0) - (y - 1.0) / (1.0 + epsilon / (y * y));
  }

private:
  Beyond beyond_;
};

template <class Visit> void with_each_barrier(const Visit &visit) {
  for (const auto beyond : {LogBarrier::Beyond::formula, LogBarrier::Beyond::infinite_and_flat}) {
    for (const double x : {0.5, 1.0, 3.0, 10.0, 100.0}) {
      for (const double y : {1e-3, 0.1, 1.0, 10.0, 1e3}) {
        visit(LogBarrier(beyond), x, y);
      }
    }
  }
}

TEST(SlopeMeterAt, APointWhoseLowerLevelHasADomainStaysInIt) {
  with_each_barrier([](const LogBarrier &problem, double x, double y) {
    SlopeMeter<Vec> meter{ProblemView<Vec>(problem)};
    const Vec at = Vec::Constant(1, x);
    const auto slope = meter.at(at, Vec::Constant(1, y), {});
    ASSERT_TRUE(slope.known()) << slope.unavailable << " at " << x << " from " << y;
    EXPECT_NEAR(meter.y()[0], LogBarrier::answer(x), 1e-9);
    EXPECT_NEAR(slope.norm, std::abs(LogBarrier::slope(x)), slope.error + 1e-12) << x << " from " << y;
  });
}

TEST(SlopeMeterAt, APointThatIsReachedFromBeyondTheDomainOfTheLowerLevelIsNoAnswer) {
  const LogBarrier problem(LogBarrier::Beyond::formula);
  SlopeMeter<Vec> meter{ProblemView<Vec>(problem)};
  const Vec x = Vec::Ones(1);
  const auto slope = meter.at(x, Vec::Constant(1, -2.0), {}); // f is NaN, and its slope all but zero
  EXPECT_FALSE(slope.known());
  EXPECT_CONTAINS(slope.unavailable, "f is not finite");
}

TEST(AClaimOfSuccess, OfALowerLevelWithADomainIsMeasuredWithinIt) {
  int claims = 0;
  int measured_starts = 0;
  with_each_barrier([&](const LogBarrier &problem, double x, double y) {
    State<Vec> state{Vec::Constant(1, x), Vec::Constant(1, y), {}};
    const auto start = state;
    const auto summary = solve(problem, Automatic{}, state);
    if (summary.converged()) {
      ++claims;
      EXPECT_LE(std::abs(LogBarrier::slope(state.x[0])), 1.001e-5 * std::abs(LogBarrier::slope(x)))
          << x << " from " << y << ": " << summary.brief();
    }
    const auto certificate = certify(problem, start, state);
    if (certificate.first_hypergradient) {
      ++measured_starts;
      EXPECT_NEAR(*certificate.first_hypergradient, std::abs(LogBarrier::slope(x)),
                  0.02 * std::abs(LogBarrier::slope(x)));
    }
  });
  EXPECT_GE(claims, 1);
  EXPECT_GE(measured_starts, 1);
  RecordProperty("claims", claims);
  RecordProperty("measured_starts", measured_starts);
}

/// f = ¼y₁⁴ + ½y₁² − x₁y₁ + c(e^{y₂} − e^{x₂}y₂) and F = ½(y₁ − 2)² + tanh y₂: y₂* = x₂, whatever c is, and all of
/// what y₂ makes of ∇y f may be less than the rounding of the rest.
struct SmallCurvature {
  using Vector = Vec;
  struct Lower : Point<Vec> {
    explicit Lower(double weight) : c(weight) {}
    [[nodiscard]] double value() const {
      const double a = y()[0];
      return 0.25 * std::pow(a, 4) + 0.5 * a * a - x()[0] * a + c * (std::exp(y()[1]) - std::exp(x()[1]) * y()[1]);
    }
    void grad_y(Vec &out) const {
      out[0] = std::pow(y()[0], 3) + y()[0] - x()[0];
      out[1] = c * (std::exp(y()[1]) - std::exp(x()[1]));
    }
    void hess_yy(const Vec &v, Vec &out) const {
      out[0] = (3.0 * y()[0] * y()[0] + 1.0) * v[0];
      out[1] = c * std::exp(y()[1]) * v[1];
    }
    void cross_xy(const Vec &v, Vec &out) const {
      out[0] = -v[0];
      out[1] = -c * std::exp(x()[1]) * v[1];
    }
    double c;
  };
  struct Upper : Point<Vec> {
    [[nodiscard]] double value() const { return 0.5 * std::pow(y()[0] - 2.0, 2) + std::tanh(y()[1]); }
    void grad_x(Vec &out) const { out.setZero(); }
    void grad_y(Vec &out) const {
      out[0] = y()[0] - 2.0;
      out[1] = 1.0 / std::pow(std::cosh(y()[1]), 2);
    }
  };
  [[nodiscard]] Lower lower() const { return Lower(c); }
  [[nodiscard]] Upper upper() const { return {}; }
  [[nodiscard]] Index x_size() const { return 2; }
  [[nodiscard]] Index y_size() const { return 2; }

  [[nodiscard]] static double slope(const Vec &x) {
    double a = 0.0;
    for (int i = 0; i < 200; ++i) {
      a -= (a * a * a + a - x[0]) / (3.0 * a * a + 1.0);
    }
    return std::hypot((a - 2.0) / (3.0 * a * a + 1.0), 1.0 / std::pow(std::cosh(x[1]), 2));
  }
  double c;
};

TEST(SlopeMeterAt, APointJudgesEveryEntryOfYBesideItsOwnRounding) {
  for (const double c : {1e-6, 1e-12, 1e-18, 1e-25, 1e-40, 1e-100, 1e-250}) {
    const SmallCurvature problem{c};
    for (const double y : {-3.0, 0.0, 5.0, 12.0, 20.0, 30.0}) {
      SlopeMeter<Vec> meter{ProblemView<Vec>(problem)};
      const Vec x = (Vec(2) << 1.0, 0.3).finished();
      const auto slope = meter.at(x, (Vec(2) << 0.5, y).finished(), {});
      ASSERT_TRUE(slope.known()) << slope.unavailable << " for c = " << c << " from " << y;
      EXPECT_NEAR(meter.y()[1], 0.3, 1e-9) << c << " from " << y;
      EXPECT_NEAR(slope.norm, SmallCurvature::slope(x), 1e-9) << c << " from " << y;
    }
  }
}

TEST(SlopeMeterAt, APointWhereTheSquareOfTheLowerGradientUnderflowsSaysSo) {
  const auto problem = QuadraticSettings{.n = 3, .m = 2}.generate<double>().in_units({.lower = 1e-160});
  SlopeMeter<Vec> meter{ProblemView<Vec>(problem)};
  const auto start = problem.start();
  EXPECT_CONTAINS(meter.at(start.x, start.y, {}).unavailable, "give f larger units");
}

TEST(AClaimOfSuccess, OfALowerLevelWithASmallCurvatureIsTrue) {
  int claims = 0;
  for (const double c : {1e-6, 1e-18, 1e-40, 1e-100}) {
    for (const double y : {0.0, 5.0, 12.0, 20.0, 30.0}) {
      const SmallCurvature problem{c};
      State<Vec> state{(Vec(2) << 1.0, 0.3).finished(), (Vec(2) << 0.5, y).finished(), {}};
      const auto start = state;
      const auto summary = solve(problem, Automatic{}, state);
      claims += summary.converged() ? 1 : 0;
      const double relative = SmallCurvature::slope(state.x) / SmallCurvature::slope(start.x);
      EXPECT_TRUE(!summary.converged() || relative <= 1.001e-5) << c << " from " << y << ": " << relative;
      EXPECT_TRUE(!certify(problem, start, state, {.claims = {.relative_slope = 1e-5}}).holds() ||
                  relative <= 1.001e-5);
    }
  }
  EXPECT_GE(claims, 5);
}

TEST(SlopeMeterAt, APointWithoutAGradientSaysWhy) {
  const Entropy problem;
  SlopeMeter<Vec> meter{ProblemView<Vec>(problem)};
  const auto slope = meter.at(Vec::Zero(1), Vec::Constant(1, -1.0), {});
  EXPECT_FALSE(slope.known());
  EXPECT_CONTAINS(slope.unavailable, "∇y f is not finite");
  EXPECT_TRUE(slope.met_infinity);
}

TEST(SlopeMeterAt, AnyPointIsRightToTheErrorThatItGives) {
  for (const Index m : {4, 80, 300}) { // by eigenvectors, by conjugate gradients first, and by them alone
    const auto spectrum = log_spaced_spectrum<double>(m, 100.0, 0.1);
    const CounterExample problem(DiagonalSpd<double>(spectrum), random_vector(m, 1));
    const Vec x = random_vector(m, 2);
    const Vec truth = x - random_vector(m, 1) + x.cwiseQuotient(spectrum);
    for (const double wanted : {1e-2, 1e-6, 0.0}) {
      SlopeMeter<Vec> meter{ProblemView<Vec>(problem)};
      const auto slope = meter.at(x, Vec::Zero(m), {.relative = wanted});
      ASSERT_TRUE(slope.known()) << slope.unavailable;
      EXPECT_LE((meter.hypergradient() - truth).norm(), slope.error) << m;
      EXPECT_LE(slope.error, std::max(wanted, 1e-10) * slope.norm) << m;
    }
  }
}

/// f = ½yᵀHy − x y_k with H = tridiag(−.3, 1, −.3), F = ½x² + y_s: x acts on one entry of many, F sees another, and d
/// feels no other direction of v. ∇φ = x + (H⁻¹)_sk.
struct OneEntry {
  using Vector = Vec;
  Index m;
  Index acts;
  Index seen;

  struct Lower : Point<Vec> {
    explicit Lower(const OneEntry &of) : problem(&of) {}
    static void multiply(const Vec &v, Vec &out) {
      const Index last = v.size() - 1;
      out = v;
      out.head(last) -= 0.3 * v.tail(last);
      out.tail(last) -= 0.3 * v.head(last);
    }
    [[nodiscard]] double value() const {
      Vec product = y();
      multiply(y(), product);
      return 0.5 * y().dot(product) - x()[0] * y()[problem->acts];
    }
    void grad_y(Vec &out) const {
      multiply(y(), out);
      out[problem->acts] -= x()[0];
    }
    void hess_yy(const Vec &v, Vec &out) const { multiply(v, out); }
    void cross_xy(const Vec &v, Vec &out) const { out = Vec::Constant(1, -v[problem->acts]); }
    const OneEntry *problem;
  };
  struct Upper : Point<Vec> {
    explicit Upper(const OneEntry &of) : problem(&of) {}
    [[nodiscard]] double value() const { return 0.5 * x()[0] * x()[0] + y()[problem->seen]; }
    void grad_x(Vec &out) const { out = x(); }
    void grad_y(Vec &out) const {
      out.setZero(problem->m);
      out[problem->seen] = 1.0;
    }
    const OneEntry *problem;
  };
  [[nodiscard]] Lower lower() const { return Lower(*this); }
  [[nodiscard]] Upper upper() const { return Upper(*this); }
  [[nodiscard]] Index x_size() const { return 1; }
  [[nodiscard]] Index y_size() const { return m; }

  /// (H⁻¹)_sk far from both ends: the geometric decay of a Toeplitz inverse.
  [[nodiscard]] double slope(double x) const {
    const double root = std::sqrt(1.0 - 0.36);
    return x + std::pow((1.0 - root) / 0.6, static_cast<double>(std::abs(acts - seen))) / root;
  }
};

TEST(SlopeMeterAt, APlaceWhereOneDirectionAloneIsFeltIsRightToTheErrorThatItGives) {
  for (const Index distance : {0, 4, 8, 12}) {
    for (Index acts = 1000; acts < 1040; ++acts) {
      const OneEntry problem{.m = 2000, .acts = acts, .seen = acts - distance};
      for (const double wanted : {1e-3, 1e-5}) {
        SlopeMeter<Vec> meter{ProblemView<Vec>(problem)};
        const auto slope = meter.at(Vec::Zero(1), Vec::Zero(2000), {.absolute = wanted});
        ASSERT_TRUE(slope.known()) << slope.unavailable;
        EXPECT_LE(std::abs(slope.norm - std::abs(problem.slope(0.0))), slope.error) << acts << " " << distance;
      }
    }
  }
}

/// f = eʸ − xy: from far above, Newton's steps are of length one.
struct Exponential {
  using Vector = Vec;
  struct Lower : Point<Vec> {
    [[nodiscard]] double value() const { return std::exp(y()[0]) - x()[0] * y()[0]; }
    void grad_y(Vec &out) const { out = Vec::Constant(1, std::exp(y()[0]) - x()[0]); }
    void hess_yy(const Vec &v, Vec &out) const { out = std::exp(y()[0]) * v; }
    void cross_xy(const Vec &v, Vec &out) const { out = -v; }
  };
  struct Upper : Point<Vec> {
    [[nodiscard]] double value() const { return 0.5 * y()[0] * y()[0]; }
    void grad_x(Vec &out) const { out = Vec::Zero(1); }
    void grad_y(Vec &out) const { out = y(); }
  };
  [[nodiscard]] static Lower lower() { return {}; }
  [[nodiscard]] static Upper upper() { return {}; }
  [[nodiscard]] static Index x_size() { return 1; }
  [[nodiscard]] static Index y_size() { return 1; }
};

TEST(SlopeMeterAt, APointWhoseLowerLevelIsNotSolvedIsNotAvailable) {
  const Exponential problem;
  SlopeMeter<Vec> meter{ProblemView<Vec>(problem)};
  const auto slope = meter.at(Vec::Constant(1, 10.0), Vec::Constant(1, 300.0), {});
  EXPECT_FALSE(slope.known());
  EXPECT_CONTAINS(slope.unavailable, "Newton's method ended");
}

/// Seed by seed as a new user would draw them.
LeastSquares wide(Index rows, Index columns, std::uint64_t seed) {
  const auto random = [&](Index r, Index c, std::uint64_t more) {
    const Vec entries = random_vector(r * c, 10 * seed + more);
    return Mat(Eigen::Map<const Mat>(entries.data(), r, c));
  };
  return LeastSquares({random(rows, columns, 1), random(rows, 5, 2), random_vector(columns, 10 * seed + 3)});
}

/// ∇φ where A is wide: y = c + Aᵀw with AAᵀw = Bx − Ac, ∇φ = Bᵀw + x/100.
double slope_of(const LeastSquares &problem, const Vec &x) {
  const auto &[a, b, c] = problem.data();
  const Vec w = (a * a.transpose()).ldlt().solve(b * x - a * c);
  return (b.transpose() * w + LeastSquares::weight * x).norm();
}

TEST(AClaimOfSuccess, HoldsWhereTheLowerLevelHasManyMinimizers) {
  int claims = 0;
  for (const auto &[rows, columns] : {std::pair{15, 40}, {20, 50}, {30, 60}}) {
    for (std::uint64_t seed = 2; seed <= 7; ++seed) {
      const auto problem = wide(rows, columns, seed);
      auto state = problem.start();
      const auto summary = solve(problem, Automatic{}, state);
      if (summary.converged()) {
        ++claims;
        EXPECT_LE(slope_of(problem, state.x), 1e-5 * slope_of(problem, Vec::Zero(5))) << summary.brief();
      }
    }
  }
  EXPECT_GE(claims, 12);
}

/// f = ¼(y² − 1)² − .1xy, with a minimizer near 1 and one near −1, and F = ½(y + 1)².
struct TwoValleys {
  using Vector = Vec;
  struct Lower : Point<Vec> {
    [[nodiscard]] double value() const { return 0.25 * std::pow(y()[0] * y()[0] - 1.0, 2) - 0.1 * x()[0] * y()[0]; }
    void grad_y(Vec &out) const { out[0] = std::pow(y()[0], 3) - y()[0] - 0.1 * x()[0]; }
    void hess_yy(const Vec &v, Vec &out) const { out[0] = (3.0 * y()[0] * y()[0] - 1.0) * v[0]; }
    void cross_xy(const Vec &v, Vec &out) const { out[0] = -0.1 * v[0]; }
  };
  struct Upper : Point<Vec> {
    [[nodiscard]] double value() const { return 0.5 * std::pow(y()[0] + 1.0, 2); }
    void grad_x(Vec &out) const { out.setZero(); }
    void grad_y(Vec &out) const { out[0] = y()[0] + 1.0; }
  };
  [[nodiscard]] Lower lower() const { return {}; }
  [[nodiscard]] Upper upper() const { return {}; }
  [[nodiscard]] static Index x_size() { return 1; }
  [[nodiscard]] static Index y_size() { return 1; }
};

TEST(AClaimOfSuccess, OfARunThatFollowedAnotherMinimizerIsMeasuredBesideItsSlopeThere) {
  const TwoValleys problem;
  const auto number = [](double value) { return Vec(Vec::Constant(1, value)); };
  const State<Vec> start{number(1.0), number(1.0), number(0.0)};
  const State<Vec> end{number(0.2), number(-0.99), number(0.0)}; // where ∇φ is a fifth of what it is at x = 1 there
  Verification<Vec> verification(ProblemView<Vec>(problem), start);
  EXPECT_NEAR(verification.first().norm, 0.1, 0.02) << "near y = 1";
  const auto &verdict = verification.verify(end, 0.01);
  EXPECT_NEAR(verdict.first.norm, 0.00323, 1e-4) << "near y = -1";
  EXPECT_NEAR(verdict.slope.norm, 0.0005, 0.0001);
  EXPECT_FALSE(verdict.holds());
  EXPECT_TRUE(verification.verify(end, 0.5).holds());
}

TEST(AClaimOfSuccess, IsMeasuredBesideTheStartAndNotBesideWhatTheOpeningMadeOfIt) {
  const auto spectrum = log_spaced_spectrum<double>(7, 1e6, 2.7e-9);
  const CounterExample problem(DiagonalSpd<double>(spectrum), Vec(Vec::Ones(7)), 0.0);
  auto state = problem.start();
  const auto summary = solve(problem, Automatic{.tolerance = 1e-4, .upper_scale = 2e-5}, state);
  EXPECT_EQ(summary.termination, Termination::tolerance_verified) << summary.brief();
  EXPECT_LE(relative_error(state.x, problem.answer()->x), 1e-3);
  EXPECT_CONTAINS(summary.explanation, "2.65");
}

TEST(AClaimOfSuccess, IsNotMadeBelowWhatRoundingShows) {
  Mat a(2, 2);
  a << 0.00099728411191731198, 5.2043340772110613e-05, 5.2043340772110613e-05, 2.7168880826877992e-06;
  const CounterExample problem(DenseSpd<double>(a), Vec(Vec::Ones(2)), 0.0);
  for (const double tolerance : {1e-12, 1e-15}) {
    auto state = problem.start();
    const auto summary = solve(problem, Automatic{.tolerance = tolerance}, state);
    EXPECT_EQ(summary.termination, Termination::not_verified) << summary.brief();
    EXPECT_FALSE(summary.converged());
    EXPECT_FALSE(summary.failed());
    EXPECT_CONTAINS(summary.message, "rounding hides");
  }
}

TEST(AClaimOfSuccess, IsMeasuredBesideTheStartAfterARecoveryToo) {
  const auto problem = QuadraticSettings{.n = 4, .m = 5}.generate<double>();
  auto state = problem.start();
  state.x = random_vector(4, 1) * 1e3;
  const Vec start = state.x;
  const auto summary = solve(problem, Automatic{.tolerance = 1e-6}, state, {.recoveries = 3});
  ASSERT_EQ(summary.termination, Termination::tolerance_verified) << summary.brief();
  ExactSolver exact(problem);
  const double first = exact.at(start, Vec::Zero(5)).hypergradient.norm();
  EXPECT_LE(exact.at(state.x, state.y).hypergradient.norm(), 1e-6 * first);
}

TEST(RelativeKktTolerance, IsNotMeasuredBesideAnOvershoot) {
  const auto problem =
      QuadraticSettings{.n = 5, .m = 6, .condition = 5.0, .coupling = 0.5, .seed = 3}.generate<double>();
  ExactSolver exact(problem);
  for (const double beta : {0.5, 1.5, 1.95}) {
    auto state = problem.start();
    state.y = random_vector(6, 2) * 1e6; // from where v overshoots
    const Vec x0 = state.x;
    const Bagdc solver{.alpha = 0.02, .beta = beta, .eta = 1.9, .dual = DualStep::constant};
    const auto summary = solve(problem, solver, state, {.max_iterations = 200'000, .kkt_relative_tolerance = 1e-4});
    ASSERT_EQ(summary.termination, Termination::kkt_tolerance) << summary.brief();
    const double first = exact.at(x0, Vec::Zero(6)).hypergradient.norm();
    EXPECT_LE(exact.at(state.x, state.y).hypergradient.norm(), 1e-4 * first) << beta;
  }
}

/// A problem that writes as a user might, entry by entry, and looks at every output that it is given.
class EntryByEntry {
public:
  using Vector = Vec;
  static constexpr Index entries = 3;
  static void copy(const Vec &from, double factor, Vec &out) {
    EXPECT_EQ(out.size(), entries);
    for (Index i = 0; i < entries; ++i) {
      out[i] = factor * from[i];
    }
  }
  struct Lower : Point<Vec> {
    [[nodiscard]] double value() const { return 0.5 * y().squaredNorm() - x().dot(y()); }
    void grad_x(Vec &out) const { copy(y(), -1.0, out); }
    void grad_y(Vec &out) const { copy(y() - x(), 1.0, out); }
    void hess_yy(const Vec &v, Vec &out) const { copy(v, 1.0, out); }
    void cross_xy(const Vec &v, Vec &out) const { copy(v, -1.0, out); }
  };
  struct Upper : Point<Vec> {
    [[nodiscard]] double value() const { return 0.5 * (x().array() - 1.0).square().sum() + 0.5 * y().squaredNorm(); }
    void grad_x(Vec &out) const { copy(x() - Vec::Ones(entries), 1.0, out); }
    void grad_y(Vec &out) const { copy(y(), 1.0, out); }
    void hess_yy(const Vec &v, Vec &out) const { copy(v, 1.0, out); }
    void cross_xy(const Vec &v, Vec &out) const { copy(v, 0.0, out); }
  };
  [[nodiscard]] Lower lower() const { return {}; }
  [[nodiscard]] Upper upper() const { return {}; }
  [[nodiscard]] Index x_size() const { return entries; }
  [[nodiscard]] Index y_size() const { return entries; }
  [[nodiscard]] State<Vec> start() const { return {Vec::Zero(entries), Vec::Zero(entries), {}}; }
};

TEST(ARunFromASolution, DoesNotComeToAWorsePoint) {
  for (const std::uint64_t seed : {1U, 2U, 3U}) {
    const auto problem = RidgeSettings{.seed = seed}.generate<double>();
    auto solved = problem.start();
    ASSERT_TRUE(solve(problem, Automatic{.tolerance = 1e-10}, solved).converged());
    State<Vec> again{solved.x, solved.y, {}};
    const auto summary = solve(problem, Automatic{}, again);
    EXPECT_FALSE(summary.failed()) << summary.brief();
    const double before = *exact_slope(problem, solved);
    EXPECT_LE(*exact_slope(problem, again), std::max(10.0 * before, 1e-12)) << summary.brief();
  }
}

TEST(OutputsOfAProblem, HaveTheirSizeWhereverItIsCalled) {
  const EntryByEntry problem;
  AllSolvers::each([&]<class S>() {
    for (const bool breaks : {false, true}) {
      const S solver = with_steps<S>(breaks ? 1e3 : 0.1);
      Monitor<Vec> monitor;
      const MetricBook book(problem);
      for (const auto *name : {"kkt", "upper", "hypergradient", "hypergradient-error", "phi"}) {
        monitor.metrics.push_back(book.metric(name));
      }
      auto state = problem.start();
      (void)solve(problem, solver, state,
                  {.max_iterations = 200,
                   .kkt_tolerance = 1e-12,
                   .kkt_relative_tolerance = 1e-12,
                   .recoveries = 3,
                   .patience = 50},
                  monitor);
    }
  });
  auto state = problem.start();
  EXPECT_EQ(solve(problem, Automatic{}, state).termination, Termination::tolerance_verified);
  EXPECT_TRUE(certify(problem, problem.start(), state).holds());
  EXPECT_TRUE(check(problem).passes());
}

/// EntryByEntry with a mistake in how an output is written.
template <int mistake> class Careless : public EntryByEntry {
public:
  struct Lower : EntryByEntry::Lower {
    void hess_yy(const Vec &v, Vec &out) const {
      if constexpr (mistake == 0) {
        out = v.head(2);
      } else if constexpr (mistake == 1) {
        out.head(2) = v.head(2);
      } else {
        out += v;
      }
    }
  };
  [[nodiscard]] Lower lower() const { return {}; }
};

TEST(OutputsOfAProblem, ThatAreResizedOrNotWrittenAreFoundByCheck) {
  const auto note = [](const auto &problem) {
    const auto report = check(problem);
    EXPECT_FALSE(report.passes());
    for (const auto &row : report.rows) {
      if (row.quantity == "lower hess_yy") {
        EXPECT_CONTAINS(report.table(), row.note);
        return row.note;
      }
    }
    return std::string();
  };
  EXPECT_EQ(note(Careless<0>()), "out was made 2 entries long, expected 3");
  EXPECT_EQ(note(Careless<1>()), "not every entry of out is written, or out is added to");
  EXPECT_EQ(note(Careless<2>()), "not every entry of out is written, or out is added to");
}

#ifndef NDEBUG
TEST(OutputsOfAProblem, ThatAreResizedAreRefusedWhereAssertionsAreOn) {
  const Careless<0> problem;
  auto state = problem.start();
  EXPECT_EQ(refusal([&] { (void)solve(problem, with_given_steps, state); }),
            "lower().hess_yy: out has 2 entries after the call, expected 3 like y");
}
#endif

} // namespace
} // namespace duplex::testing
