// Anderson mixing alone, and in BAGDC's steps of y and v.

#include "support.hpp"

#include <duplex/numerics/anderson.hpp>

namespace duplex::testing {
namespace {

TEST(Mixing, RefusesWhatItCannotDo) {
  const auto problem = bent_scalar();
  const auto try_with = [&](const Bagdc &solver) {
    return refusal([&] {
      auto state = State<Vec>{Vec::Constant(1, 0.9), Vec::Constant(1, -0.4), {}};
      (void)run_steps(problem, solver, state, 1);
    });
  };
  EXPECT_CONTAINS(try_with({.alpha = 0.1, .beta = 0.2, .mixing = -1}), "mixing = -1");
  EXPECT_CONTAINS(try_with({.alpha = 0.1, .beta = 0.2, .mixing = 21}), "<= 20");
  EXPECT_CONTAINS(try_with({.alpha = 0.1, .beta = 0.2, .dual = DualStep::polak_ribiere, .mixing = 5}),
                  "dual = polak-ribiere");
}

/// f(z) = b − Az with eigenvalues log-spaced in [1/condition, 1].
struct LinearMap {
  Vec eigenvalues;
  Vec b;

  LinearMap(Index n, double condition)
      : eigenvalues(Eigen::pow(condition, -Eigen::ArrayXd::LinSpaced(n, 0.0, 1.0))), b(random_vector(n, 1)) {}
  [[nodiscard]] Vec f(const Vec &z) const { return b - eigenvalues.cwiseProduct(z); }
};

/// So many mixed steps from zero.
Vec mixed_steps(const LinearMap &map, AndersonMixing<Vec> &mixing, int steps) {
  Vec z = Vec::Zero(map.b.size());
  for (int k = 0; k < steps; ++k) {
    mixing.move(0.4, map.f(z), z);
  }
  return z;
}

/// Steps until ‖f‖ is 1e-6 of that at zero, at most 20 000.
int steps_to_rest(const LinearMap &map, int pairs) {
  Vec z = Vec::Zero(map.b.size());
  AndersonMixing<Vec> mixing(std::max(pairs, 1), z);
  for (int k = 0; k < 20'000; ++k) {
    const Vec f = map.f(z);
    if (f.norm() <= 1e-6 * map.b.norm()) {
      return k;
    }
    if (pairs > 0) {
      mixing.move(1.0, f, z);
    } else {
      z += f;
    }
  }
  return 20'000;
}

TEST(Mixing, NeedsAFractionOfTheStepsOnALinearMap) {
  const LinearMap map(40, 300.0);
  const int plain = steps_to_rest(map, 0);
  EXPECT_GT(plain, 1500);
  EXPECT_LT(5 * steps_to_rest(map, 5), plain);
  EXPECT_LT(5 * steps_to_rest(map, 10), plain);
}

TEST(Mixing, WithOnePairIsTheSecantStepInOneDimension) {
  // Two points of a straight line give its zero but for the ridge of 1e-3.
  AndersonMixing<Vec> mixing(1, Vec::Zero(1));
  const auto f = [](double z) { return Vec::Constant(1, 3.0 - 0.5 * z); };
  Vec z = Vec::Zero(1);
  mixing.move(1.0, f(z[0]), z);
  EXPECT_DOUBLE_EQ(z[0], 3.0);
  mixing.move(1.0, f(z[0]), z);
  EXPECT_NEAR(z[0], 6.0, 0.01);
}

TEST(Mixing, AddsNoMoreThanTheWayGoneSoFar) {
  AndersonMixing<Vec> mixing(2, Vec::Zero(1));
  const auto f = [](double z) { return Vec::Constant(1, 3.0 - 0.5 * z); };
  Vec z = Vec::Zero(1);
  mixing.move(0.1, f(z[0]), z); // by 0.3
  const double plain = 0.3 + 0.1 * f(0.3)[0];
  mixing.move(0.1, f(z[0]), z);
  EXPECT_DOUBLE_EQ(z[0], plain + 0.3); // the secant step would be to 6
  const double way = z[0];
  const double plain_again = z[0] + 0.1 * f(z[0])[0];
  mixing.move(0.1, f(z[0]), z);
  EXPECT_DOUBLE_EQ(z[0], plain_again + way);
}

TEST(Mixing, CountsWhereTheResidualGrewInSpiteOfIt) {
  const LinearMap map(6, 10.0);
  AndersonMixing<Vec> mixing(3, map.b);
  Vec z = mixed_steps(map, mixing, 8);
  EXPECT_EQ(mixing.restarts(), 0);
  mixing.move(0.4, random_vector(6, 5) * 100.0, z);
  EXPECT_EQ(mixing.restarts(), 1);
}

TEST(Mixing, DoesNotMindTheSignOfTheResidual) {
  const LinearMap map(6, 10.0);
  Vec z = Vec::Zero(6);
  Vec w = Vec::Zero(6);
  AndersonMixing<Vec> one(3, z);
  AndersonMixing<Vec> other(3, w);
  for (int k = 0; k < 12; ++k) {
    one.move(0.4, map.f(z), z);
    other.move(-0.4, -map.f(w), w);
  }
  EXPECT_TRUE(same_bits(z, w));
}

TEST(Mixing, ForgetsWhereTheResidualJumps) {
  const LinearMap map(6, 10.0);
  AndersonMixing<Vec> mixing(3, map.b);
  Vec z = mixed_steps(map, mixing, 8);
  const Vec jumped = random_vector(6, 5) * 100.0;
  const Vec expected = z + 0.4 * jumped;
  mixing.move(0.4, jumped, z);
  EXPECT_TRUE(same_bits(z, expected));
}

TEST(Mixing, StaysWhereTheResidualVanishesAndForgetsWhereItComesBack) {
  const LinearMap map(4, 10.0);
  AndersonMixing<Vec> mixing(2, map.b);
  Vec z = mixed_steps(map, mixing, 5);
  const Vec rest = z;
  mixing.move(0.4, Vec::Zero(4), z);
  mixing.move(0.4, Vec::Zero(4), z);
  EXPECT_TRUE(same_bits(z, rest));
  mixing.move(0.5, Vec::Ones(4), z);
  EXPECT_TRUE(same_bits(z, Vec(rest + 0.5 * Vec::Ones(4))));
}

TEST(Mixing, RefusesNoPairsAndTooMany) {
  EXPECT_CONTAINS(refusal([] { AndersonMixing<Vec>(0, Vec::Zero(2)); }), "pairs = 0, expected 1 to 20");
  EXPECT_CONTAINS(refusal([] { AndersonMixing<Vec>(21, Vec::Zero(2)); }), "pairs = 21");
}

TEST(BagdcWithMixing, EndsAtTheTrueAnswerInFewerStepsWhereTheLowerLevelIsSlow) {
  const CounterExample<double, DiagonalSpd<double>> problem(
      DiagonalSpd<double>(Vec(Eigen::pow(5.0, -Eigen::ArrayXd::LinSpaced(50, 0.0, 1.0)))), Vec::Ones(50));
  const auto steps_to_answer = [&](int pairs) {
    auto state = problem.start();
    const auto summary =
        solve(problem, Bagdc{.alpha = 0.01, .beta = 0.2, .eta = 0.2, .dual = DualStep::constant, .mixing = pairs},
              state, {.max_iterations = 200'000, .kkt_tolerance = 1e-8});
    EXPECT_EQ(summary.termination, Termination::kkt_tolerance) << summary.brief();
    EXPECT_LE(relative_error(state.x, problem.answer()->x), 1e-6);
    return summary.iterations;
  };
  EXPECT_LT(2 * steps_to_answer(5), steps_to_answer(0));
}

} // namespace
} // namespace duplex::testing
