// The move of x that limited-memory BFGS proposes, and how long it is before there are pairs.

#include "archived.hpp"
#include "support.hpp"

#include <duplex/methods/automatic/upper_direction.hpp>

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

} // namespace
} // namespace duplex::testing
