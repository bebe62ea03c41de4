// Tables in somebody else's memory are read as files with the same content are.

#include "data/in_memory.hpp"
#include "data/table_plan.hpp"
#include "data_support.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace duplex::testing {
namespace {

using Values = std::vector<float>;
using Texts = std::vector<std::optional<std::string>>;

constexpr double no_number = std::numeric_limits<double>::quiet_NaN();

template <class T>
data::MemoryArray array_of(const char *type, std::vector<Index> shape, const std::vector<T> &values) {
  return {type, std::move(shape), std::as_bytes(std::span(values))};
}

ReadOptions columns_without_labels() {
  ReadOptions options = without_labels();
  options.may_have_labels = false;
  return options;
}

std::string refusal_of(const std::vector<data::MemoryColumn> &columns, const ReadOptions &options) {
  return refusal([&] { (void)data::read_columns(columns, "X", options); });
}

TEST(ArrayInMemory, IsWhatAFileWithItsContentIs) {
  const std::vector<double> values{1.0, 2.5, -3.0, 4.0};
  const auto rows = data::read_array(array_of("<f8", {2, 2}, values), "X");
  EXPECT_EQ(rows.source, "X");
  EXPECT_EQ(row_of(rows, 0), (Values{1.0F, 2.5F}));
  EXPECT_EQ(row_of(rows, 1), (Values{-3.0F, 4.0F}));
  EXPECT_TRUE(rows.labels.empty());
  const std::vector<std::uint8_t> pixels{0, 1, 2, 3, 4, 255};
  const auto images = data::read_array(array_of("|u1", {1, 2, 3}, pixels), "X");
  EXPECT_EQ(images.features.storage(), Storage::byte);
  EXPECT_EQ(images.image, (data::ImageShape{.width = 3, .height = 2, .channels = 1}));
}

TEST(ArrayInMemory, IsRefusedAsSuchAFileIs) {
  const std::vector<double> values{1.0, no_number, 3.0, 4.0};
  EXPECT_EQ(refusal([&] {
              (void)data::read_array(array_of("<f8", {2, 2}, values), "X");
            }),
            "X: row 1, column 2: found nan, expected a finite number");
  EXPECT_CONTAINS(refusal([&] {
                    (void)data::read_array(array_of("<f8", {3, 2}, values), "X");
                  }),
                  "the header promises shape (3, 2)");
  EXPECT_CONTAINS(refusal([&] { (void)data::read_array(array_of("<f8", {4}, values), "X"); }),
                  "expected rows and columns");
}

TEST(EntriesInMemory, StaySparseWhereFewAreThere) {
  const auto few = data::read_entries({.ends = {1, 1, 2}, .columns = {3, 19}, .values = {2.0F, 5.0F}}, 20, "X");
  EXPECT_TRUE(few.features.is_sparse());
  EXPECT_EQ(few.features.value(0, 3), 2.0F);
  const auto many = data::read_entries({.ends = {1, 3}, .columns = {0, 0, 1}, .values = {2.0F, 5.0F, 7.0F}}, 2, "X");
  EXPECT_FALSE(many.features.is_sparse());
  EXPECT_EQ(row_of(many, 0), (Values{2.0F, 0.0F}));
  EXPECT_EQ(row_of(many, 1), (Values{5.0F, 7.0F}));
}

TEST(EntriesInMemory, AreRefusedWhereTheyAreNotFiniteOrInOrder) {
  EXPECT_EQ(refusal([] { (void)data::read_entries({.ends = {1}, .columns = {1}, .values = {INFINITY}}, 2, "X"); }),
            "X: row 1, column 2: found inf, expected a finite number");
  EXPECT_NE(refusal([] { (void)data::read_entries({.ends = {1}, .columns = {2}, .values = {1.0F}}, 2, "X"); }), "");
}

/// The columns of a table and the same as the text of a CSV file: numbers with one that is far out, large ones that
/// differ by little, text, dates, truths, and cells that are missing.
struct BothWays {
  std::vector<double> plain;
  std::vector<double> large;
  Texts kind;
  Texts day;
  Texts sure;
  Texts numbers;
  std::string csv = "plain,large,kind,day,sure,numbers\n";

