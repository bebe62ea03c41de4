// Rows that a table holds more than once: where they are put, and which of them another table has.

#include "support.hpp"

#include "clean/copies.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <vector>

namespace duplex::testing {
namespace {

FeatureTable table_of(const std::vector<float> &values) {
  FeatureTable table(Storage::float32, 1);
  for (const float value : values) {
    table.append(std::array<float, 1>{value});
  }
  return table;
}

using Order = std::vector<Index>;

TEST(CopiesTogether, LeavesAnOrderWithoutCopies) {
  const Order order{2, 0, 1};
  EXPECT_EQ(clean::with_copies_together(table_of({1, 2, 3}), order), order);
}

TEST(CopiesTogether, PutsCopiesBehindTheFirst) {
  EXPECT_EQ(clean::with_copies_together(table_of({7, 8, 7, 9, 8}), {4, 0, 3, 2, 1}), (Order{4, 1, 0, 2, 3}));
}

TEST(CopiesTogether, LeavesRowsOfWhichThereAreManyCopies) {
  std::vector<float> values(20, 5.0F);
  values.push_back(1.0F);
  Order order(values.size());
  std::iota(order.rbegin(), order.rend(), Index{0});
  EXPECT_EQ(clean::with_copies_together(table_of(values), order), order);
}

TEST(CopiesTogether, KnowsSparseRowsByTheirColumnsAndValues) {
  FeatureTable table = table_of({0, 3, 0, 4});
  table.store_as_sparse();
  EXPECT_EQ(clean::with_copies_together(table, {0, 1, 2, 3}), (Order{0, 2, 1, 3}));
}

TEST(CopiesOf, AreTheRowsThatTheOtherTableHas) {
  EXPECT_EQ(clean::copies_of(table_of({1, 2, 3, 2}), table_of({2, 5})), (std::vector<bool>{false, true, false, true}));
}

TEST(CopiesOf, AreNoneWhereFeaturesHaveFewValues) {
  EXPECT_EQ(clean::copies_of(table_of({2, 2, 2, 1}), table_of({2})), std::vector<bool>(4));
}

TEST(CopiesOf, AreNoneOfATableOfAnotherKind) {
  FeatureTable sparse = table_of({2});
  sparse.store_as_sparse();
  EXPECT_EQ(clean::copies_of(table_of({2, 1}), sparse), std::vector<bool>(2));
}

} // namespace
} // namespace duplex::testing
