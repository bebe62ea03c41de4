// LIBSVM text: what is wrong is named with file, line, what was found and what was expected.

#include "data_support.hpp"

#include <gtest/gtest.h>

namespace duplex::testing {
namespace {

using Values = std::vector<float>;
using Names = std::vector<std::string>;

Dataset libsvm(std::string_view text, const ReadOptions &options = {}) {
  data::MemorySource source("data.svm", text);
  return data::read_libsvm(source, options);
}

std::string libsvm_refusal(std::string_view text, const ReadOptions &options = {}) {
  return refusal([&] { (void)libsvm(text, options); });
}

TEST(Libsvm, RefusesEntriesThatAreNotIndexAndValue) {
  EXPECT_EQ(libsvm_refusal("1 1:2\n1 7\n"), "data.svm:2: found '7', expected index:value");
  EXPECT_EQ(libsvm_refusal("1 a:2\n"),
            "data.svm:1: found 'a:2', expected index:value with a whole number before the colon");
  EXPECT_EQ(libsvm_refusal("1 -1:2\n"),
            "data.svm:1: found '-1:2', expected index:value with a whole number before the colon");
  for (const std::string value : {"", "x", "nan", "inf", "0x10", "1:2"}) {
    EXPECT_EQ(libsvm_refusal("1 1:" + value + "\n"),
              "data.svm:1: found '1:" + value + "', expected a finite number after the colon");
  }
  EXPECT_EQ(libsvm_refusal("1 1:1e39\n"),
            "data.svm:1: found '1:1e39', expected a value of at most 3.4028235e+38 in size");
}

TEST(Libsvm, RefusesIndexesThatDoNotAscendFromOne) {
  EXPECT_EQ(libsvm_refusal("1 0:2\n"), "data.svm:1: found '0:2', expected an index from 1 to 16777216");
  EXPECT_EQ(libsvm_refusal("1 1:2\n1 3:1 2:1\n"),
            "data.svm:2: found '2:1', expected an index above 3, the one before it");
  EXPECT_EQ(libsvm_refusal("1 3:1 3:1\n"), "data.svm:1: found '3:1', expected an index above 3, the one before it");
}

TEST(Libsvm, RefusesHugeIndexesBeforeMakingATable) {
  for (const std::string index : {"4000000000", "16777217", "99999999999999999999999"}) {
    EXPECT_EQ(libsvm_refusal("1 1:2\n\t-1 " + index + ":1\n"),
              "data.svm:2: found '" + index + ":1', expected an index from 1 to 16777216");
  }
  ReadOptions options;
  options.memory_limit = 1U << 10U;
  options.columns = 300;
  std::string full_row = "1";
  for (int column = 1; column <= 100; ++column) {
    full_row += " " + std::to_string(column) + ":1";
  }
  EXPECT_CONTAINS(libsvm_refusal(full_row + "\n", options), "data.svm: 1 rows of 300 features need");
}

TEST(Libsvm, StaysSparseWhereAtMostATenthOfTheValuesAreThere) {
  const auto few = libsvm("1 3:2\n2 1:4 20:-1\n");
  EXPECT_TRUE(few.features.is_sparse());
  EXPECT_EQ(few.features.entries(), 3U);
  EXPECT_EQ(few.features.columns(), 20);
  EXPECT_EQ(few.features.value(1, 19), -1.0F);
  EXPECT_EQ(few.features.value(0, 19), 0.0F);
  const auto many = libsvm("1 3:2\n2 1:4 5:-1\n");
  EXPECT_FALSE(many.features.is_sparse());
  EXPECT_EQ(row_of(many, 1), (Values{4, 0, 0, 0, -1}));
}

TEST(Libsvm, RefusesIndexesBeyondTheColumnsAskedFor) {
  ReadOptions options;
  options.columns = 3;
  EXPECT_EQ(libsvm_refusal("1 4:1\n", options), "data.svm:1: found '4:1', expected an index from 1 to 3");
  EXPECT_EQ(libsvm("1 1:1\n", options).features.columns(), 3);
}

TEST(Libsvm, RefusesQueriesOfRankingProblems) {
  EXPECT_EQ(libsvm_refusal("1 qid:4 1:2\n"),
            "data.svm:1: found 'qid:4', expected features only: queries of ranking problems are not read");
}

TEST(Libsvm, RefusesRowsWithoutALabelWhereOneIsExpected) {
  EXPECT_EQ(libsvm_refusal("1:2\n"), "data.svm:1: found '1:2', expected a label before the features");
  EXPECT_EQ(libsvm_refusal("1 1:2\n1:2\n", without_labels()),
            "data.svm:2: found '1:2', expected a label as in the rows before");
  EXPECT_EQ(libsvm_refusal("1:2\n1 1:2\n", without_labels()),
            "data.svm:2: found '1', expected no label as in the rows before");
}

TEST(Libsvm, RefusesEmptyFilesAndBlankLinesBetweenRows) {
  EXPECT_EQ(libsvm_refusal(""), "data.svm: is empty, expected rows of data");
  EXPECT_EQ(libsvm_refusal("# nothing\n\n"), "data.svm: holds no rows, expected at least one");
  EXPECT_EQ(libsvm_refusal("1 1:2\n\n1 1:3\n"), "data.svm:2: found a blank line, expected a row");
  EXPECT_EQ(libsvm_refusal("1\n2\n"), "data.svm: found no features, expected at least one");
}

TEST(Libsvm, RefusesLabelsThatAreNotText) {
  EXPECT_EQ(libsvm_refusal("\xE9 1:2\n"), "data.svm:1: found '\\xe9', expected UTF-8 text");
}

TEST(Libsvm, ReadsSparseRowsAsDenseOnes) {
  const auto dataset = libsvm("# made by hand\n+1 1:0.5 3:+2 # first\r\n-1\n1.0\t2:1e-3\n\n");
  ASSERT_EQ(dataset.features.rows(), 3);
  EXPECT_EQ(row_of(dataset, 0), (Values{0.5F, 0.0F, 2.0F}));
  EXPECT_EQ(row_of(dataset, 1), (Values{0.0F, 0.0F, 0.0F}));
  EXPECT_EQ(row_of(dataset, 2), (Values{0.0F, 1e-3F, 0.0F}));
  EXPECT_EQ(dataset.label_names, (Names{"-1", "1"}));
  EXPECT_EQ(names_by_row(dataset), (Names{"1", "-1", "1"}));
}

TEST(Libsvm, ReadsRowsWithoutLabels) {
  const auto dataset = libsvm("1:2 2:3\n2:1", without_labels());
  EXPECT_TRUE(dataset.labels.empty());
  EXPECT_EQ(row_of(dataset, 1), (Values{0.0F, 1.0F}));
}

} // namespace
} // namespace duplex::testing