  BothWays() {
    for (int i = 0; i < 40; ++i) {
      plain.push_back(i == 7 ? 1e9 : i % 9 == 0 ? no_number : 0.25 * (i % 13));
      large.push_back(1.6e9 + 10.0 * (i % 7));
      kind.push_back(i % 11 == 3 ? std::nullopt : std::optional<std::string>(i % 3 == 0 ? "round" : "square"));
      day.emplace_back("2024-01-" + std::to_string(10 + i % 19));
      sure.emplace_back(i % 2 == 0 ? "True" : "False");
      numbers.push_back(i == 5 ? std::optional<std::string>("NA") : std::to_string(i % 4));
      csv += (std::isnan(plain.back()) ? "" : number_text(plain.back())) + "," + number_text(large.back()) + "," +
             kind.back().value_or("") + "," + *day.back() + "," + *sure.back() + "," + numbers.back().value_or("") +
             "\n";
    }
  }

  [[nodiscard]] std::vector<data::MemoryColumn> columns() const {
    return {{"plain", plain}, {"large", large},   {"kind", {}, kind},
            {"day", {}, day}, {"sure", {}, sure}, {"numbers", {}, numbers}};
  }
};

TEST(ColumnsInMemory, BecomeTheFeaturesThatThoseOfACsvFileDo) {
  const BothWays table;
  const auto from_memory = data::read_columns(table.columns(), "X", columns_without_labels());
  const auto from_file = csv(table.csv, without_labels());
  EXPECT_EQ(from_memory.feature_names, from_file.feature_names);
  EXPECT_EQ(from_memory.remarks.size(), from_file.remarks.size());
  ASSERT_EQ(from_memory.features.rows(), from_file.features.rows());
  for (Index row = 0; row < from_file.features.rows(); ++row) {
    EXPECT_EQ(row_of(from_memory, row), row_of(from_file, row)) << row;
  }
}

TEST(ColumnsInMemory, AreFoundByNameWhereThereIsAPlan) {
  const BothWays table;
  const auto training = data::read_columns(table.columns(), "X", columns_without_labels());
  ReadOptions by_plan = columns_without_labels();
  by_plan.plan = training.plan;
  auto others = table.columns();
  std::reverse(others.begin(), others.end());
  const auto again = data::read_columns(others, "X_trusted", by_plan);
  for (Index row = 0; row < training.features.rows(); ++row) {
    EXPECT_EQ(row_of(again, row), row_of(training, row)) << row;
  }
  others.pop_back();
  EXPECT_CONTAINS(refusal_of(others, by_plan), "X: has no column 'plain'");
}

TEST(ColumnsInMemory, AreNoLabelsWhateverTheirNames) {
  const std::vector<double> values{1.0, 2.0, 4.0};
  const auto dataset = data::read_columns(std::vector<data::MemoryColumn>{{"y", values}, {"label", values}}, "X",
                                          columns_without_labels());
  EXPECT_EQ(dataset.feature_names, (std::vector<std::string>{"y", "label"}));
}

TEST(ColumnsInMemory, AreRefusedWithTheirPlace) {
  const std::vector<double> infinite{1.0, INFINITY};
  EXPECT_EQ(refusal_of({{"a", infinite}}, columns_without_labels()),
            "X:2, column 1 ('a'): found 'inf', expected a finite number");
  const std::vector<double> large{1e300, 1.0};
  EXPECT_CONTAINS(refusal_of({{"a", large}}, columns_without_labels()), "expected a number of at most 3.4028235e+38");
  EXPECT_CONTAINS(refusal_of({{"a", {}, {"1", "x\xFFy"}}}, columns_without_labels()), "expected UTF-8 text");
  EXPECT_EQ(refusal_of({}, columns_without_labels()), "X: found no columns, expected at least one row and one column");
  EXPECT_EQ(refusal_of({{"a", {}}}, columns_without_labels()),
            "X: found no rows, expected at least one row and one column");
}

} // namespace
} // namespace duplex::testing
