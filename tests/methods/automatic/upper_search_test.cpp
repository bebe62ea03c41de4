// The search along p: by interpolation where φ is quadratic, by the fall of F where it is not.

#include "archived.hpp"
#include "follower.hpp"
#include "support.hpp"

#include <duplex/methods/automatic/trust.hpp>
#include <duplex/methods/automatic/upper_search.hpp>

namespace duplex::testing {
namespace {

using automatic::CurrentPoint;
using automatic::UpperSearch;

struct Parabola {
  static double value(double x) { return (x - 2.0) * (x - 2.0); }
  static double slope(double x) { return 2.0 * (x - 2.0); }
};
/// √(1 + x²), on which Newton's step from beyond one overshoots.
struct Hyperbola {
  static double value(double x) { return std::sqrt(1.0 + x * x); }
  static double slope(double x) { return x / std::sqrt(1.0 + x * x); }
};
/// Not a number beyond x = ½: a wall.
struct Wall {
  static double value(double x) { return x > 0.5 ? std::nan("") : 4.0 - x; }
  static double slope(double x) { return x > 0.5 ? std::nan("") : -1.0; }
};
/// A slope that has the wrong sign.
struct Liar {
  static double value(double x) { return 1.0 + x * x; }
  static double slope(double x) { return -2.0 * x; }
};

template <class Shape> struct Searching {
  Follower<Shape> problem;
  CurrentPoint<Vec> current;
  UpperSearch<Vec> search;

  explicit Searching(double x) : current(ProblemView<Vec>(problem), from(x), 5), search(5, from(x)) {
    EXPECT_EQ(current.begin(), LinearStatus::converged);
  }
  static State<Vec> from(double x) { return {Vec::Constant(1, x), Vec::Constant(1, x), Vec::Zero(1)}; }
  LinearStatus move() {
    return search.move(current, [] { return LinearStatus::converged; });
  }
  [[nodiscard]] double x() { return current.state().x[0]; }
  [[nodiscard]] std::int64_t interpolated() const {
    automatic::Findings found;
    search.report(found);
    return found.interpolated;
  }
};

TEST(TheSearchAlongP, IsExhaustedWhereNoStepLowersF) {
  Searching<Liar> run(1.0);
  EXPECT_EQ(run.move(), LinearStatus::converged);
  EXPECT_TRUE(run.search.is_exhausted());
  EXPECT_EQ(run.x(), 1.0);
}

TEST(TheSearchAlongP, StopsShortOfWhereTheLossIsNotFinite) {
  Searching<Wall> run(0.0);
  EXPECT_EQ(run.move(), LinearStatus::converged);
  EXPECT_FALSE(run.search.is_exhausted());
  EXPECT_GT(run.x(), 0.0);
  EXPECT_LE(run.x(), 0.5);
}

TEST(TheSearchAlongP, EndsInTheMinimumOfAParabolaByInterpolation) {
  Searching<Parabola> run(0.0);
  EXPECT_EQ(run.move(), LinearStatus::converged);
  EXPECT_NEAR(run.x(), 2.0, 1e-9);
  EXPECT_EQ(run.interpolated(), 1);
  EXPECT_NEAR(run.current.d()[0], 0.0, 1e-9) << "d was interpolated too";
}

TEST(TheSearchAlongP, TellsWhenItIsKnownHowMuchDFeels) {
  Searching<Parabola> run(0.0);
  int told = 0;
  const auto sharpen = [&] {
    ++told;
    return LinearStatus::converged;
  };
  (void)run.search.move(run.current, sharpen);
  run.current.state().x[0] = run.current.state().y[0] = 5.0;
  (void)run.current.refresh(1e-9);
  (void)run.search.move(run.current, sharpen);
  EXPECT_EQ(told, 1);
  Searching<Parabola> failing(0.0);
  EXPECT_EQ(failing.search.move(failing.current, [] { return LinearStatus::step_limit; }), LinearStatus::step_limit);
}

TEST(TheSearchAlongP, LowersFWhereItIsNotQuadratic) {
  Searching<Hyperbola> run(3.0);
  double before = Hyperbola::value(3.0);
  for (int k = 0; k < 20 && std::abs(run.x()) > 1e-6; ++k) {
    ASSERT_EQ(run.move(), LinearStatus::converged);
    ASSERT_FALSE(run.search.is_exhausted());
    EXPECT_LE(Hyperbola::value(run.x()), before + 1e-12);
    before = Hyperbola::value(run.x());
    ASSERT_EQ(run.current.refresh(1e-9), LinearStatus::converged);
  }
  EXPECT_NEAR(run.x(), 0.0, 1e-4);
}

TEST(TheSearchAlongP, ThatIsRestoredGoesOnAlike) {
  Searching<Hyperbola> run(3.0);
  ASSERT_EQ(run.move(), LinearStatus::converged);
  Searching<Hyperbola> restored(3.0);
  read_back(written(run.current), restored.current);
  read_back(written(run.search), restored.search);
  for (int k = 0; k < 4; ++k) {
    ASSERT_EQ(run.move(), restored.move());
    EXPECT_EQ(run.x(), restored.x());
  }
}

TEST(TrustInAQuadraticModel, IsLostAtOnceAndWonBackByAFewPredictionsThatHold) {
  automatic::QuadraticTrust trust;
  EXPECT_TRUE(trust.given());
  EXPECT_TRUE(trust.lose());
  EXPECT_FALSE(trust.given());
  EXPECT_FALSE(trust.lose()) << "there was none to lose";
  trust.learn(true);
  trust.learn(true);
  trust.learn(false);
  trust.learn(true);
  trust.learn(true);
  EXPECT_FALSE(trust.given());
  automatic::QuadraticTrust restored;
  read_back(written(trust), restored);
  restored.learn(true);
  EXPECT_TRUE(restored.given());
}

} // namespace
} // namespace duplex::testing
