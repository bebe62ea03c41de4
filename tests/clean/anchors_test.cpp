// Labels that are wrong by class, seen through models that were fitted to them.

#include "support.hpp"
#include "suspects.hpp"

#include "clean/anchors.hpp"
#include "clean/cleaning.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <random>
#include <vector>

namespace duplex::testing {
namespace {

using Labels = std::vector<std::uint32_t>;

clean::Matrix log_beliefs(const Eigen::MatrixXd &probabilities) {
  return probabilities.array().max(1e-12).log().matrix().cast<float>();
}

/// Each row a probability of every class, few of them certain.
Eigen::MatrixXd drawn_probabilities(Index rows, Index classes, std::uint64_t seed) {
  Eigen::MatrixXd out =
      (2.0 * Eigen::Map<const Eigen::MatrixXd>(random_vector(rows * classes, seed).data(), rows, classes))
          .array()
          .exp();
  out.array().colwise() /= out.rowwise().sum().array().eval();
  return out;
}

TEST(Anchors, AreNotLookedForAmongBeliefsThatAreNotFinite) {
  const Labels labels(100, 0);
  for (const float wrong : {std::numeric_limits<float>::quiet_NaN(), -std::numeric_limits<float>::infinity()}) {
    clean::Matrix log_p = log_beliefs(Eigen::MatrixXd::Constant(100, 2, 0.5));
    log_p(50, 0) = wrong;
    EXPECT_THROW(clean::Anchors(log_p, labels), NotAvailable);
  }
}

TEST(Anchors, AreLeftOnRequest) {
  const std::atomic<bool> interrupt = true;
  const clean::Matrix log_p = log_beliefs(Eigen::MatrixXd::Constant(10, 2, 0.5));
  EXPECT_THROW((void)clean::Anchors(log_p, Labels(10, 0)).beliefs_of_true_classes(log_p, &interrupt), Interrupted);
}

TEST(Anchors, OfNoRowsTellNothing) {
  const clean::Anchors none(clean::Matrix(0, 3), {});
  EXPECT_TRUE(none.transition().isIdentity());
  EXPECT_EQ(none.beliefs_of_true_classes(clean::Matrix(0, 3)).rows(), 0);
}

TEST(Anchors, OfAClassWithAHandfulOfRowsTellNothing) {
  Labels labels(30, 0);
  std::fill_n(labels.begin(), 9, 1U);
  const clean::Anchors anchors(log_beliefs(Eigen::MatrixXd::Constant(30, 3, 1.0 / 3.0)), labels);
  EXPECT_NEAR(anchors.transition()(0, 1), 1.0 / 3.0, 1e-6);
  EXPECT_EQ(anchors.transition()(1, 1), 1.0);
  EXPECT_EQ(anchors.transition()(2, 2), 1.0) << "a class that no row is labelled";
}

TEST(Anchors, AreNeitherTheDoubtfulRowsOfAClassNorThoseThatAreSureByChance) {
  // Of class 0 the last twentieth is believed without a doubt, and the first half hardly.
  constexpr Index count = 100;
  Eigen::MatrixXd q(count, 2);
  for (Index i = 0; i < count; ++i) {
    q(i, 0) = i < 50 ? 0.1 : i < 95 ? 0.8 : 1.0;
  }
  q.col(1) = 1.0 - q.col(0).array();
  EXPECT_NEAR(clean::Anchors(log_beliefs(q), Labels(count, 0)).transition()(0, 0), 0.8, 1e-6);
}

/// Every tenth row is of class 1, and the model says of those what a third of wrong labels has taught it.
struct Third {
  Eigen::MatrixXd transition = (Eigen::MatrixXd(2, 2) << 1.0, 0.0, 1.0 / 3.0, 2.0 / 3.0).finished();
  Eigen::MatrixXd q{900, 2};
  Labels labels;
  Third() {
    for (Index i = 0; i < q.rows(); ++i) {
      const bool is_one = i % 10 == 0;
      q.row(i) = transition.row(is_one ? 1 : 0);
      labels.push_back(is_one && i % 30 != 0 ? 1 : 0);
    }
  }
};

TEST(Anchors, TellWhatPartOfAClassIsCalledAnother) {
  const Third third;
  const clean::Anchors anchors(log_beliefs(third.q), third.labels);
  EXPECT_LE((anchors.transition() - third.transition).cwiseAbs().maxCoeff(), 1e-6);
}

TEST(BeliefsOfTrueClasses, AreThoseOfLabelsWhereLabelsAreRight) {
  const auto log_q = log_beliefs(drawn_probabilities(50, 4, 1));
  const auto log_p = clean::Anchors(clean::Matrix(0, 4), {}).beliefs_of_true_classes(log_q);
  EXPECT_LE((log_p.array().exp() - log_q.array().exp()).abs().maxCoeff(), 1e-5F);
}

TEST(BeliefsOfTrueClasses, AreThoseOfLabelsWhereTheyWouldTakeMinutes) {
  const clean::Matrix log_q = clean::Matrix::Constant(1000, 2300, -std::log(2300.0F));
  const Labels labels(1000, 0);
  EXPECT_TRUE(clean::Anchors(log_q, labels).beliefs_of_true_classes(log_q) == log_q);
}

TEST(BeliefsOfTrueClasses, NearlySolveTheLinearSystemWhereThatGivesProbabilities) {
  const Third third;
  const clean::Anchors anchors(log_beliefs(third.q), third.labels);
  const Eigen::MatrixXd p = drawn_probabilities(2500, 2, 2);
  const Eigen::MatrixXd q = p * anchors.transition();
  const auto log_p = anchors.beliefs_of_true_classes(log_beliefs(q));
  const Eigen::MatrixXd found = log_p.cast<double>().array().exp();
  EXPECT_LE((found - p).cwiseAbs().maxCoeff(), 0.02);
  EXPECT_GE((q - p).cwiseAbs().maxCoeff(), 0.3) << "which is what they were before";
}

TEST(BeliefsOfTrueClasses, AreProbabilitiesWhereTheSolutionOfTheLinearSystemIsNone) {
  const Third third;
  Eigen::MatrixXd q(1, 2);
  q << 0.1, 0.9; // more than the two thirds that a row of class 1 is called so: the solution is p = (-.35, 1.35)
  const auto log_p = clean::Anchors(log_beliefs(third.q), third.labels).beliefs_of_true_classes(log_beliefs(q));
  EXPECT_NEAR(log_p.array().exp().sum(), 1.0F, 1e-5F);
  EXPECT_GT(log_p(0, 1), std::log(0.99F));
}

/// Clouds of points, a class each.
struct Classes {
  LabelledSamples samples;
  Labels right;
};

/// Six of them, of which this part of the rows has the label of the class that follows.
Classes six_classes(Index rows, double part_wrong, std::uint64_t seed) {
  constexpr std::uint32_t classes = 6;
  std::mt19937_64 generator(seed);
  std::uniform_int_distribution<std::uint32_t> any(0, classes - 1);
  std::normal_distribution<float> normal;
  std::bernoulli_distribution is_wrong(part_wrong);
  FeatureTable features(Storage::float32, classes);
  Labels given;
  Labels right;
  for (Index i = 0; i < rows; ++i) {
    const std::uint32_t k = any(generator);
    std::array<float, classes> row{};
    std::generate(row.begin(), row.end(), [&] { return normal(generator); });
    row[k] += 3.0F;
    features.append(row);
    right.push_back(k);
    given.push_back(is_wrong(generator) ? (k + 1) % classes : k);
  }
  return {{std::make_shared<const FeatureTable>(std::move(features)), std::make_shared<const Labels>(std::move(given))},
          std::move(right)};
}

TEST(CleaningWithFewTrustedRows, FindsLabelsThatAreTakenForThoseOfTheNextClass) {
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    const Classes noisy = six_classes(1200, 0.35, seed);
    const Classes trusted = six_classes(12, 0.0, 100 + seed);
    clean::Options options;
    options.threads = 1;
    const auto result = clean::clean(noisy.samples, trusted.samples, 6, options);
    EXPECT_GT(f1_of(result.trust, result.suspect_below, *noisy.samples.labels, noisy.right), 0.9)
        << "without anchors, .70, .72 and .77";
  }
}

} // namespace
} // namespace duplex::testing
