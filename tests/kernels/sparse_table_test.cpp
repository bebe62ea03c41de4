// Sparse tables: what does not fit is refused, and what fits reads as the dense table does.

#include "support.hpp"

#include <duplex/kernels/feature_table.hpp>

namespace duplex::testing {
namespace {

/// 3 × 4, the second row empty.
SparseEntries few_entries() { return {{2, 2, 3}, {0, 3, 1}, {1.0F, -2.0F, 0.5F}}; }

TEST(SparseTable, RefusesEntriesThatAreNotInOrderOrNotWithinTheColumns) {
  const auto refused = [](SparseEntries entries) {
    return refusal([&] { (void)FeatureTable(std::move(entries), 4); });
  };
  EXPECT_EQ(refused(few_entries()), "");
  EXPECT_CONTAINS(refused({{1}, {4}, {1.0F}}), "row 1 has an entry in column 5, expected at most 4");
  EXPECT_CONTAINS(refused({{2}, {2, 1}, {1.0F, 1.0F}}), "row 1 has columns that do not ascend");
  EXPECT_CONTAINS(refused({{2}, {1, 1}, {1.0F, 1.0F}}), "row 1 has columns that do not ascend");
  EXPECT_CONTAINS(refused({{1, 0}, {1}, {1.0F}}), "row 2 ends before it begins");
  EXPECT_CONTAINS(refused({{2}, {1}, {1.0F}}), "row 1 ends before it begins or after the last entry");
  EXPECT_CONTAINS(refused({{1}, {1, 2}, {1.0F, 1.0F}}), "entries after the last row");
  EXPECT_CONTAINS(refused({{1}, {1}, {}}), "1 columns for 0 values");
  EXPECT_CONTAINS(refusal([] { (void)FeatureTable(few_entries(), 0); }), "0 columns, expected at least 1");
}

TEST(SparseTable, RefusesAShiftAndWhatOnlyADenseTableCanDo) {
  FeatureTable table(few_entries(), 4);
  const std::vector<float> ones(4, 1.0F);
  EXPECT_CONTAINS(refusal([&] { table.apply_scaling(ones, ones); }), "a shift would fill a sparse table");
  EXPECT_CONTAINS(refusal([&] { table.set_scaling(ones, ones); }), "it is sparse, expected a dense one");
  EXPECT_CONTAINS(refusal([&] { table.append(std::span<const float>(ones)); }), "of another kind");
  EXPECT_CONTAINS(refusal([&] { table.store_as_half(); }), "expected float32");
  const FeatureTable part = table.slice(0, 1);
  EXPECT_CONTAINS(refusal([&] { table.apply_scaling(ones, std::vector<float>(4)); }), "shared with a slice");
}

std::vector<float> values_of(const FeatureTable &table) {
  std::vector<float> values;
  for (Index i = 0; i < table.rows(); ++i) {
    for (Index j = 0; j < table.columns(); ++j) {
      values.push_back(table.value(i, j));
    }
  }
  return values;
}

TEST(SparseTable, ReadsAsItsDenseFormDoes) {
  FeatureTable sparse(few_entries(), 4);
  const std::vector<float> expected{1, 0, 0, -2, 0, 0, 0, 0, 0, 0.5F, 0, 0};
  EXPECT_EQ(values_of(sparse), expected);
  EXPECT_EQ(sparse.entries(), 3U);
  EXPECT_DOUBLE_EQ(sparse.squared_length(0), 5.0);
  EXPECT_DOUBLE_EQ(sparse.squared_length(1), 0.0);
  sparse.store_as_dense();
  EXPECT_EQ(sparse.storage(), Storage::float32);
  EXPECT_EQ(values_of(sparse), expected);
  EXPECT_DOUBLE_EQ(sparse.squared_length(0), 5.0);
  sparse.store_as_sparse();
  EXPECT_TRUE(sparse.is_sparse());
  EXPECT_EQ(sparse.entries(), 3U);
  EXPECT_EQ(values_of(sparse), expected);
}

TEST(SparseTable, PartsAndOrdersAreThoseOfTheDenseForm) {
  const std::vector<Index> order{2, 0, 1};
  FeatureTable table(few_entries(), 4);
  const FeatureTable last = table.gather(std::vector<Index>{2});
  EXPECT_EQ(values_of(last), (std::vector<float>{0, 0.5F, 0, 0}));
  {
    const FeatureTable part = table.slice(1, 2);
    EXPECT_EQ(values_of(part), (std::vector<float>{0, 0, 0, 0, 0, 0.5F, 0, 0}));
    EXPECT_EQ(part.entries(), 1U);
    EXPECT_CONTAINS(refusal([&] { table.reorder(order); }), "shared with a slice");
  }
  EXPECT_CONTAINS(refusal([&] { table.reorder(std::vector<Index>{0, 0, 1}); }), "not a permutation");
  table.reorder(order);
  EXPECT_EQ(values_of(table), (std::vector<float>{0, 0.5F, 0, 0, 1, 0, 0, -2, 0, 0, 0, 0}));
  table.apply_scaling(std::vector<float>{2, 4, 1, 3}, std::vector<float>(4));
  EXPECT_EQ(values_of(table), (std::vector<float>{0, 2, 0, 0, 2, 0, 0, -6, 0, 0, 0, 0}));
}

TEST(SparseTable, BytesThatHoldItTellOneTableFromAnother) {
  const auto bytes_of_table = [](const FeatureTable &table) {
    std::vector<std::byte> all;
    for (const auto piece : table.memory()) {
      all.insert(all.end(), piece.begin(), piece.end());
    }
    return all;
  };
  const FeatureTable table(few_entries(), 4);
  EXPECT_EQ(bytes_of_table(table), bytes_of_table(FeatureTable(few_entries(), 4)));
  EXPECT_EQ(bytes_of_table(table).size(), table.bytes());
  auto other_value = few_entries();
  other_value.values[1] = 3.0F;
  EXPECT_NE(bytes_of_table(table), bytes_of_table(FeatureTable(other_value, 4)));
  auto other_column = few_entries();
  other_column.columns[1] = 2;
  EXPECT_NE(bytes_of_table(table), bytes_of_table(FeatureTable(other_column, 4)));
  EXPECT_EQ(bytes_of_table(table.slice(2, 1)).size(), 16U) << "its end, its column and its value";
}

} // namespace
} // namespace duplex::testing
