// y and v of a lower level with many minimizers, against the pseudo-inverse.

#include "archived.hpp"
#include "support.hpp"

#include <duplex/methods/automatic/selected_response.hpp>

namespace duplex::testing {
namespace {

using automatic::Estimate;
using automatic::SelectedResponse;

Mat random_matrix(Index rows, Index columns, std::uint64_t seed) {
  Mat out(rows, columns);
  for (Index j = 0; j < columns; ++j) {
    out.col(j) = random_vector(rows, seed + static_cast<std::uint64_t>(j));
  }
  return out;
}

/// f = ½‖Ay − Bx‖² + slope·y.
struct WideLower : Point<Vec> {
  Mat a;
  Mat b;
  Vec tilt;
  int products = 0;

  [[nodiscard]] double value() const { return 0.5 * (a * y() - b * x()).squaredNorm() + tilt.dot(y()); }
  void grad_y(Vec &out) const { out = a.transpose() * (a * y() - b * x()) + tilt; }
  void hess_yy(const Vec &v, Vec &out) {
    ++products;
    out = a.transpose() * (a * v);
  }
};

/// F = ½‖y − c‖² + w Σ (y − c)⁴/4.
struct QuarticUpper : Point<Vec> {
  Vec c;
  double w = 0.0;

  [[nodiscard]] double value() const {
    const Vec from = y() - c;
    return 0.5 * from.squaredNorm() + 0.25 * w * from.array().pow(4).sum();
  }
  void grad_y(Vec &out) const {
    const Vec from = y() - c;
    out = from.array() + w * from.array().cube();
  }
  void hess_yy(const Vec &v, Vec &out) const {
    const Vec from = y() - c;
    out = v.array() * (1.0 + 3.0 * w * from.array().square());
  }
};

struct Selecting {
  WideLower lower;
  QuarticUpper upper;
  Estimate<Vec> point;
  SelectedResponse<Vec> response{Vec::Zero(4), Vec::Zero(20)};

  explicit Selecting(double w = 0.0) {
    lower.a = random_matrix(8, 20, 1);
    lower.b = random_matrix(8, 4, 50);
    lower.tilt = Vec::Zero(20);
    upper.c = random_vector(20, 90);
    upper.w = w;
    point = automatic::estimate_at(State<Vec>{random_vector(4, 91), Vec::Zero(20), Vec::Zero(20)});
  }
  [[nodiscard]] LinearStatus solve() { return response.solve(lower, upper, point); }
  /// The y nearest to c of those with Ay = Bx.
  [[nodiscard]] Vec nearest() const {
    const Vec missing = lower.b * point.at.x - lower.a * upper.c;
    return upper.c + dense::least_squares<double>(lower.a, missing);
  }
};

TEST(ASelectedResponse, IsRefusedWhereTheLowerLevelHasNoMinimizer) {
  Selecting run;
  run.lower.tilt = random_vector(20, 5);
  EXPECT_EQ(run.solve(), LinearStatus::singular);
}

TEST(ASelectedResponse, IsRefusedWhereNeitherLevelChooses) {
  Selecting run(-10.0);
  EXPECT_EQ(run.solve(), LinearStatus::singular);
}

TEST(ASelectedResponse, OfTwoQuadraticLevelsIsThatOfThePseudoInverse) {
  Selecting run;
  ASSERT_EQ(run.solve(), LinearStatus::converged);
  EXPECT_EQ(run.response.dimensions(), 12);
  EXPECT_LE((run.point.at.y - run.nearest()).norm(), 1e-11);
  const Vec slope = run.point.at.y - run.upper.c;
  const Vec multiplier = dense::least_squares<double>(run.lower.a.transpose() * run.lower.a, slope);
  EXPECT_LE(relative_error(run.lower.a * run.point.at.v, run.lower.a * multiplier), 1e-9) << "but for the null space";
  const int before = run.lower.products;
  run.point.at.x = random_vector(4, 92);
  ASSERT_EQ(run.solve(), LinearStatus::converged);
  EXPECT_LE((run.point.at.y - run.nearest()).norm(), 1e-11);
  EXPECT_LE(run.lower.products, before + 6) << "nothing is assembled again";
}

TEST(ASelectedResponse, OfAnUpperLevelThatIsNotQuadraticIsStationaryWhereTheLowerOneIsFlat) {
  Selecting run(3.0);
  ASSERT_EQ(run.solve(), LinearStatus::converged);
  Vec gradient(20);
  run.lower.at(run.point.at.x, run.point.at.y);
  run.lower.grad_y(gradient);
  EXPECT_LE(gradient.norm(), 1e-10);
  run.upper.at(run.point.at.x, run.point.at.y);
  run.upper.grad_y(gradient);
  const Vec in_range = run.lower.a.transpose() * dense::least_squares<double>(run.lower.a.transpose(), gradient);
  EXPECT_LE((gradient - in_range).norm(), 1e-8 * gradient.norm());
}

TEST(ASelectedResponse, ThatIsRestoredGivesTheSameBits) {
  Selecting run(3.0);
  ASSERT_EQ(run.solve(), LinearStatus::converged);
  Selecting other(3.0);
  read_back(written(run.response), other.response);
  other.response.restore(other.lower, other.upper);
  other.point = run.point;
  run.point.at.x = other.point.at.x = random_vector(4, 93);
  ASSERT_EQ(run.solve(), LinearStatus::converged);
  ASSERT_EQ(other.solve(), LinearStatus::converged);
  EXPECT_TRUE(same_bits(run.point.at, other.point.at));
}

} // namespace
} // namespace duplex::testing
