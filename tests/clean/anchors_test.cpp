// Labels that are wrong by class, seen through models that were fitted to them.

#include "support.hpp"

#include "clean/anchors.hpp"
#include "clean/cleaning.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <random>
#include <vector>

namespace duplex::testing {
namespace {

using Names = std::vector<std::uint32_t>;

Eigen::MatrixXd every_third_of_class_one_is_called_zero() {
  return (Eigen::MatrixXd(2, 2) << 1.0, 0.0, 1.0 / 3.0, 2.0 / 3.0).finished();
}

clean::Matrix logarithms(const Eigen::MatrixXd &probabilities) {
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

TEST(Anchors, OfNoRowsTellNothing) {
  EXPECT_TRUE(clean::transition_by_anchors(clean::Matrix(0, 3), {}).isIdentity());
  EXPECT_EQ(clean::beliefs_of_true_classes(clean::Matrix(0, 3), Eigen::MatrixXd::Identity(3, 3)).rows(), 0);
}

TEST(Anchors, OfAClassWithHandfulOfRowsTellNothing) {
  clean::Matrix log_p = logarithms(Eigen::MatrixXd::Constant(30, 2, 0.5));
  Names labels(30, 0);
  std::fill_n(labels.begin(), 9, 1U);
  const auto transition = clean::transition_by_anchors(log_p, labels);
  EXPECT_NEAR(transition(0, 1), 0.5, 1e-6);
  EXPECT_EQ(transition(1, 1), 1.0);
}

TEST(Anchors, TellWhatPartOfAClassIsCalledAnother) {
  // Every tenth row is of class 1, and the model says of those what a third of wrong labels has taught it.
  constexpr Index count = 900;
  Eigen::MatrixXd q(count, 2);
  Names labels;
  for (Index i = 0; i < count; ++i) {
    const bool is_one = i % 10 == 0;
    q.row(i) = every_third_of_class_one_is_called_zero().row(is_one ? 1 : 0);
    labels.push_back(is_one && i % 30 != 0 ? 1 : 0);
  }
  const auto transition = clean::transition_by_anchors(logarithms(q), labels);
  EXPECT_NEAR(transition(1, 0), 1.0 / 3.0, 1e-6);
  EXPECT_NEAR(transition(0, 0), 1.0, 1e-6);
}

TEST(BeliefsOfTrueClasses, AreTheBeliefsOfLabelsWhereLabelsAreRight) {
  const auto log_q = logarithms(drawn_probabilities(50, 4, 1));
  const auto log_p = clean::beliefs_of_true_classes(log_q, Eigen::MatrixXd::Identity(4, 4));
  EXPECT_LE((log_p.array().exp() - log_q.array().exp()).abs().maxCoeff(), 1e-5F);
}

TEST(BeliefsOfTrueClasses, AreTheSolutionOfTheLinearSystemWhereThatIsAProbability) {
  const Eigen::MatrixXd p = drawn_probabilities(200, 3, 2);
  Eigen::MatrixXd transition = Eigen::MatrixXd::Identity(3, 3);
  transition.row(2) << 0.0, 0.4, 0.6;
  const Eigen::MatrixXd q = p * transition;
  const auto log_p = clean::beliefs_of_true_classes(logarithms(q), transition);
  const Eigen::MatrixXd found = log_p.cast<double>().array().exp();
  EXPECT_LE((found * transition - q).cwiseAbs().maxCoeff(), 0.02);
  EXPECT_LE((found - p).cwiseAbs().maxCoeff(), 0.2 * (q - p).cwiseAbs().maxCoeff());
}

TEST(BeliefsOfTrueClasses, AreProbabilitiesWhereTheSolutionOfTheLinearSystemIsNone) {
  Eigen::MatrixXd q(1, 2);
  q << 0.1, 0.9; // more than the two thirds that a row of class 1 is called so: the solution is p = (-.35, 1.35)
  const auto log_p = clean::beliefs_of_true_classes(logarithms(q), every_third_of_class_one_is_called_zero());
  EXPECT_NEAR(log_p.array().exp().sum(), 1.0F, 1e-5F);
  EXPECT_GT(log_p(0, 1), std::log(0.99F));
}

/// Clouds of points, a class each.
struct Classes {
  LabelledSamples samples;
  Names right;
};

/// `name` gives a row of a class its label, by a number between 0 and 1.
template <class Name>
Classes drawn_classes(const std::vector<double> &shares, Index rows, std::uint64_t seed, Name name) {
  constexpr Index columns = 6;
  std::mt19937_64 generator(seed);
  std::discrete_distribution<std::uint32_t> classes(shares.begin(), shares.end());
  std::normal_distribution<float> normal;
  std::uniform_real_distribution<double> part;
  FeatureTable features(Storage::float32, columns);
  Names given;
  Names right;
  for (Index i = 0; i < rows; ++i) {
    const std::uint32_t k = classes(generator);
    std::array<float, columns> row{};
    std::generate(row.begin(), row.end(), [&] { return normal(generator); });
    row[k % columns] += 3.0F;
    features.append(row);
    right.push_back(k);
    given.push_back(name(k, part(generator)));
  }
  return {{std::make_shared<const FeatureTable>(std::move(features)), std::make_shared<const Names>(std::move(given))},
          std::move(right)};
}

double f1_of_suspects(const Classes &noisy, const clean::Result &result) {
  double found = 0.0;
  double called = 0.0;
  double wrong = 0.0;
  for (std::size_t i = 0; i < noisy.right.size(); ++i) {
    const bool is_called = result.trust[static_cast<Index>(i)] < result.suspect_below;
    const bool is_wrong = noisy.right[i] != (*noisy.samples.labels)[i];
    found += is_called && is_wrong ? 1.0 : 0.0;
    called += is_called ? 1.0 : 0.0;
    wrong += is_wrong ? 1.0 : 0.0;
  }
  return 2.0 * found / (called + wrong);
}

double mean_f1(const std::vector<double> &shares, Index trusted_rows, const auto &name) {
  const auto as_it_is = [](std::uint32_t k, double) { return k; };
  constexpr int draws = 4;
  double sum = 0.0;
  for (std::uint64_t seed = 1; seed <= draws; ++seed) {
    const Classes noisy = drawn_classes(shares, 1200, seed, name);
    const Classes trusted = drawn_classes(shares, trusted_rows, 100 + seed, as_it_is);
    clean::Options options;
    options.threads = 1;
    const auto result = clean::clean(noisy.samples, trusted.samples, static_cast<Index>(shares.size()), options);
    sum += f1_of_suspects(noisy, result) / draws;
  }
  return sum;
}

TEST(CleaningWithFewTrustedRows, FindsLabelsThatAreTakenForThoseOfTheNextClass) {
  EXPECT_GT(mean_f1({1, 1, 1, 1, 1, 1}, 12, [](std::uint32_t k, double part) { return part < 0.35 ? (k + 1) % 6 : k; }),
            0.85);
}

} // namespace
} // namespace duplex::testing
