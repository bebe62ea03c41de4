// How many labels are taken for wrong where the models disagree with them, and trust that is lowered for it.

#include "support.hpp"

#include "clean/disagreement.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace duplex::testing {
namespace {

using clean::Disagreement;
using Labels = std::vector<std::uint32_t>;

/// Rows of two classes that the models believe to be of class 0 with this probability.
clean::Matrix beliefs(const std::vector<float> &of_first) {
  clean::Matrix log_p(static_cast<Index>(of_first.size()), 2);
  for (Index i = 0; i < log_p.rows(); ++i) {
    const float p = of_first[static_cast<std::size_t>(i)];
    log_p(i, 0) = std::log(p);
    log_p(i, 1) = std::log(1.0F - p);
  }
  return log_p;
}

TEST(LowerTrust, LeavesNoTrustAtAllAsItIs) {
  clean::Vector none;
  clean::lower_trust(0.5, none);
  EXPECT_EQ(none.size(), 0);
}

TEST(LowerTrust, LeavesTrustThatIsLowEnough) {
  const clean::Vector before = (clean::Vector(3) << 0.2F, 0.9F, 1.0F).finished();
  clean::Vector trust = before;
  clean::lower_trust(0.3, trust);
  EXPECT_TRUE(trust == before);
}

TEST(LowerTrust, MakesAsManyLabelsWrongAsAreAskedForAndKeepsTheirOrder) {
  const clean::Vector before = clean::Vector::LinSpaced(101, 0.3F, 1.0F);
  clean::Vector trust = before;
  clean::lower_trust(0.6, trust);
  EXPECT_NEAR(1.0F - trust.mean(), 0.6F, 1e-4F);
  EXPECT_TRUE(std::is_sorted(trust.begin(), trust.end()));
  EXPECT_TRUE((trust.array() <= before.array()).all());
}

TEST(DisagreementOf, IsThePartOfTheLabelsThatAreImprobable) {
  const auto rows = beliefs({0.9F, 0.8F, 0.3F, 0.6F});
  const Labels given{0, 1, 1, 0};
  const auto sure = beliefs({0.9F, 0.2F});
  const Labels right{0, 0};
  const clean::Matrix posterior = rows.array().exp();
  const auto found = clean::disagreement_of({.log_p = rows, .labels = given}, {.log_p = sure, .labels = right},
                                            {.posterior = posterior});
  EXPECT_DOUBLE_EQ(found.part, 0.25);
  EXPECT_DOUBLE_EQ(found.right, 0.5);
  EXPECT_NEAR(found.difference, (std::log(0.9) + std::log(0.2)) / 2 - std::log(0.9 * 0.2 * 0.7 * 0.6) / 4, 1e-6);
  EXPECT_GT(found.error, 0.0);
}

TEST(DisagreementOf, IsNoneWhereLabelsThatAreWrongByClassAreKnown) {
  // A third of the labels of class 1 are wrong, the account knows of it, and trusted rows are told as well as can be.
  const auto rows = beliefs({0.99F, 0.99F, 0.99F, 0.01F, 0.01F, 0.01F});
  const Labels given{0, 0, 0, 1, 1, 0};
  const auto trusted = beliefs({0.99F, 0.01F});
  const Labels right{0, 1};
  const clean::Matrix posterior = rows.array().exp();
  const auto difference = [&](double by_class) {
    return clean::disagreement_of({.log_p = rows, .labels = given}, {.log_p = trusted, .labels = right},
                                  {.posterior = posterior, .share_by_class = by_class})
        .difference;
  };
  EXPECT_NEAR(difference(0.0), (std::log(0.99) - std::log(0.01)) / 6, 1e-5);
  EXPECT_NEAR(difference(1.0), 0.0, 0.05);
  EXPECT_NEAR(difference(0.5), 0.5 * (difference(0.0) + difference(1.0)), 1e-6);
}

TEST(ProbabilityOfWrongLabels, GrowsWithADifferenceInEitherDirection) {
  const auto probability = [](double difference, double error) {
    return clean::probability_of_wrong_labels({.difference = difference, .error = error});
  };
  EXPECT_NEAR(probability(0.0, 1e6), 0.75, 1e-9) << "trusted rows that say nothing leave what was believed before";
  EXPECT_GT(probability(0.3, 0.1), 0.9);
  EXPECT_EQ(probability(-0.3, 0.1), probability(0.3, 0.1));
  EXPECT_LT(probability(0.0, 0.1), 0.6);
  EXPECT_LT(probability(0.0, 0.02), 0.25) << "many trusted rows that are told as well as given ones";
  EXPECT_LE(probability(1e3, 1e-2), 1.0);
}

TEST(PartTakenForWrong, IsSmallerWhereModelsAreKnownToBeWrong) {
  const Disagreement clear{.part = 0.2, .right = 1.0, .difference = 9.0, .error = 0.1};
  EXPECT_NEAR(clean::part_taken_for_wrong(clear, 0.0), 0.2, 1e-9);
  Disagreement overlapping = clear;
  overlapping.right = 0.75;
  EXPECT_NEAR(clean::part_taken_for_wrong(overlapping, 0.0), 0.15, 1e-9);
}

TEST(PartTakenForWrong, IsNothingWhereLabelsAreWrongByClass) {
  const Disagreement large{.part = 0.4, .right = 1.0, .difference = 9.0, .error = 0.1};
  EXPECT_NEAR(clean::part_taken_for_wrong(large, 0.1), 0.2, 1e-9);
  EXPECT_EQ(clean::part_taken_for_wrong(large, 0.12), 0.0);
  EXPECT_EQ(clean::part_taken_for_wrong(large, 0.5), 0.0);
}

} // namespace
} // namespace duplex::testing
