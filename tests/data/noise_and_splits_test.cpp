// Noise, splits and cells to write.

#include "data/csv_write.hpp"
#include "data/noise.hpp"
#include "data/random.hpp"
#include "data/split.hpp"
#include "data_support.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <set>

namespace duplex::testing {
namespace {

using data::add_noise;
using data::NoiseKind;

std::vector<std::uint32_t> cyclic_labels(std::size_t rows, std::uint32_t classes) {
  std::vector<std::uint32_t> labels(rows);
  for (std::size_t i = 0; i < rows; ++i) {
    labels[i] = static_cast<std::uint32_t>(i % classes);
  }
  return labels;
}

TEST(Noise, RefusesFractionsClassesAndLabelsOutOfRange) {
  const auto labels = cyclic_labels(10, 3);
  for (const double fraction : {-0.1, 1.1, std::nan("")}) {
    EXPECT_CONTAINS(refusal([&] { (void)add_noise(labels, 3, {.fraction = fraction}); }), "noise: fraction = ");
  }
  EXPECT_EQ(refusal([&] { (void)add_noise(labels, 2, {}); }), "noise: row 3 has label number 2, expected less than 2");
  EXPECT_EQ(refusal([&] { (void)add_noise({}, 1, {}); }), "noise: found 1 classes, expected at least 2");
}

TEST(NoiseBySource, RefusesRatesAndNumbersOutOfRange) {
  const auto labels = cyclic_labels(10, 3);
  EXPECT_CONTAINS(refusal([&] { (void)data::add_noise_by_source(labels, 3, {.worst = 1.5}); }), "noise: worst = 1.5");
  EXPECT_CONTAINS(refusal([&] { (void)data::add_noise_by_source(labels, 3, {.sources = 0}); }), "noise: no sources");
  EXPECT_CONTAINS(refusal([&] { (void)data::add_noise_by_source(labels, 2, {}); }), "row 3 has label number 2");
}

TEST(NoiseBySource, RisesFromNothingToTheWorstSource) {
  const auto labels = cyclic_labels(20000, 4);
  const auto made = data::add_noise_by_source(labels, 4, {.sources = 5, .worst = 0.8, .seed = 3});
  std::array<double, 5> rows{};
  std::array<double, 5> wrong{};
  for (std::size_t i = 0; i < labels.size(); ++i) {
    ASSERT_LT(made.labels[i], 4U);
    rows.at(made.sources[i]) += 1.0;
    wrong.at(made.sources[i]) += made.labels[i] != labels[i] ? 1.0 : 0.0;
  }
  EXPECT_EQ(wrong[0], 0.0);
  for (std::size_t source = 0; source < rows.size(); ++source) {
    EXPECT_NEAR(rows.at(source), 4000.0, 300.0);
    EXPECT_NEAR(wrong.at(source) / rows.at(source), 0.2 * static_cast<double>(source), 0.04);
  }
}

class NoiseOfKind : public ::testing::TestWithParam<NoiseKind> {};

TEST_P(NoiseOfKind, ChoosesExactlyTheFractionAndLeavesTheRestAlone) {
  const auto labels = cyclic_labels(4001, 10);
  const auto noisy = add_noise(labels, 10, {.fraction = 0.3, .kind = GetParam(), .seed = 7});
  EXPECT_EQ(std::count(noisy.chosen.begin(), noisy.chosen.end(), true), 1200);
  std::size_t kept = 0;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    if (!noisy.chosen[i]) {
      ASSERT_EQ(noisy.labels[i], labels[i]);
    } else if (GetParam() == NoiseKind::pair) {
      ASSERT_EQ(noisy.labels[i], (labels[i] + 1) % 10);
    } else {
      ASSERT_LT(noisy.labels[i], 10U);
      kept += noisy.labels[i] == labels[i] ? 1 : 0;
    }
  }
  if (GetParam() == NoiseKind::uniform) {
    EXPECT_NEAR(static_cast<double>(kept), 120.0, 40.0);
  } else {
    EXPECT_EQ(kept, 0U);
  }
}

TEST_P(NoiseOfKind, IsTheSameForTheSameSeedOnly) {
  const auto labels = cyclic_labels(1000, 10);
  const auto drawn = [&](std::uint64_t seed) {
    return add_noise(labels, 10, {.kind = GetParam(), .seed = seed}).labels;
  };
  EXPECT_EQ(drawn(1), drawn(1));
  EXPECT_NE(drawn(1), drawn(2));
}

INSTANTIATE_TEST_SUITE_P(Kinds, NoiseOfKind,
                         ::testing::Values(NoiseKind::uniform, NoiseKind::always_wrong, NoiseKind::pair));

TEST(Noise, TakesAllOrNoRows) {
  const auto labels = cyclic_labels(50, 5);
  EXPECT_EQ(add_noise(labels, 5, {.fraction = 0.0}).labels, labels);
  const auto all = add_noise(labels, 5, {.fraction = 1.0, .kind = NoiseKind::pair});
  EXPECT_EQ(std::count(all.chosen.begin(), all.chosen.end(), true), 50);
}

TEST(Draws, AreUniformAndStayBelowTheirBound) {
  std::mt19937_64 generator(5);
  std::vector<int> counts(7);
  for (int i = 0; i < 70000; ++i) {
    ++counts.at(data::uniform_below(generator, 7));
  }
  for (const int count : counts) {
    EXPECT_NEAR(count, 10000, 500);
  }
  EXPECT_EQ(data::uniform_below(generator, 1), 0U);
}

TEST(Draws, AreTheSameWithEveryStandardLibrary) {
  std::mt19937_64 generator(0);
  EXPECT_EQ(data::draw_without_repetition(generator, 10, 4), (std::vector<std::size_t>{4, 6, 3, 9}));
}

Dataset numbered_rows(Index rows) {
  std::string text = "id,a,b,label\n";
  for (Index i = 0; i < rows; ++i) {
    text += "row" + std::to_string(i) + "," + std::to_string(i) + "," + std::to_string(i % 256) + ",c" +
            std::to_string(i % 3) + "\n";
  }
  ReadOptions options;
  options.id = "id";
  options.keep = {"a", "b"}; // which rise from row to row as an index does
  return csv(text, options);
}

TEST(Split, RefusesPartsThatAreEmptyOrTooLarge) {
  const auto dataset = numbered_rows(10);
  const auto refused = [&](std::vector<Index> sizes) { return refusal([&] { (void)data::split(dataset, sizes, 0); }); };
  EXPECT_EQ(refused({4, 7}), "data.csv: a part of 7 rows after 4 was asked for, expected 1 to 6");
  EXPECT_EQ(refused({0}), "data.csv: a part of 0 rows after 0 was asked for, expected 1 to 10");
  EXPECT_EQ(refused({4, -1}), "data.csv: a part of -1 rows after 4 was asked for, expected 1 to 6");
  EXPECT_EQ(refusal([&] { (void)data::take_rows(dataset, std::vector<Index>{10}); }),
            "data.csv: row 10 was asked for, expected 0 to 9");
}

TEST(Split, GivesDisjointPartsWithAllThatBelongsToARow) {
  const auto dataset = numbered_rows(100);
  const auto parts = data::split(dataset, std::vector<Index>{50, 20, 30}, 3);
  ASSERT_EQ(parts.size(), 3U);
  std::set<std::string> seen;
  for (const auto &part : parts) {
    EXPECT_EQ(part.label_names, dataset.label_names);
    EXPECT_EQ(part.feature_names, dataset.feature_names);
    for (Index i = 0; i < part.features.rows(); ++i) {
      const auto row = static_cast<Index>(part.features.value(i, 0));
      const auto k = static_cast<std::size_t>(i);
      EXPECT_EQ(part.ids[k], "row" + std::to_string(row));
      EXPECT_EQ(part.labels[k], static_cast<std::uint32_t>(row % 3));
      seen.insert(part.ids[k]);
    }
  }
  EXPECT_EQ(seen.size(), 100U);
  EXPECT_EQ(data::split(dataset, std::vector<Index>{50}, 3)[0].ids, parts[0].ids);
  EXPECT_NE(data::split(dataset, std::vector<Index>{50}, 4)[0].ids, parts[0].ids);
}

TEST(Split, KeepsStorageAndScaling) {
  auto dataset = numbered_rows(100);
  ASSERT_TRUE(dataset.features.store_as_bytes_if_exact());
  dataset.features.set_scaling({0.5F, 2.0F}, {1.0F, 0.0F});
  const auto parts = data::split(dataset, std::vector<Index>{10}, 0);
  EXPECT_EQ(parts[0].features.storage(), Storage::byte);
  EXPECT_EQ(parts[0].features.value(0, 1), 4.0F * (parts[0].features.value(0, 0) - 1.0F));
}

TEST(CsvCell, ShowsFormulasAsTextAndLeavesNumbersAlone) {
  EXPECT_EQ(data::csv_cell("=1+1"), "'=1+1");
  EXPECT_EQ(data::csv_cell("@SUM(A1)"), "'@SUM(A1)");
  EXPECT_EQ(data::csv_cell("-cmd"), "'-cmd");
  EXPECT_EQ(data::csv_cell("+a,b"), "\"'+a,b\"");
  EXPECT_EQ(data::csv_cell("\tx"), "\"'\tx\"");
  EXPECT_EQ(data::csv_cell("-1"), "-1");
  EXPECT_EQ(data::csv_cell("+1e5"), "+1e5");
}

TEST(CsvCell, IsQuotedWhereItMustBeAndReadsBack) {
  EXPECT_EQ(data::csv_cell("cat"), "cat");
  EXPECT_EQ(data::csv_cell(""), "");
  for (const std::string text : {"a,b", "a;b", "a\tb", "say \"no\"", "two\nlines", "two\r\nlines", " blanks "}) {
    const auto dataset = csv("a,label\n1," + data::csv_cell(text) + "\n");
    EXPECT_EQ(dataset.label_names, std::vector<std::string>{text});
  }
}

} // namespace
} // namespace duplex::testing
