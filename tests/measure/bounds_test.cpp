// What is measured of a point within bounds: the free part of ∇φ, beside that at the start.

#include "support.hpp"

namespace duplex::testing {
namespace {

/// ∇φ = x − z₀ + A⁻¹x.
auto diagonal(Index n) {
  return CounterExample(DiagonalSpd<double>(log_spaced_spectrum<double>(n, 10.0, 1.0)), Vec(Vec::Ones(n)), 0.0);
}

Vec slope_of(Index n, const Vec &x) {
  return x - Vec::Ones(n) + x.cwiseQuotient(log_spaced_spectrum<double>(n, 10.0, 1.0));
}

TEST(ASlopeWithinBounds, IsThatOfTheFreePart) {
  for (const Index n : {6, 60, 400}) { // by eigenvectors, by conjugate gradients first, and by them alone
    Vec x = Vec::Constant(n, 0.3);
    x.head(n / 2).setConstant(0.2); // ∇φ is negative at both
    const auto problem = bounded(diagonal(n), Vec(Vec::Constant(n, -infinity)), Vec(x));
    SlopeMeter<Vec> all_fixed{ProblemView<Vec>(problem)};
    const auto nothing = all_fixed.at(x, Vec::Zero(n), {.relative = 0.01});
    ASSERT_TRUE(nothing.known()) << nothing.unavailable;
    EXPECT_EQ(nothing.norm, 0.0);
    EXPECT_EQ(nothing.error, 0.0);
    Vec high = x;
    high.tail(n / 3).setConstant(5.0);
    const auto partly = bounded(diagonal(n), Vec(), Vec(high));
    SlopeMeter<Vec> meter{ProblemView<Vec>(partly)};
    const auto slope = meter.at(x, Vec::Zero(n), {.relative = 1e-4});
    EXPECT_NEAR(slope.norm, slope_of(n, x).tail(n / 3).norm(), slope.error);
    EXPECT_LE(slope.error, 1e-4 * slope.norm);
    EXPECT_LE((meter.hypergradient() - slope_of(n, x)).norm(), 1e-3); // all of it
  }
}

TEST(AVerificationWithinBounds, HoldsAtACornerAlsoForARunThatWasStartedThere) {
  for (const Index n : {6, 400}) {
    const auto problem = bounded(diagonal(n), 0.0, 0.2); // where all entries go to 0.2
    State<Vec> inside{Vec::Constant(n, 0.1), Vec::Zero(n), Vec::Zero(n)};
    State<Vec> corner{Vec::Constant(n, 0.2), Vec::Zero(n), Vec::Zero(n)};
    Verification<Vec> from_inside{ProblemView<Vec>(problem), inside};
    EXPECT_TRUE(from_inside.verify(corner, 1e-8).holds()) << from_inside.verdict().text();
    EXPECT_FALSE(from_inside.verify(inside, 1e-2).holds());
    Verification<Vec> from_corner{ProblemView<Vec>(problem), corner};
    EXPECT_TRUE(from_corner.verify(corner, 1e-8).holds()) << from_corner.verdict().text();
    EXPECT_FALSE(from_corner.verify(inside, 1e-2).holds());
  }
}

TEST(AVerificationWithinBounds, IsBesideTheFreePartAtTheStart) {
  const Index n = 6;
  const auto problem = bounded(diagonal(n), Vec(), Vec(Vec::Constant(n, 0.3)));
  State<Vec> start{Vec::Constant(n, 0.3), Vec::Zero(n), Vec::Zero(n)};
  start.x[0] = 0.0; // the other entries are at their bound, and stay there
  Verification<Vec> verification{ProblemView<Vec>(problem), start};
  EXPECT_NEAR(verification.first().norm, 1.0, 0.02);
}

TEST(ACertificateWithinBounds, HoldsAtASolutionAndRefutesAnotherPoint) {
  for (const Index n : {6, 60}) {
    const auto problem = bounded(diagonal(n), 0.0, 0.6);
    auto state = problem.start();
    const Options options{.max_iterations = 100'000, .direction_tolerance = 1e-10};
    const auto summary = solve(problem, Bagdc{.alpha = 0.2, .beta = 0.1}, state, options);
    ASSERT_EQ(summary.termination, Termination::direction_tolerance) << summary.brief();
    ASSERT_GT(box_of(problem).entries_at_bounds(state.x), 0);
    const auto certificate = certify(problem, problem.start(), state, {.claims = {.slope = 1e-8}});
    EXPECT_TRUE(certificate.holds()) << certificate.text();
    EXPECT_EQ(certificate.entries_at_bounds, box_of(problem).entries_at_bounds(state.x));
    EXPECT_GT(certificate.outward_hypergradient, 1e-3);
    EXPECT_CONTAINS(certificate.text(), "x at its bounds");
    auto other = state;
    other.x.setZero(); // at the lower bounds, from where ∇φ leads inside
    const auto refuted = certify(problem, problem.start(), other, {.claims = {.slope = 1e-8}});
    EXPECT_TRUE(refuted.is_consistent()) << refuted.text();
    EXPECT_FALSE(refuted.holds());
    EXPECT_CONTAINS(refuted.text(), "REFUTED");
  }
}

/// f = ½(y − √(x − b))² with b = 0.0099, F = ½(x + 1)² + ½y²: nothing is finite just below the bound x ≥ 0.01, where φ
/// is smallest.
class Root {
public:
  using Vector = Vec;
  struct Lower : Point<Vec> {
    [[nodiscard]] Vec root() const { return (x().array() - 0.0099).sqrt(); }
    [[nodiscard]] double value() const { return 0.5 * (y() - root()).squaredNorm(); }
    void grad_y(Vec &out) const { out = y() - root(); }
    void hess_yy(const Vec &v, Vec &out) const { out = v; }
    void cross_xy(const Vec &v, Vec &out) const { out = -0.5 * v.cwiseQuotient(root()); }
  };
  struct Upper : Point<Vec> {
    [[nodiscard]] double value() const { return 0.5 * (x().array() + 1.0).square().sum() + 0.5 * y().squaredNorm(); }
    void grad_x(Vec &out) const { out = x().array() + 1.0; }
    void grad_y(Vec &out) const { out = y(); }
  };
  [[nodiscard]] static Lower lower() { return {}; }
  [[nodiscard]] static Upper upper() { return {}; }
  [[nodiscard]] static Index x_size() { return 2; }
  [[nodiscard]] static Index y_size() { return 2; }
  [[nodiscard]] static Vec lower_bound() { return Vec::Constant(2, 0.01); }
  [[nodiscard]] static State<Vec> start() { return {Vec::Ones(2), Vec::Ones(2), Vec::Zero(2)}; }
};

TEST(AProblemThatEndsAtItsBounds, IsSolvedVerifiedAndCertifiedWithinThem) {
  const Root problem;
  auto state = problem.start();
  const auto summary = solve(problem, Bagdc{.alpha = 0.05, .beta = 0.5}, state,
                             {.max_iterations = 10'000, .kkt_relative_tolerance = 1e-8});
  EXPECT_EQ(summary.termination, Termination::kkt_tolerance) << summary.brief();
  EXPECT_EQ(state.x, Vec(Vec::Constant(2, 0.01)));
  const auto certificate = certify(problem, problem.start(), state, {.claims = {.relative_slope = 1e-8}});
  EXPECT_TRUE(certificate.exists()) << certificate.text();
  EXPECT_EQ(certificate.hypergradient, 0.0);
  EXPECT_TRUE(certificate.refuted.empty()) << certificate.text();
}

} // namespace
} // namespace duplex::testing
