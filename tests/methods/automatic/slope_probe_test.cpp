// What differences of φ say of d: that it is right, that there is a kink, that a derivative is wrong, or nothing.

#include "follower.hpp"
#include "support.hpp"

#include <duplex/methods/automatic/doubts.hpp>

namespace duplex::testing {
namespace {

using automatic::CurrentPoint;
using automatic::SlopeFinding;
using automatic::SlopeReport;

/// f = ½‖y − x‖², so that y* = x and φ(x) = w(x), with w = Σ (x − 1)² + κ|x| and a gradient that is off by a factor.
struct Probed {
  using Vector = Vec;
  double kink = 0.0;
  double factor = 1.0;

  using Lower = FollowingLower;
  struct Upper : Point<Vec> {
    double kink = 0.0;
    double factor = 1.0;
    [[nodiscard]] double value() const { return (y().array() - 1.0).square().sum() + kink * y().cwiseAbs().sum(); }
    void grad_x(Vec &out) const { out = Vec::Zero(2); }
    void grad_y(Vec &out) const { out = factor * (2.0 * (y().array() - 1.0) + kink * y().array().sign()).matrix(); }
  };
  [[nodiscard]] Lower lower() const { return {}; }
  [[nodiscard]] Upper upper() const {
    Upper made;
    made.kink = kink;
    made.factor = factor;
    return made;
  }
  [[nodiscard]] Index x_size() const { return 2; }
  [[nodiscard]] Index y_size() const { return 2; }
};

SlopeReport probed(const Probed &problem, double x, const Vec &move) {
  const State<Vec> start{Vec::Constant(2, x), Vec::Constant(2, x), Vec::Zero(2)};
  CurrentPoint<Vec> current(ProblemView<Vec>(problem), start, 5);
  EXPECT_EQ(current.begin(), LinearStatus::converged);
  auto scratch = automatic::estimate_at(start);
  return automatic::probe_slope(current, move, 1.0, scratch);
}

TEST(ASlopeProbe, SaysThatDIsWrongWhereItIs) {
  const auto report = probed({.factor = -0.5}, 3.0, Vec::Constant(2, 0.1));
  EXPECT_EQ(report.finding, SlopeFinding::wrong);
  EXPECT_NEAR(0.5 * (report.left + report.right), 0.8, 1e-3);
  EXPECT_NEAR(report.said, -0.4, 1e-6);
  EXPECT_CONTAINS(report.text(1e-16), "a derivative is wrong; run `check`");
}

TEST(ASlopeProbe, SaysThatThereIsAKink) {
  const auto report = probed({.kink = 5.0}, 0.0, Vec::Constant(2, 0.1));
  EXPECT_EQ(report.finding, SlopeFinding::kink);
  EXPECT_LT(report.left, 0.0);
  EXPECT_GT(report.right, 0.0);
  EXPECT_CONTAINS(report.text(1e-16), "has a kink here");
}

TEST(ASlopeProbe, AgreesWhereAllIsWell) {
  const auto report = probed({}, 3.0, Vec::Constant(2, 0.1));
  EXPECT_EQ(report.finding, SlopeFinding::agrees);
  EXPECT_CONTAINS(report.text(1e-16), "F is smooth here");
}

TEST(ASlopeProbe, SeesNothingAtAMinimumButRounding) {
  const auto report = probed({}, 1.0, Vec::Constant(2, 1e-9));
  EXPECT_EQ(report.finding, SlopeFinding::hidden);
  EXPECT_CONTAINS(report.text(1e-16), "ask for less");
  EXPECT_CONTAINS(report.text(1e-7), "or use doubles");
}

TEST(Doubts, GrowByDisagreementsOnceForEachDoubling) {
  automatic::Doubts<Vec> doubts(Vec::Zero(2));
  int times = 0;
  for (int k = 0; k < 40; ++k) {
    doubts.disagree(1.0);
    times += doubts.grow() ? 1 : 0;
  }
  EXPECT_EQ(times, 3) << "at 10, 20 and 40";
}

TEST(ARunWithAWrongDerivative, SaysSoAndClaimsNothing) {
  const Probed problem{.factor = -1.0};
  State<Vec> state{Vec::Constant(2, 3.0), Vec::Constant(2, 3.0), {}};
  const auto summary = solve(problem, state);
  EXPECT_FALSE(summary.converged());
  EXPECT_CONTAINS(summary.message, "a derivative is wrong; run `check`");
}

/// F = −Σ y³/3 falls without end.
struct Falling : Probed {
  struct Upper : Point<Vec> {
    [[nodiscard]] double value() const { return -y().array().cube().sum() / 3.0; }
    void grad_x(Vec &out) const { out = Vec::Zero(2); }
    void grad_y(Vec &out) const { out = -y().array().square(); }
  };
  [[nodiscard]] Upper upper() const { return {}; }
};

TEST(ARunWhoseUpperLevelIsUnbounded, SaysSo) {
  State<Vec> state{Vec::Constant(2, 1.0), Vec::Constant(2, 1.0), {}};
  const auto summary = solve(Falling{}, state);
  EXPECT_TRUE(summary.failed());
  EXPECT_CONTAINS(summary.message, "seems to be unbounded below");
}

} // namespace
} // namespace duplex::testing
