// How guesses agree with labels, and how much features tell of labels.

#include "support.hpp"

#include "clean/beliefs.hpp"
#include "clean/skill.hpp"

#include <vector>

namespace duplex::testing {
namespace {

using ClassNumbers = std::vector<std::uint32_t>;

/// log p of two classes: so sure of the class that is said.
clean::Matrix said_with(float probability, const ClassNumbers &said) {
  clean::Matrix log_p(static_cast<Index>(said.size()), 2);
  for (Index i = 0; i < log_p.rows(); ++i) {
    const auto own = static_cast<Index>(said[static_cast<std::size_t>(i)]);
    log_p(i, own) = std::log(probability);
    log_p(i, 1 - own) = std::log(1.0F - probability);
  }
  return log_p;
}

TEST(AgreementOfLabels, BeyondChanceIsNothingOfARareClassThatIsNeverSaid) {
  const auto agreement = clean::agreement_of(ClassNumbers(20, 0), ClassNumbers{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, //
                                                                               0, 0, 0, 0, 0, 0, 0, 0, 0, 1},
                                             2);
  EXPECT_NEAR(agreement.found, 0.95, 1e-12);
  EXPECT_NEAR(agreement.beyond_chance(), 0.0, 1e-12);
}

TEST(AgreementOfLabels, IsAllWhereAllMatchAndLessThanNothingWhereNoneDo) {
  const ClassNumbers labels{0, 1, 0, 1};
  EXPECT_NEAR(clean::agreement_of(labels, labels, 2).beyond_chance(), 1.0, 1e-12);
  EXPECT_NEAR(clean::agreement_of(ClassNumbers{1, 0, 1, 0}, labels, 2).beyond_chance(), -1.0, 1e-12);
  EXPECT_EQ(clean::agreement_of(ClassNumbers(3, 0), ClassNumbers(3, 0), 2).beyond_chance(), 1.0)
      << "there is nothing else to say";
}

TEST(SkillOfBeliefs, IsWhatTheySaveOfTheLabelsEntropy) {
  const ClassNumbers labels{0, 1, 0, 1};
  EXPECT_NEAR(clean::skill_on_right_labels(said_with(0.5F, labels), labels), 0.0, 1e-6);
  EXPECT_NEAR(clean::skill_on_right_labels(said_with(0.8F, labels), labels), 1.0 + std::log2(0.8), 1e-6);
  EXPECT_EQ(clean::skill_on_right_labels(said_with(0.1F, labels), labels), 0.0) << "worse than nothing";
  EXPECT_EQ(clean::skill_on_right_labels(said_with(0.9F, ClassNumbers(4, 0)), ClassNumbers(4, 0)), 0.0)
      << "one class has no entropy";
}

TEST(SkillOfBeliefs, OnGivenLabelsDoesNotCountThoseThatAreWrongByChance) {
  ClassNumbers right;
  ClassNumbers given;
  for (std::uint32_t i = 0; i < 400; ++i) {
    right.push_back(i % 2);
    given.push_back(i % 10 == 3 ? 1 - i % 2 : i % 2);
  }
  EXPECT_GT(clean::skill_on_given_labels(said_with(0.99F, right), given), 0.9);
  EXPECT_LT(clean::skill_on_given_labels(said_with(0.5F, right), given), 0.02);
}

} // namespace
} // namespace duplex::testing
