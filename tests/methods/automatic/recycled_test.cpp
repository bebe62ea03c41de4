// Directions that earlier solves have paid for, and what they are worth to the next one.

#include "archived.hpp"
#include "support.hpp"

#include <duplex/methods/automatic/recycled.hpp>

namespace duplex::testing {
namespace {

using automatic::RecycledDirections;

const Vec four_curvatures = Vec::LinSpaced(4, 1.0, 4.0);

void keep(RecycledDirections<Vec> &recycled, const Vec &p) {
  const Vec image = four_curvatures.cwiseProduct(p);
  recycled.stage(p, image, p.dot(image), p.dot(image) / p.squaredNorm());
}

TEST(RecycledDirections, WithoutRoomAreNone) {
  RecycledDirections<Vec> recycled(0, Vec::Zero(4));
  keep(recycled, Vec::Unit(4, 0));
  recycled.commit();
  EXPECT_TRUE(recycled.empty());
}

TEST(RecycledDirections, ServeFromTheNextSolveOn) {
  RecycledDirections<Vec> recycled(4, Vec::Zero(4));
  keep(recycled, Vec::Unit(4, 1));
  EXPECT_TRUE(recycled.empty());
  recycled.commit();
  EXPECT_FALSE(recycled.empty());
}

TEST(RecycledDirections, SolveWhatLiesInTheirSpan) {
  RecycledDirections<Vec> recycled(4, Vec::Zero(4));
  keep(recycled, Vec::Unit(4, 1));
  keep(recycled, Vec::Unit(4, 3));
  recycled.commit();
  Vec residual = Vec::Constant(4, 12.0);
  Vec solution = Vec::Zero(4);
  recycled.project(residual, solution);
  EXPECT_LE((solution - Vec(Eigen::Vector4d(0.0, 6.0, 0.0, 3.0))).norm(), 1e-14);
  EXPECT_LE((residual - Vec(Eigen::Vector4d(12.0, 0.0, 12.0, 0.0))).norm(), 1e-14);
}

TEST(RecycledDirections, ThatSpanTheSpacePreconditionByTheInverse) {
  RecycledDirections<Vec> recycled(4, Vec::Zero(4));
  for (Index i = 0; i < 4; ++i) {
    keep(recycled, Vec::Unit(4, i));
  }
  recycled.commit();
  Vec out(4);
  recycled.precondition(Vec::Ones(4), out);
  EXPECT_LE(relative_error(out, four_curvatures.cwiseInverse()), 1e-14);
}

TEST(RecycledDirections, GiveUpTheStiffestWhereThereIsNoRoom) {
  RecycledDirections<Vec> recycled(2, Vec::Zero(4));
  for (const Index i : {3, 0, 1}) { // curvatures 4, 1 and 2
    keep(recycled, Vec::Unit(4, i));
  }
  recycled.commit();
  Vec residual = Vec::Ones(4);
  Vec solution = Vec::Zero(4);
  recycled.project(residual, solution);
  EXPECT_EQ(residual[0], 0.0);
  EXPECT_EQ(residual[1], 0.0);
  EXPECT_EQ(residual[3], 1.0);
}

TEST(RecycledDirections, SeeByTheSymmetryThatTheHessianHasChanged) {
  RecycledDirections<Vec> recycled(4, Vec::Zero(4));
  const Vec p = Vec::Ones(4);
  EXPECT_EQ(recycled.staleness(p, four_curvatures, four_curvatures.sum()), 0.0) << "with nothing to compare";
  keep(recycled, Vec::LinSpaced(4, -1.0, 2.0));
  recycled.commit();
  EXPECT_NEAR(recycled.staleness(p, four_curvatures, four_curvatures.sum()), 0.0, 1e-15);
  const Vec other = four_curvatures.cwiseProduct(four_curvatures);
  EXPECT_GT(recycled.staleness(p, other, other.sum()), 0.1);
}

TEST(RecycledDirections, ThatAreSavedPreconditionToTheSameBits) {
  RecycledDirections<Vec> recycled(2, Vec::Zero(4));
  keep(recycled, random_vector(4, 1));
  keep(recycled, random_vector(4, 2));
  recycled.commit();
  RecycledDirections<Vec> restored(2, Vec::Zero(4));
  read_back(written(recycled), restored);
  Vec a(4);
  Vec b(4);
  recycled.precondition(Vec::Ones(4), a);
  restored.precondition(Vec::Ones(4), b);
  EXPECT_TRUE(same_bits(a, b));
}

} // namespace
} // namespace duplex::testing
