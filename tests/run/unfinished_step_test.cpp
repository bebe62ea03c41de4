// What a step that is left in its middle goes back to.

#include "support.hpp"

#include <duplex/run/unfinished_step.hpp>

namespace duplex::testing {
namespace {

using Vector = Eigen::VectorXd;

TEST(UnfinishedStep, GoesBackToTheYAndVOfBeforeAndLeavesX) {
  State<Vector> state{Vector::Ones(1), Vector::Ones(2), Vector::Ones(3)};
  detail::UnfinishedStep<Vector> before;
  before.keep(state);
  state = {Vector::Zero(1), Vector::Zero(2), Vector::Zero(3)};
  before.put_back(state);
  EXPECT_EQ(state.x, Vector::Zero(1));
  EXPECT_EQ(state.y, Vector::Ones(2));
  EXPECT_EQ(state.v, Vector::Ones(3));
}

TEST(UnfinishedStep, GivesTheSnapshotThatWasKeptOnce) {
  detail::UnfinishedStep<Vector> before;
  EXPECT_TRUE(before.snapshot_is_due());
  EXPECT_FALSE(before.take_snapshot().has_value());
  before.keep_snapshot([] {
    SavedState saved;
    saved.put("step", std::string("the third"));
    return saved;
  });
  const auto snapshot = before.take_snapshot();
  ASSERT_TRUE(snapshot.has_value());
  EXPECT_EQ(snapshot->get<std::string>("step"), "the third");
  EXPECT_FALSE(before.take_snapshot().has_value());
}

} // namespace
} // namespace duplex::testing
