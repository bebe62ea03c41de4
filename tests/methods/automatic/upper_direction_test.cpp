// The move of x that limited-memory BFGS proposes, and how long it is before there are pairs.

#include "archived.hpp"
#include "support.hpp"

#include <duplex/methods/automatic/upper_direction.hpp>
#include <duplex/space/box.hpp>

namespace duplex::testing {
namespace {

using automatic::UpperDirection;

TEST(TheUpperDirection, IsPlainDescentWhereNothingIsKnown) {
  UpperDirection<Vec> direction(5, Vec::Zero(2));
  Vec move = Vec::Zero(2);
  for (const double says_nothing : {0.0, std::nan(""), infinity}) {
    direction.propose(Vec::Constant(2, 3.0), says_nothing, move);
    EXPECT_EQ(move[0], -3.0);
  }
}

TEST(TheUpperDirection, IsPolyaksStepAtFirst) {
  UpperDirection<Vec> direction(5, Vec::Zero(2));
  Vec move = Vec::Zero(2);
  direction.propose(Vec::Constant(2, 3.0), -9.0, move);
  EXPECT_DOUBLE_EQ(move[0], -3.0 * 9.0 / 18.0);
  direction.reach_farther();
  direction.propose(Vec::Constant(2, 3.0), -9.0, move);
  EXPECT_DOUBLE_EQ(move[0], -4.0 * 3.0 * 9.0 / 18.0);
}

TEST(TheUpperDirection, LearnsNothingFromACurvatureThatMayBeRounding) {
  UpperDirection<Vec> direction(5, Vec::Zero(2));
  Vec move = Vec::Zero(2);
  direction.learn(Vec::Unit(2, 0), Vec::Unit(2, 1), 1e-15);
  direction.learn(Vec::Unit(2, 0), -Vec::Unit(2, 0), -1.0);
  direction.propose(Vec::Unit(2, 0), 0.0, move);
  EXPECT_EQ(move[0], -1.0);
}

TEST(TheUpperDirection, KeepsTheLengthOfTheLastPairWhereThePairsAreForgotten) {
  UpperDirection<Vec> direction(5, Vec::Zero(2));
  Vec move = Vec::Zero(2);
  direction.learn(Vec::Unit(2, 0), 4.0 * Vec::Unit(2, 0), 4.0); // φ has the curvature 4
  direction.propose(Vec::Unit(2, 0), 7.0, move);
  EXPECT_DOUBLE_EQ(move[0], -0.25);
  direction.forget_pairs();
  direction.propose(Vec::Unit(2, 1), 7.0, move);
  EXPECT_DOUBLE_EQ(move[1], -0.25);

  UpperDirection<Vec> restored(5, Vec::Zero(2));
  read_back(written(direction), restored);
  restored.propose(Vec::Unit(2, 1), 7.0, move);
  EXPECT_DOUBLE_EQ(move[1], -0.25);

  direction.forget();
  direction.propose(Vec::Unit(2, 1), 7.0, move);
  EXPECT_DOUBLE_EQ(move[1], -7.0);
}

TEST(TheUpperDirection, WithinBoundsIsThatOfTheFaceWhereSomeEntriesEnd) {
  const Vec curvatures = (Vec(3) << 1.0, 2.0, 4.0).finished();
  UpperDirection<Vec> direction(5, Vec::Zero(3));
  for (const Index j : {0, 1, 2}) {
    direction.learn(0.1 * Vec::Unit(3, j), 0.1 * curvatures[j] * Vec::Unit(3, j), 0.01 * curvatures[j]);
  }
  automatic::Estimate<Vec> here = automatic::estimate_at(State<Vec>{Vec::Constant(3, 0.7), Vec::Zero(1), {}});
  here.d = (Vec(3) << 0.3, -0.6, 0.9).finished();
  const Box<Vec> box(Vec::Constant(3, 0.6), Vec::Constant(3, 5.0), 3);
  Vec move = Vec::Zero(3);
  direction.propose_within(box, infinity, here, here.d, move);
  EXPECT_NEAR(move[0], -0.1, 1e-15) << "would end at .4";
  EXPECT_NEAR(move[1], 0.3, 1e-12) << "Newton's step";
  EXPECT_NEAR(move[2], -0.1, 1e-15);
}

TEST(TheUpperDirection, ThatLedUphillIsForgottenWithTheHessianThatProposedIt) {
  UpperDirection<Vec> direction(5, Vec::Zero(1));
  automatic::Estimate<Vec> here = automatic::estimate_at(State<Vec>{Vec::Zero(1), Vec::Zero(1), {}});
  here.d = Vec::Constant(1, 0.5);
  const auto proposed = [&] {
    Vec move = Vec::Zero(1);
    direction.propose(here.d, 0.0, move);
    return move[0];
  };
  direction.learn(Vec::Unit(1, 0), Vec::Unit(1, 0), 1.0);
  direction.assemble_hessian(here, [&](Index /*j*/, double &h, Vec &out) {
    out = here.d + h * Vec::Constant(1, 4.0);
    return true;
  });
  EXPECT_NEAR(proposed(), -0.125, 1e-6) << "Newton's step";
  direction.forget_what_led_along(-1.0);
  EXPECT_NEAR(proposed(), -0.125, 1e-6) << "downhill: the pairs alone are forgotten";
  direction.forget_what_led_along(1.0);
  EXPECT_NEAR(proposed(), -0.5, 1e-6) << "nothing is known";
}

TEST(TheUpperDirection, DoesNotSendAnEntryBeyondTheRadiusAtTheExpenseOfTheOthers) {
  const Vec curvatures = (Vec(2) << 1.0, -1e-3).finished(); // φ all but straight along the second
  UpperDirection<Vec> direction(5, Vec::Zero(2));
  automatic::Estimate<Vec> here = automatic::estimate_at(State<Vec>{Vec::Zero(2), Vec::Zero(1), {}});
  here.d = (Vec(2) << 0.8, -1.0).finished();
  direction.learn(0.1 * Vec::Unit(2, 0), 0.1 * Vec::Unit(2, 0), 0.01); // how far x has moved so far
  direction.assemble_hessian(here, [&](Index j, double &h, Vec &out) {
    out = here.d + h * curvatures[j] * Vec::Unit(2, j);
    return true;
  });
  Vec move = Vec::Zero(2);
  direction.propose_within(Box<Vec>{}, 2.0, here, here.d, move);
  EXPECT_NEAR(move[0], -0.8, 1e-6) << "Newton's step, which is not shortened";
  EXPECT_NEAR(move[1], 2.0, 1e-6);
}

} // namespace
} // namespace duplex::testing
