// How labels came about: which of them are wrong by class, which near boundaries, and what is called a suspect.

#include "support.hpp"
#include "suspects.hpp"

#include "clean/label_account.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

namespace duplex::testing {
namespace {

using clean::account_for_labels;
using clean::LabelAccount;
using clean::Matrix;
using clean::Sharpness;
using clean::threshold_of_best_f1;
using clean::Vector;

/// Rows on a line, of two classes that meet at zero: P(class 1 | x) = σ(steepness·x), and labels that are right.
struct Line {
  std::vector<double> x;
  Matrix log_p;
  std::vector<std::uint32_t> right;

  Line(Index count, double steepness, std::uint64_t seed) : log_p(count, 2) {
    std::mt19937_64 generator(seed);
    std::uniform_real_distribution<double> anywhere(-1.0, 1.0);
    for (Index i = 0; i < count; ++i) {
      x.push_back(anywhere(generator));
      const double odds = steepness * x.back();
      log_p(i, 0) = static_cast<float>(-std::log1p(std::exp(odds)));
      log_p(i, 1) = static_cast<float>(-std::log1p(std::exp(-odds)));
      right.push_back(x.back() > 0.0 ? 1 : 0);
    }
  }
};

Vector trust_of(const LabelAccount &account, const std::vector<std::uint32_t> &given) {
  Vector trust(static_cast<Index>(given.size()));
  for (std::size_t i = 0; i < given.size(); ++i) {
    trust[static_cast<Index>(i)] = account.posterior(static_cast<Index>(i), given[i]);
  }
  return trust;
}

std::vector<std::uint32_t> flipped_by_chance(const std::vector<std::uint32_t> &right, double part) {
  std::mt19937_64 generator(3);
  std::bernoulli_distribution flips(part);
  auto given = right;
  for (auto &label : given) {
    label = flips(generator) ? 1 - label : label;
  }
  return given;
}

std::vector<std::uint32_t> flipped_near_zero(const Line &line, double within) {
  auto given = line.right;
  for (std::size_t i = 0; i < given.size(); ++i) {
    given[i] = std::abs(line.x[i]) < within ? 1 - given[i] : given[i];
  }
  return given;
}

TEST(AccountOfLabels, NeedsNoTrustedRows) {
  const Line line(400, 8.0, 1);
  const Matrix none(0, 2);
  const auto account = account_for_labels({line.log_p, line.right}, {none, {}}, Sharpness::found);
  EXPECT_TRUE(account.posterior.allFinite());
  EXPECT_LE((account.posterior.rowwise().sum().array() - 1.0F).abs().maxCoeff(), 1e-5F);
}

TEST(AccountOfLabels, OfBeliefsWithoutADoubtIsFinite) {
  Matrix certain(6, 3);
  certain.setConstant(-60.0F); // whose squares are nothing beside one, where sums are taken by differences
  std::vector<std::uint32_t> given;
  for (Index i = 0; i < 6; ++i) {
    certain(i, i % 3) = 0.0F;
    given.push_back(static_cast<std::uint32_t>(i % 3));
  }
  given[0] = 2;
  const auto account = account_for_labels({certain, given}, {certain, given}, Sharpness::found);
  EXPECT_TRUE(account.posterior.allFinite());
  EXPECT_LT(account.posterior(0, 2), 0.5F);
  EXPECT_GT(account.posterior(1, 1), 0.5F);
}

TEST(AccountOfLabels, FindsHowOftenLabelsAreWrongByClass) {
  const Line line(1500, 20.0, 2);
  const Line trusted(50, 20.0, 3);
  const auto given = flipped_by_chance(line.right, 0.2);
  const auto account = account_for_labels({line.log_p, given}, {trusted.log_p, trusted.right}, Sharpness::found);
  EXPECT_NEAR(account.noise.transition(0, 1), 0.2, 0.05);
  EXPECT_NEAR(account.wrong_by_class, 0.2, 0.05);
  EXPECT_LT(account.near_boundaries, 0.03);
  EXPECT_GT(f1_of(trust_of(account, given), 0.5F, given, line.right), 0.9);
}

TEST(AccountOfLabels, OfARareClassThatLosesItsLabelsDoesNotBlameItsNeighbours) {
  // Of a class of 6 %, of which the model is not sure, a third is called by the other's name and never the reverse.
  constexpr Index count = 2000;
  std::mt19937_64 generator(6);
  std::normal_distribution<double> odds_of_rare(2.0, 2.0);
  std::bernoulli_distribution is_lost(0.35);
  Matrix log_p(count, 2);
  std::vector<std::uint32_t> right;
  std::vector<std::uint32_t> given;
  for (Index i = 0; i < count; ++i) {
    const bool is_rare = i % 17 == 0;
    const double odds = is_rare ? odds_of_rare(generator) : -6.0;
    log_p(i, 0) = static_cast<float>(-std::log1p(std::exp(odds)));
    log_p(i, 1) = static_cast<float>(-std::log1p(std::exp(-odds)));
    right.push_back(is_rare ? 1 : 0);
    given.push_back(is_rare && !is_lost(generator) ? 1 : 0);
  }
  const Line trusted(20, 20.0, 7);
  const auto account = account_for_labels({log_p, given}, {trusted.log_p, trusted.right}, Sharpness::found);
  EXPECT_GT(account.noise.transition(1, 0), 0.2);
  const Vector trust = trust_of(account, given);
  const float threshold = threshold_of_best_f1(trust);
  double called_of_rare = 0.0;
  for (Index i = 0; i < count; ++i) {
    const bool is_called = trust[i] < threshold;
    called_of_rare += is_called && given[static_cast<std::size_t>(i)] == 1 ? 1.0 : 0.0;
  }
  EXPECT_LE(called_of_rare, 5.0) << "all of some eighty are right";
}

TEST(AccountOfLabels, FindsLabelsThatAreWrongNearABoundary) {
  const Line line(1500, 8.0, 4);
  const Line trusted(50, 8.0, 5);
  const auto given = flipped_near_zero(line, 0.2);
  const auto account = account_for_labels({line.log_p, given}, {trusted.log_p, trusted.right}, Sharpness::found);
  const Vector trust = trust_of(account, given);
  EXPECT_NEAR(account.near_boundaries, 0.2, 0.05);
  EXPECT_LT(account.wrong_by_class, 0.05);
  const double f1 = f1_of(trust, threshold_of_best_f1(trust), given, line.right);
  EXPECT_GT(f1, 0.9);
}

TEST(AccountOfLabels, RefusesBeliefsThatAreNotFinite) {
  Line line(20, 8.0, 1);
  line.log_p(3, 1) = std::numeric_limits<float>::quiet_NaN();
  const Matrix none(0, 2);
  EXPECT_THROW((void)account_for_labels({line.log_p, line.right}, {none, {}}, Sharpness::found), NotAvailable);
}

TEST(AccountOfLabels, EndsOnRequest) {
  const Line line(400, 8.0, 1);
  const Matrix none(0, 2);
  const std::atomic<bool> interrupt = true;
  EXPECT_THROW((void)account_for_labels({line.log_p, line.right}, {none, {}}, Sharpness::found, &interrupt),
               Interrupted);
}

/// Given labels take turns, as they do in the order in which rows are cleaned.
TEST(AccountOfLabels, OfManyRowsDoesNotDependOnTheirOrder) {
  constexpr std::size_t count = 8000;
  const Line line(count, 8.0, 10);
  const auto given = flipped_by_chance(line.right, 0.1);
  std::array<std::vector<std::size_t>, 2> of_label;
  for (std::size_t i = 0; i < count; ++i) {
    of_label.at(given[i]).push_back(i);
  }
  const std::size_t turns = std::min(of_label[0].size(), of_label[1].size());
  Matrix log_p(static_cast<Index>(2 * turns), 2);
  std::vector<std::uint32_t> alternating;
  for (std::size_t i = 0; i < 2 * turns; ++i) {
    log_p.row(static_cast<Index>(i)) = line.log_p.row(static_cast<Index>(of_label.at(i % 2)[i / 2]));
    alternating.push_back(static_cast<std::uint32_t>(i % 2));
  }
  const Matrix none(0, 2);
  const auto account = account_for_labels({log_p, alternating}, {none, {}}, Sharpness::found);
  EXPECT_NEAR(account.wrong_by_class + account.near_boundaries, 0.1, 0.05);
}

/// Every class is called by the name of the next one in four of ten rows.
TEST(AccountOfLabels, LearnsPairsOfManyClassesFromAllTheirRows) {
  constexpr Index count = 8000;
  constexpr Index classes = 20;
  std::mt19937_64 generator(11);
  std::bernoulli_distribution flips(0.4);
  Matrix log_p = Matrix::Constant(count, classes, -7.0F);
  std::vector<std::uint32_t> given;
  for (Index i = 0; i < count; ++i) {
    const Index right = i % classes;
    log_p(i, right) = -0.01F;
    given.push_back(static_cast<std::uint32_t>(flips(generator) ? (right + 1) % classes : right));
  }
  const Matrix none(0, classes);
  const auto account = account_for_labels({log_p, given}, {none, {}}, Sharpness::as_it_is);
  EXPECT_NEAR(account.wrong_by_class, 0.4, 0.06);
}

TEST(AccountOfLabels, IsThatOfAPartOfManyRows) {
  const Line line(9000, 8.0, 6);
  const Line trusted(50, 8.0, 7);
  const auto given = flipped_near_zero(line, 0.2);
  const auto account = account_for_labels({line.log_p, given}, {trusted.log_p, trusted.right}, Sharpness::found);
  const Vector trust = trust_of(account, given);
  EXPECT_GT(f1_of(trust, threshold_of_best_f1(trust), given, line.right), 0.9);
}

TEST(AccountOfLabels, MakesLabelsToLearnFromNoSurerThanTheScores) {
  const Line blunt(1500, 3.0, 8); // of classes that do not overlap
  const Matrix none(0, 2);
  const auto as_it_is = account_for_labels({blunt.log_p, blunt.right}, {none, {}}, Sharpness::as_it_is);
  const auto found = account_for_labels({blunt.log_p, blunt.right}, {none, {}}, Sharpness::found);
  EXPECT_GT(trust_of(found, blunt.right).mean(), trust_of(as_it_is, blunt.right).mean());
}

/// The first of three sources is always right, the last always wrong.
TEST(AccountOfLabels, TellsSourcesThatAreRightFromThoseThatAreWrong) {
  const Line line(1200, 3.0, 12);
  auto given = line.right;
  std::vector<std::uint32_t> sources;
  for (std::size_t i = 0; i < given.size(); ++i) {
    sources.push_back(static_cast<std::uint32_t>(i % 3));
    given[i] = i % 3 == 2 || (i % 3 == 1 && i % 2 == 0) ? 1 - given[i] : given[i];
  }
  const Matrix none(0, 2);
  const auto account = account_for_labels({.log_p = line.log_p, .labels = given, .sources = sources, .source_count = 3},
                                          {.log_p = none, .labels = {}}, Sharpness::found);
  ASSERT_EQ(account.right_by_source.size(), 3U);
  EXPECT_GT(account.right_by_source[0], 0.9);
  EXPECT_NEAR(account.right_by_source[1], 0.5, 0.15);
  EXPECT_LT(account.right_by_source[2], 0.15);
  const auto without = account_for_labels({line.log_p, given}, {none, {}}, Sharpness::found);
  EXPECT_GT(trust_of(account, line.right).mean(), trust_of(without, line.right).mean() + 0.05F)
      << "what is believed of the right class";
  EXPECT_TRUE(without.right_by_source.empty());
}

TEST(AccountOfLabels, HasBeliefTimesLikelihoodForItsPosterior) {
  const Line line(300, 6.0, 13);
  const auto given = flipped_by_chance(line.right, 0.2);
  const Matrix none(0, 2);
  const auto account = account_for_labels({line.log_p, given}, {none, {}}, Sharpness::as_it_is);
  EXPECT_TRUE(account.likelihoods.allFinite());
  EXPECT_GE(account.likelihoods.minCoeff(), 0.0F);
  EXPECT_LE(account.likelihoods.maxCoeff(), 1.0F + 1e-5F);
  for (std::size_t i = 0; i < given.size(); ++i) { // labels are more likely where they are right
    const auto row = static_cast<Index>(i);
    EXPECT_GT(account.likelihoods(row, given[i]), account.likelihoods(row, 1 - given[i]));
  }
}

TEST(ThresholdOfBestF1, IsOneHalfWhereEverythingIsCertain) {
  EXPECT_FLOAT_EQ(threshold_of_best_f1((Vector(4) << 0.0F, 0.0F, 1.0F, 1.0F).finished()), 0.5F);
}

TEST(ThresholdOfBestF1, CallsNoRowThatIsAllButSurelyRight) {
  EXPECT_FLOAT_EQ(threshold_of_best_f1(Vector::Ones(5)), clean::most_trust_of_a_suspect);
  EXPECT_FLOAT_EQ(threshold_of_best_f1(Vector::Constant(100, 0.999F)), clean::most_trust_of_a_suspect);
}

TEST(ThresholdOfBestF1, IsThatOfTheBestOfAllNumbersOfCalls) {
  std::mt19937_64 generator(9);
  std::uniform_real_distribution<float> anywhere(0.0F, 1.0F);
  Vector trust(40);
  for (auto &entry : trust) {
    entry = anywhere(generator);
  }
  const double all = (1.0 - trust.cast<double>().array()).sum();
  const auto expected_f1 = [&](float threshold) {
    double called = 0.0;
    double wrong = 0.0;
    for (const float entry : trust) {
      called += entry < threshold ? 1.0 : 0.0;
      wrong += entry < threshold ? 1.0 - static_cast<double>(entry) : 0.0;
    }
    return 2.0 * wrong / (called + all);
  };
  double best = 0.0;
  for (const float entry : trust) {
    best = std::max(best, expected_f1(std::nextafter(entry, 2.0F)));
  }
  EXPECT_NEAR(expected_f1(threshold_of_best_f1(trust)), best, 1e-12);
}

} // namespace
} // namespace duplex::testing
