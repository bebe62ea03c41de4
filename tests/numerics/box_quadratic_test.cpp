// Quadratic functions over boxes, against all faces of the box.

#include "support.hpp"

#include <duplex/numerics/box_quadratic.hpp>

#include <Eigen/Cholesky>

#include <cmath>
#include <vector>

namespace duplex::testing {
namespace {

using dense::minimize_in_box;

constexpr double accuracy = 1e-12;

/// The smallest value over the box, by solving on each of its 3ⁿ faces.
double smallest_of_all_faces(const Mat &h, const Vec &g, const Vec &lower, const Vec &upper) {
  const Index n = g.size();
  double smallest = infinity;
  for (int face = 0; face < static_cast<int>(std::pow(3, n)); ++face) {
    Vec p = Vec::Zero(n);
    std::vector<Index> free;
    for (Index j = 0, rest = face; j < n; ++j, rest /= 3) {
      if (rest % 3 == 2) {
        free.push_back(j);
      } else {
        p[j] = rest % 3 == 0 ? lower[j] : upper[j];
      }
    }
    if (!free.empty()) {
      const Vec slope = (g + h * p)(free);
      const Mat part = h(free, free);
      p(free) = Vec(-part.ldlt().solve(slope));
    }
    if ((p.array() >= lower.array()).all() && (p.array() <= upper.array()).all()) {
      smallest = std::min(smallest, g.dot(p) + 0.5 * p.dot(h * p));
    }
  }
  return smallest;
}

/// With random curvatures of at least `least`, a random slope, and bounds of random widths about `width`.
struct RandomModel {
  Mat h;
  Vec g;
  Vec lower;
  Vec upper;

  RandomModel(Index n, double least, double width, std::uint64_t seed)
      : g(random_vector(n, seed + 100)), lower(-width * random_vector(n, seed + 200).cwiseAbs()),
        upper(width * random_vector(n, seed + 300).cwiseAbs()) {
    const Vec numbers = random_vector(n * n, seed);
    const Mat root = Eigen::Map<const Mat>(numbers.data(), n, n);
    h = root * root.transpose() + least * Mat::Identity(n, n);
  }
  [[nodiscard]] Vec minimizer() const { return minimize_in_box(h, g, lower, upper, accuracy); }
};

TEST(MinimizeInBox, StaysAtZeroWhereTheBoxIsAPoint) {
  const Vec nothing = Vec::Zero(2);
  EXPECT_EQ(minimize_in_box(Mat::Identity(2, 2), Vec::Ones(2), nothing, nothing, accuracy), nothing);
}

TEST(MinimizeInBox, IsNewtonsStepWhereNoBoundIsInTheWay) {
  const Mat root = Mat::Random(4, 4);
  const Mat h = root * root.transpose() + 0.1 * Mat::Identity(4, 4);
  const Vec g = random_vector(4, 1);
  const Vec far = Vec::Constant(4, 1e6);
  const Vec truth = -h.ldlt().solve(g);
  EXPECT_LE(relative_error(minimize_in_box(h, g, -far, far, accuracy), truth), 1e-10);
}

TEST(MinimizeInBox, FindsTheLowestOfAllFaces) {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    const RandomModel model(5, 1e-3, 0.3, seed);
    const Vec p = model.minimizer();
    EXPECT_TRUE((p.array() >= model.lower.array()).all() && (p.array() <= model.upper.array()).all()) << seed;
    const double smallest = smallest_of_all_faces(model.h, model.g, model.lower, model.upper);
    EXPECT_NEAR(model.g.dot(p) + 0.5 * p.dot(model.h * p), smallest, 1e-9 * std::abs(smallest)) << seed;
  }
}

TEST(MinimizeInBox, IsStationaryInManyDimensions) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    const RandomModel model(30, 1e-2, 0.1, seed);
    const Vec p = model.minimizer();
    const Vec downhill = p - (model.g + model.h * p) / model.h.diagonal().maxCoeff();
    const Vec step = downhill.cwiseMax(model.lower).cwiseMin(model.upper);
    EXPECT_LE((step - p).norm(), 1e-7 * model.upper.norm()) << seed;
  }
}

TEST(MinimizeInBox, LowersAModelThatBendsDown) {
  Mat h = Mat::Identity(3, 3);
  h(0, 0) = -1.0;
  const Vec g(Vec::Constant(3, 0.1));
  const Vec one = Vec::Ones(3);
  const Vec p = minimize_in_box(h, g, -one, one, accuracy);
  EXPECT_EQ(p[0], -1.0);
  EXPECT_LT(g.dot(p) + 0.5 * p.dot(h * p), 0.0);
}

TEST(MinimizeInBox, EndsWhereNoMoveLowersAModelThatBendsDown) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    RandomModel model(30, -8.0, 0.5, seed);
    const Vec p = model.minimizer();
    EXPECT_TRUE((p.array() >= model.lower.array()).all() && (p.array() <= model.upper.array()).all()) << seed;
    EXPECT_LT(model.g.dot(p) + 0.5 * p.dot(model.h * p), 0.0) << seed;
    const Vec downhill = p - (model.g + model.h * p) / model.h.diagonal().maxCoeff();
    const Vec step = downhill.cwiseMax(model.lower).cwiseMin(model.upper);
    EXPECT_LE((step - p).norm(), 1e-6 * model.upper.norm()) << seed;
  }
}

TEST(MinimizeInBox, FindsTheSmallestValueOfAFlatModel) {
  const Vec numbers = random_vector(60, 4);
  const Mat root = Eigen::Map<const Mat>(numbers.data(), 20, 3); // of rank three
  const Mat h = root * root.transpose();
  const Vec weights = random_vector(3, 5);
  const Vec g = root * weights;
  const Vec far = Vec::Constant(20, 1e3);
  const Vec p = minimize_in_box(h, g, -far, far, 1e-8);
  const double smallest = -0.5 * weights.squaredNorm();
  EXPECT_NEAR(g.dot(p) + 0.5 * p.dot(h * p), smallest, 1e-9 * std::abs(smallest));
  EXPECT_LE(p.norm(), 10.0) << "and does not go far where nothing is gained";
}

} // namespace
} // namespace duplex::testing
