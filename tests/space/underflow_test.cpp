// Vectors that are too short to be measured, and those that are zero.

#include "support.hpp"

#include <duplex/space/underflow.hpp>

namespace duplex::testing {
namespace {

TEST(Underflow, IsNotWhatZeroDoes) { EXPECT_FALSE(underflows(Vec(Vec::Zero(3)), 1e-7)); }

TEST(Underflow, IsWhereTheSquareOfAPartIsNone) {
  EXPECT_TRUE(underflows(Vec(Vec::Constant(3, 1e-200)), 1.0));
  EXPECT_TRUE(underflows(Vec(Vec::Constant(3, 1e-150)), 1e-7));
  EXPECT_FALSE(underflows(Vec(Vec::Constant(3, 1e-150)), 1.0));
  EXPECT_TRUE(underflows(Eigen::VectorXf(Eigen::VectorXf::Constant(3, 1e-24F)), 1.0));
  EXPECT_FALSE(underflows(Eigen::VectorXf(Eigen::VectorXf::Constant(3, 1e-8F)), 1e-7));
}

} // namespace
} // namespace duplex::testing
