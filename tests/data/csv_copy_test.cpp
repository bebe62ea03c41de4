// A CSV file that is written again: what is not changed is the same bytes.

#include "data_support.hpp"

#include "data/csv_copy.hpp"

#include <gtest/gtest.h>

namespace duplex::testing {
namespace {

std::string copied(std::string_view text, const data::CsvCopy &copy) {
  std::string out;
  data::MemorySource source("data.csv", text);
  data::copy_csv(source, copy, [&](std::string_view piece) { out += piece; });
  return out;
}

const std::string odd_table = "\xEF\xBB\xBFid;\"a\";label\r\n1; 2.50;\"x\"\n\"2\n\";\"3;\"\"4\";y\r\n3;5; z ";

TEST(CsvCopy, RefusesAFileThatHasOtherRowsThanBefore) {
  data::CsvCopy copy{.has_header = true, .rows = 2, .change = [](std::size_t /*row*/) { return data::CopiedRow{}; }};
  EXPECT_CONTAINS(refusal([&] { (void)copied(odd_table, copy); }), "data.csv: found 3 rows or more, expected 2");
  copy.rows = 4;
  EXPECT_CONTAINS(refusal([&] { (void)copied(odd_table, copy); }), "found 3 rows or more, expected 4");
}

TEST(CsvCopy, OfNoChangeIsTheSameBytes) {
  const data::CsvCopy copy{
      .has_header = true, .rows = 3, .change = [](std::size_t /*row*/) { return data::CopiedRow{}; }};
  EXPECT_EQ(copied(odd_table, copy), odd_table);
}

TEST(CsvCopy, LeavesRowsOut) {
  const data::CsvCopy copy{.has_header = true, .rows = 3, .change = [](std::size_t row) {
                             return data::CopiedRow{.is_left_out = row == 1};
                           }};
  EXPECT_EQ(copied(odd_table, copy), "\xEF\xBB\xBFid;\"a\";label\r\n1; 2.50;\"x\"\n3;5; z ");
}

TEST(CsvCopy, ChangesLabelsAndQuotesThemWhereTheyWereOrMustBe) {
  const std::string label = "a\"b";
  const data::CsvCopy copy{.has_header = true, .label = 2, .rows = 3, .change = [&](std::size_t row) {
                             return data::CopiedRow{.label = row == 1 ? nullptr : &label};
                           }};
  EXPECT_EQ(copied(odd_table, copy),
            "\xEF\xBB\xBFid;\"a\";label\r\n1; 2.50;\"a\"\"b\"\n\"2\n\";\"3;\"\"4\";y\r\n3;5; \"a\"\"b\"");
  const std::string plain = "w";
  const data::CsvCopy first{
      .label = 0, .rows = 2, .change = [&](std::size_t /*row*/) { return data::CopiedRow{.label = &plain}; }};
  EXPECT_EQ(copied("\"x\",1\ny,2\n", first), "\"w\",1\nw,2\n");
}

TEST(CsvCopy, AddsColumnsUnderNamesThatAreNotTaken) {
  const data::CsvCopy copy{.has_header = true, .rows = 2, .added = {"trust", "b"}, .change = [](std::size_t row) {
                             return data::CopiedRow{.added = {row == 0 ? "1" : "0.5", "z"}};
                           }};
  EXPECT_EQ(copied("a,trust\r\n1,2\r\n3,\"4\"\r\n\r\n", copy),
            "a,trust,duplex_trust,b\r\n1,2,1,z\r\n3,\"4\",0.5,z\r\n");
}

TEST(CsvCopy, IsTheSameWhereverTheWindowCutsRows) {
  std::string text = "a,label\n";
  std::size_t rows = 0;
  for (; text.size() < (3U << 20U); ++rows) {
    text += std::string(rows % 97, 'x') + (rows % 11 == 0 ? ",\"y\n\"\n" : ",y\n");
  }
  const data::CsvCopy copy{
      .has_header = true, .rows = rows, .change = [](std::size_t /*row*/) { return data::CopiedRow{}; }};
  EXPECT_TRUE(copied(text, copy) == text);
}

} // namespace
} // namespace duplex::testing
