// How many labels are taken for wrong where the models disagree with them, and trust that is lowered for it.

#include "support.hpp"

#include "clean/disagreement.hpp"

#include <algorithm>
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
  const auto found = clean::disagreement_of({.log_p = rows, .labels = given}, {.log_p = beliefs({}), .labels = {}});
  EXPECT_DOUBLE_EQ(found.part, 0.25);
  EXPECT_EQ(found.deviation, 0.0) << "no trusted row says anything";
}

TEST(DisagreementOf, DeviatesInTheDirectionOfTheLabelsThatAreToldBetter) {
  const auto sure = beliefs(std::vector<float>(50, 0.9F));
  Labels mostly(50, 0);
  for (std::size_t i = 0; i < 10; ++i) {
    mostly[i] = 1;
  }
  const Labels always(50, 0);
  const auto deviation = [&](const Labels &given, const Labels &right) {
    return clean::disagreement_of({.log_p = sure, .labels = given}, {.log_p = sure, .labels = right}).deviation;
  };
  EXPECT_GT(deviation(mostly, always), 2.0);
  EXPECT_LT(deviation(always, mostly), -2.0);
  EXPECT_EQ(deviation(mostly, mostly), 0.0);
}

TEST(PartTakenForWrong, IsHalfOfTheDisagreementUnlessTrustedRowsSpeakUp) {
  EXPECT_DOUBLE_EQ(clean::part_taken_for_wrong({.part = 0.2, .deviation = 0.0}, 0.0), 0.1);
  EXPECT_DOUBLE_EQ(clean::part_taken_for_wrong({.part = 0.2, .deviation = -1.0}, 0.0), 0.15);
  EXPECT_DOUBLE_EQ(clean::part_taken_for_wrong({.part = 0.2, .deviation = 9.0}, 0.0), 0.2);
}

TEST(PartTakenForWrong, IsNothingWhereLabelsAreWrongByClass) {
  const Disagreement large{.part = 0.4, .deviation = 9.0};
  EXPECT_DOUBLE_EQ(clean::part_taken_for_wrong(large, 0.1), 0.2);
  EXPECT_EQ(clean::part_taken_for_wrong(large, 0.12), 0.0);
  EXPECT_EQ(clean::part_taken_for_wrong(large, 0.5), 0.0);
}

} // namespace
} // namespace duplex::testing
