// Limited-memory BFGS against the matrix that it stands for.

#include "archived.hpp"
#include "support.hpp"

#include <duplex/numerics/secant_pairs.hpp>

#include <Eigen/Cholesky>

#include <vector>

namespace duplex::testing {
namespace {

TEST(SecantPairs, ThatAreNoneGiveSteepestDescent) {
  SecantPairs<Vec> pairs(3, Vec::Zero(2));
  Vec out(2);
  pairs.direction(Vec::Constant(2, 3.0), out);
  EXPECT_TRUE(pairs.empty());
  EXPECT_EQ(out[0], -3.0);
}

TEST(SecantPairs, WithoutRoomKeepNone) {
  SecantPairs<Vec> pairs(0, Vec::Zero(1));
  pairs.add(Vec::Ones(1), Vec::Ones(1), 1.0);
  EXPECT_TRUE(pairs.empty());
}

TEST(SecantPairs, AreTheInverseHessianOfBfgs) {
  const Vec spectrum = Vec::LinSpaced(4, 1.0, 7.0);
  std::vector<SecantPair<Vec>> pairs;
  Mat inverse = 0.3 * Mat::Identity(4, 4);
  for (const std::uint64_t seed : {1, 2, 3}) {
    const Vec s = random_vector(4, seed);
    const Vec g = spectrum.cwiseProduct(s);
    pairs.push_back({s, g, s.dot(g)});
    const Mat left = Mat::Identity(4, 4) - s * g.transpose() / s.dot(g);
    inverse = left * inverse * left.transpose() + s * s.transpose() / s.dot(g);
  }
  std::vector<double> weights;
  const Vec gradient = random_vector(4, 9);
  Vec out = gradient;
  apply_secant_pairs(
      pairs, [](Vec &vector) { vector *= 0.3; }, weights, out);
  EXPECT_LE(relative_error(out, inverse * gradient), 1e-14);
}

TEST(SecantPairs, BringAHessianUpToDate) {
  const Vec spectrum = Vec::LinSpaced(3, 1.0, 7.0);
  SecantPairs<Vec> pairs(3, Vec::Zero(3));
  Mat hessian = 20.0 * Mat::Identity(3, 3);
  for (const Index j : {0, 1, 2}) {
    const Vec s = Vec::Unit(3, j);
    const Vec g = spectrum.cwiseProduct(s);
    pairs.add(s, g, s.dot(g));
  }
  pairs.update(hessian);
  EXPECT_LE((hessian - Mat(spectrum.asDiagonal())).norm(), 1e-14);
}

TEST(SecantPairs, BringAHessianThatBendsDownUpToDate) {
  const Vec spectrum = (Vec(3) << -2.0, 3.0, 5.0).finished();
  SecantPairs<Vec> pairs(3, Vec::Zero(3));
  Mat hessian = 20.0 * Mat::Identity(3, 3);
  for (const Vec &s : {Vec((Vec(3) << 0.5, 1.0, 0.0).finished()), Vec((Vec(3) << 0.5, 0.0, 1.0).finished()),
                       Vec((Vec(3) << 0.5, 1.0, -1.0).finished())}) {
    const Vec g = spectrum.cwiseProduct(s);
    pairs.add(s, g, s.dot(g));
  }
  pairs.update(hessian);
  EXPECT_LE((hessian - Mat(spectrum.asDiagonal())).norm(), 1e-10);
}

TEST(SecantPairs, WithinSomeEntriesAreThoseOfTheProblemWithTheOthersFixed) {
  const Vec spectrum = Vec::LinSpaced(3, 1.0, 7.0);
  SecantPairs<Vec> pairs(3, Vec::Zero(3));
  SecantPairs<Vec> of_two(3, Vec::Zero(2));
  for (const std::uint64_t seed : {1, 2}) {
    const Vec s = random_vector(3, seed);
    const Vec g = spectrum.cwiseProduct(s);
    pairs.add(s, g, s.dot(g));
    of_two.add(s.head(2), g.head(2), s.head(2).dot(g.head(2)));
  }
  const Vec gradient = random_vector(3, 9);
  const Vec free = (Vec(3) << 1.0, 1.0, 0.0).finished();
  Vec out(3);
  Vec expected(2);
  pairs.direction_within(free, gradient, out, 1.0);
  of_two.direction(gradient.head(2), expected);
  EXPECT_LE((out.head(2) - expected).norm(), 1e-14);
  EXPECT_EQ(out[2], 0.0);
}

TEST(SecantPairs, ThatAreSavedGiveTheSameBits) {
  SecantPairs<Vec> pairs(2, Vec::Zero(3));
  SecantPairs<Vec> restored(2, Vec::Zero(3));
  for (const std::uint64_t seed : {1, 2, 3}) {
    const Vec s = random_vector(3, seed);
    pairs.add(s, 2.0 * s, 2.0 * s.squaredNorm());
  }
  read_back(written(pairs), restored);
  Vec a(3);
  Vec b(3);
  pairs.direction(Vec::Ones(3), a);
  restored.direction(Vec::Ones(3), b);
  EXPECT_TRUE(same_bits(a, b));
}

TEST(SecantPairs, GiveTheStepOfTheLastPairForItsChange) {
  SecantPairs<Vec> pairs(3, Vec::Zero(5));
  const Mat a = Vec(Vec::LinSpaced(5, 1.0, 9.0)).asDiagonal();
  Vec out(5);
  for (std::uint64_t k = 0; k < 7; ++k) { // more than are kept
    const Vec s = random_vector(5, k);
    const Vec change = a * s;
    pairs.add(s, change, s.dot(change));
    pairs.direction(change, out); // B Δd = s: the secant equation
    EXPECT_LE((out + s).norm(), 1e-12 * s.norm());
  }
}

TEST(SecantPairs, ThatSpanTheSpaceGiveNewtonsStepOnAQuadratic) {
  Mat root(4, 4);
  for (Index i = 0; i < root.size(); ++i) {
    root(i) = std::sin(1.0 + static_cast<double>(i));
  }
  const Mat a = root * root.transpose() + Mat::Identity(4, 4);
  SecantPairs<Vec> pairs(20, Vec::Zero(4));
  Vec x = Vec::Zero(4);
  Vec gradient = Vec::Ones(4);
  Vec move(4);
  for (int k = 0; k < 12; ++k) { // with exact line searches BFGS ends after as many steps as there are dimensions
    pairs.direction(gradient, move);
    const Vec change = a * move;
    const double t = -gradient.dot(move) / move.dot(change);
    if (!(gradient.norm() > 1e-12)) {
      break;
    }
    pairs.add(t * move, t * change, t * t * move.dot(change));
    x += t * move;
    gradient += t * change;
    EXPECT_LE(k, 6);
  }
  EXPECT_LE((x + a.llt().solve(Vec::Ones(4))).norm(), 1e-10);
}

TEST(SecantPairs, AreForgotten) {
  SecantPairs<Vec> pairs(3, Vec::Zero(1));
  pairs.add(Vec::Ones(1), Vec::Constant(1, 4.0), 4.0);
  EXPECT_FALSE(pairs.empty());
  pairs.forget();
  Vec out(1);
  pairs.direction(Vec::Ones(1), out);
  EXPECT_EQ(out[0], -1.0);
}

} // namespace
} // namespace duplex::testing
