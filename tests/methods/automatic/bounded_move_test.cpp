// Moves of x that stay within its bounds and along which φ falls.

#include "support.hpp"

#include <duplex/methods/automatic/bounded_move.hpp>

namespace duplex::testing {
namespace {

using automatic::BoundedMove;

struct Bounded {
  Box<Vec> box{Vec::Zero(3), Vec::Ones(3), 3};
  Vec x = Vec::Constant(3, 0.5);
  Vec d = Vec::Zero(3);

  [[nodiscard]] Vec kept(Vec move) const {
    Vec free(3);
    box.free_part(x, d, free);
    BoundedMove<Vec>::keep_inside(box, x, d, free, move);
    return move;
  }
};

TEST(ABoundedMove, IsLeftAloneWhereThereAreNoBounds) {
  Vec move = Vec::Constant(3, 9.0);
  BoundedMove<Vec>::keep_inside({}, Vec::Zero(3), Vec::Ones(3), Vec::Ones(3), move);
  EXPECT_EQ(move, Vec::Constant(3, 9.0));
}

TEST(ABoundedMove, EndsAtTheBounds) {
  Bounded bounded;
  bounded.d = Vec(Eigen::Vector3d(-1.0, 1.0, -1.0));
  EXPECT_EQ(bounded.kept(Vec(Eigen::Vector3d(2.0, -2.0, 0.25))), Vec(Eigen::Vector3d(0.5, -0.5, 0.25)));
}

TEST(ABoundedMove, LeavesEntriesThatAreNotFree) {
  Bounded bounded;
  bounded.x[0] = 0.0;
  bounded.d = Vec(Eigen::Vector3d(1.0, 1.0, 0.0)); // −d leads out at the first
  EXPECT_EQ(bounded.kept(Vec(Eigen::Vector3d(0.5, -0.25, 0.0))), Vec(Eigen::Vector3d(0.0, -0.25, 0.0)));
}

TEST(ABoundedMove, StaysWhereNothingIsFree) {
  Bounded bounded;
  bounded.x.setZero();
  bounded.d.setOnes();
  EXPECT_EQ(bounded.kept(Vec(Eigen::Vector3d(-0.5, -0.25, -1.0))), Vec(Vec::Zero(3)));
}

TEST(ABoundedMove, FollowsTheFreePartWhereItWouldNotFall) {
  Bounded bounded;
  bounded.d = Vec(Eigen::Vector3d(0.0, 1.0, 0.0));
  const Vec move = bounded.kept(Vec(Eigen::Vector3d(0.25, 0.25, 0.0)));
  EXPECT_LT(move.dot(bounded.d), 0.0);
  EXPECT_TRUE(bounded.box.holds(bounded.x + move));
}

} // namespace
} // namespace duplex::testing
