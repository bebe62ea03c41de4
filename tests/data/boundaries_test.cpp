// Rows near another class, and labels that are wrong there.

#include "data/boundaries.hpp"
#include "support.hpp"

#include <limits>

namespace duplex::testing {
namespace {

using data::add_noise_near_boundaries;
using data::nearest_other_classes;

/// One feature: class 0 at 0, 1, 2, ... 9, class 1 at 11, 12, ... 20, class 2 far away.
struct ThreeClasses {
  FeatureTable features{Storage::float32, 1};
  std::vector<std::uint32_t> labels;

  ThreeClasses() {
    const auto add = [&](float place, std::uint32_t label) {
      features.append(std::span<const float>(&place, 1));
      labels.push_back(label);
    };
    for (int i = 0; i < 10; ++i) {
      add(static_cast<float>(i), 0);
    }
    for (int i = 11; i <= 20; ++i) {
      add(static_cast<float>(i), 1);
    }
    for (int i = 100; i < 110; ++i) {
      add(static_cast<float>(i), 2);
    }
  }
};

TEST(NoiseNearBoundaries, RefusesWhatDoesNotFit) {
  const ThreeClasses line;
  EXPECT_CONTAINS(refusal([&] { (void)nearest_other_classes(line.features, line.labels, 2); }),
                  "has label number 2, expected less than 2");
  const std::vector<std::uint32_t> few{0, 1};
  EXPECT_CONTAINS(refusal([&] { (void)nearest_other_classes(line.features, few, 2); }), "2 labels of 30 rows");
  const auto nearest = nearest_other_classes(line.features, line.labels, 3);
  EXPECT_CONTAINS(refusal([&] { (void)add_noise_near_boundaries(line.labels, nearest, 1.5); }), "fraction = 1.5");
  EXPECT_CONTAINS(refusal([&] { (void)add_noise_near_boundaries(few, nearest, 0.5); }), "expected 2");
}

TEST(NoiseNearBoundaries, GivesTheRowsBetweenTwoClassesTheOthersLabel) {
  const ThreeClasses line;
  const auto nearest = nearest_other_classes(line.features, line.labels, 3);
  EXPECT_EQ(nearest.label[0], 1U);
  EXPECT_EQ(nearest.label[19], 0U);
  EXPECT_EQ(nearest.label[20], 1U);
  // From 9: 11 ... 15 are (2 + ... + 6) / 5 = 4 away, 8 ... 4 are 3.
  EXPECT_NEAR(nearest.ratio[9], 4.0 / 3.0, 1e-9);
  EXPECT_NEAR(nearest.ratio[10], 4.0 / 3.0, 1e-9);
  const auto noisy = add_noise_near_boundaries(line.labels, nearest, 2.0 / 30.0);
  for (std::size_t i = 0; i < line.labels.size(); ++i) {
    const bool between = i == 9 || i == 10;
    EXPECT_EQ(noisy.chosen[i], between) << i;
    EXPECT_EQ(noisy.labels[i], between ? 1 - line.labels[i] : line.labels[i]) << i;
  }
}

TEST(NoiseNearBoundaries, IsTheSameForASparseTableOfOneScale) {
  // Columns of one deviation, so that standardizing is one factor; whole numbers, so that sums are exact.
  SparseEntries entries;
  std::vector<std::uint32_t> labels;
  for (std::uint32_t i = 0; i < 40; ++i) {
    const std::uint32_t whole = i / 4 + 1;
    entries.columns.push_back(i % 4);
    entries.values.push_back(static_cast<float>(whole));
    entries.ends.push_back(entries.values.size());
    labels.push_back(i % 4 < 2 ? 0 : 1);
  }
  const FeatureTable sparse(entries, 4);
  FeatureTable dense(entries, 4);
  dense.store_as_dense();
  const auto ours = nearest_other_classes(sparse, labels, 2);
  const auto theirs = nearest_other_classes(dense, labels, 2);
  EXPECT_EQ(ours.label, theirs.label);
  for (std::size_t i = 0; i < labels.size(); ++i) {
    EXPECT_NEAR(ours.ratio[i], theirs.ratio[i], 1e-9) << i;
  }
}

TEST(NoiseNearBoundaries, LeavesARowAloneThatHasNoOtherOfItsClass) {
  ThreeClasses line;
  line.labels[29] = 3;
  const auto nearest = nearest_other_classes(line.features, line.labels, 4);
  EXPECT_EQ(nearest.ratio[29], std::numeric_limits<double>::infinity());
}

} // namespace
} // namespace duplex::testing
