// Tables as people have them: categories, missing values, booleans, dates, ids, columns in another order. What is wrong
// first.

#include "data_support.hpp"

#include "data/cell_kinds.hpp"
#include "data/table_plan.hpp"

#include <gtest/gtest.h>

#include <fmt/format.h>

#include <functional>

namespace duplex::testing {
namespace {

using data::ColumnKind;
using TableValues = std::vector<float>;
using TableNames = std::vector<std::string>;

/// A header and so many rows of what `cells` gives, the class behind them.
std::string table_of(const std::string &header, int rows, const std::function<std::string(int)> &cells) {
  std::string text = header + ",label\n";
  for (int i = 0; i < rows; ++i) {
    text += cells(i) + (i % 2 == 0 ? ",x\n" : ",y\n");
  }
  return text;
}

TableNames codes_of(const Dataset &dataset) {
  TableNames codes;
  for (const auto &remark : dataset.remarks) {
    codes.push_back(remark.code);
  }
  return codes;
}

ReadOptions planned(const Dataset &training) {
  ReadOptions options;
  options.plan = training.plan;
  options.expect_labels = false;
  return options;
}

TEST(TableRefusal, OfTextHereAndThereAmongNumbersNamesThePlaceAndWhatIsMissing) {
  EXPECT_EQ(
      csv_refusal(table_of("a,width", 100, [](int i) { return fmt::format("{}.5,{}", i % 7, i == 41 ? "1O" : "10"); })),
      "data.csv:43, column 2 ('width'): found '1O', expected a finite number, as in 99 cells of that column, or a "
      "missing value (nothing, NA, N/A, NaN, null, ? or -)");
}

TEST(TableRefusal, OfTextHereAndThereAmongDatesNamesThePlace) {
  const auto with = [](const std::string &odd) {
    return csv_refusal(table_of("a,day", 100, [&](int i) {
      return fmt::format("{},{}", i % 7, i == 41 ? odd : fmt::format("2026-03-{:02}", 1 + i % 28));
    }));
  };
  EXPECT_EQ(with("2026-02-30"), "data.csv:43, column 2 ('day'): found '2026-02-30', expected a date, as in 99 cells of "
                                "that column, or a missing value");
  EXPECT_CONTAINS(with("0000-00-00"), "found '0000-00-00', expected a date");
}

TEST(TableRefusal, OfAHeaderAmongNumbersSaysHowToNameTheLabel) {
  std::string text = "age,2019,kind\n";
  for (int i = 0; i < 30; ++i) {
    text += fmt::format("{},{},x\n", i % 5, i % 3);
  }
  EXPECT_CONTAINS(csv_refusal(text, label_column("3")), "data.csv:1, column 1: found 'age'");
  EXPECT_CONTAINS(csv_refusal(text, label_column("3")), "choose the label column by its name");
}

TEST(TableRefusal, OfAnotherFileNamesTheColumnsThatItLacks) {
  const auto training = csv("a,b,c,label\n1,2,3,x\n4,5,7,y\n");
  EXPECT_EQ(csv_refusal("c,x\n1,2\n", planned(training)),
            "data.csv: has no column 'a', 'b', expected all features of the training data (columns: c, x)");
  EXPECT_EQ(csv_refusal("1,2\n", planned(training)),
            "data.csv: found 2 columns that may be features, expected 3 as in the training data");
}

TEST(TableRefusal, OfACellThatDoesNotFitItsColumnNamesThePlace) {
  const auto training = csv("n,d,t,label\n1,2026-03-01,yes,x\n2,2026-03-02,no,y\n");
  EXPECT_CONTAINS(csv_refusal("n,d,t\n1,2026-03-01,no\nfar,2026-03-01,no\n", planned(training)),
                  "data.csv:3, column 1 ('n'): found 'far', expected a finite number or a missing value");
  EXPECT_CONTAINS(csv_refusal("n,d,t\n1,1 March,no\n", planned(training)),
                  "data.csv:2, column 2 ('d'): found '1 March', expected a date such as");
  EXPECT_CONTAINS(csv_refusal("n,d,t\n1,2026-03-01,maybe\n", planned(training)),
                  "data.csv:2, column 3 ('t'): found 'maybe', expected true, false, yes, no");
  EXPECT_CONTAINS(csv_refusal("n,d,t\n1,20260301,no\n", planned(training)), "expected a date such as");
}

TEST(TableRefusal, OfColumnsThatAreNotThereOrHaveTwoRoles) {
  const std::string text = "a,b,who,label\n1,2,ann,x\n3,4,bob,y\n";
  ReadOptions options;
  options.drop = {"c"};
  EXPECT_CONTAINS(csv_refusal(text, options), "unknown drop column 'c'");
  options.drop = {"a", "b", "who"};
  EXPECT_EQ(csv_refusal(text, options), "data.csv: no column is left to be a feature, expected at least one");
  options.drop.clear();
  options.keep = {"label"};
  EXPECT_EQ(csv_refusal(text, options), "data.csv: keep = 'label', expected a column of features");
  options.keep.clear();
  options.source = "label";
  EXPECT_EQ(csv_refusal(text, options), "data.csv: column 4 is both label and source, expected two columns");
  options.source = "annotator";
  EXPECT_CONTAINS(csv_refusal(text, options), "unknown source column 'annotator'");
}

TEST(TableRefusal, OfAMarkThatIsNeitherYesNorNo) {
  ReadOptions options;
  options.trusted_column = "ok";
  EXPECT_EQ(csv_refusal("a,ok,label\n1,maybe,x\n", options),
            "data.csv:2, column 2 ('ok'): found 'maybe', expected 1, true or yes where the label is trusted, else 0, "
            "false, no or nothing");
  auto none = csv("a,ok,label\n1,0,x\n2,,y\n", options);
  EXPECT_EQ(refusal([&] { (void)data::take_marked_rows(none); }),
            "data.csv: none of its 2 rows are marked as trusted, expected some");
}

TEST(TableRefusal, OfATableOfIdsOnlySaysSo) {
  EXPECT_CONTAINS(csv_refusal(table_of("id", 30, [](int i) { return fmt::format("r{}", i); })),
                  "found no column that could be a feature");
}

TEST(TableCategory, HasAFeatureForEachLevelInTheOrderOfTheirBytes) {
  const auto dataset = csv("colour,a,label\nred,1,x\nblue,2,y\nred,3,x\n");
  EXPECT_EQ(dataset.feature_names, (TableNames{"colour = blue", "colour = red", "a"}));
  EXPECT_EQ(row_of(dataset, 0), (TableValues{0, 1, 1}));
  EXPECT_EQ(row_of(dataset, 1), (TableValues{1, 0, 2}));
}

TEST(TableCategory, PoolsRareLevelsAndCountsUnknownOnesAsNone) {
  const auto colour = [](int i) { return i < 3 ? fmt::format("odd{}", i) : i % 3 == 0 ? "red" : "blue"; };
  const auto training = csv(table_of("colour,a", 600, [&](int i) { return fmt::format("{},{}", colour(i), i % 7); }));
  EXPECT_EQ(training.feature_names, (TableNames{"colour = blue", "colour = red", "colour = (rare)", "a"}));
  EXPECT_EQ(row_of(training, 1), (TableValues{0, 0, 1, 1}));
  const auto other = csv("a,colour\n5,odd2\n6,green\n7,red\n8,green\n", planned(training));
  EXPECT_EQ(row_of(other, 0), (TableValues{0, 0, 1, 5}));
  EXPECT_EQ(row_of(other, 1), (TableValues{0, 0, 0, 6}));
  EXPECT_EQ(row_of(other, 2), (TableValues{0, 1, 0, 7}));
  ASSERT_EQ(codes_of(other), (TableNames{"unknown-levels"}));
  EXPECT_CONTAINS(other.remarks[0].text, "2 of 4 rows have a value of 'colour' that the training data do not have");
  EXPECT_CONTAINS(other.remarks[0].text, "'green'");
}

TEST(TableCategory, TakesNumbersForNamesWhereTextsAreMany) {
  const auto code = [](int i) { return i % 4 == 0 ? "V27" : i % 4 == 1 ? "250.83" : "7"; };
  const auto dataset = csv(table_of("code", 40, code));
  EXPECT_EQ(dataset.feature_names, (TableNames{"code = 250.83", "code = 7", "code = V27"}));
  EXPECT_EQ(row_of(dataset, 1), (TableValues{1, 0, 0}));
}

TEST(TableMissing, NumbersAreTheMedianWithAFeatureThatTells) {
  std::string text = "a,b,label\n";
  for (const auto *cell : {"1", "", "NA", "n/a", "NaN", "null", "?", "-", "3", "10"}) {
    text += fmt::format("{},1.5,x\n", cell);
  }
  const auto dataset = csv(text);
  EXPECT_EQ(dataset.feature_names, (TableNames{"a", "a is missing", "b"}));
  EXPECT_EQ(row_of(dataset, 0), (TableValues{1, 0, 1.5F}));
  for (Index row = 1; row < 8; ++row) {
    EXPECT_EQ(row_of(dataset, row), (TableValues{3, 1, 1.5F}));
  }
}

TEST(TableMissing, TextIsTheMostFrequentLevelWithAFeatureThatTells) {
  const auto dataset = csv("c,label\nred,x\nblue,y\nred,x\n,y\n");
  EXPECT_EQ(dataset.feature_names, (TableNames{"c = blue", "c = red", "c is missing"}));
  EXPECT_EQ(row_of(dataset, 3), (TableValues{0, 1, 1}));
}

TEST(TableMissing, CellsOfAnotherFileAreFilledThoughTheTrainingDataHaveNone) {
  const auto training = csv("a,c,label\n1,red,x\n2,red,y\n9,blue,x\n");
  const auto other = csv("a,c\n,\n", planned(training));
  EXPECT_EQ(row_of(other, 0), (TableValues{2, 0, 1}));
}

TEST(TableMissing, AColumnOfNothingElseIsLeftOut) {
  const auto dataset = csv("a,b,label\n1,,x\n2,NA,y\n");
  EXPECT_EQ(dataset.feature_names, (TableNames{"a"}));
  ASSERT_EQ(codes_of(dataset), (TableNames{"column-left-out"}));
  EXPECT_CONTAINS(dataset.remarks[0].text, "'b' is left out: all its cells are missing");
}

TEST(TableBoolean, IsOneOrZero) {
  const auto dataset = csv("t,u,label\nTrue,yes,x\nfalse,No,y\nTRUE,,x\n");
  EXPECT_EQ(dataset.feature_names, (TableNames{"t", "u", "u is missing"}));
  EXPECT_EQ(row_of(dataset, 0), (TableValues{1, 1, 0}));
  EXPECT_EQ(row_of(dataset, 1), (TableValues{0, 0, 0}));
  EXPECT_EQ(row_of(dataset, 2), (TableValues{1, 0, 1})) << "as many are yes as are no";
}

TEST(TableDate, IsDaysSinceTheFirst) {
  const auto dataset =
      csv("d,label\n2026-03-01,x\n2026-03-02T12:00:00Z,y\n2024-02-29 06:00,x\n2026-03-01T01:00+01:00,y\n");
  EXPECT_EQ(row_of(dataset, 2), (TableValues{0.25F}));
  EXPECT_EQ(row_of(dataset, 0), (TableValues{731}));
  EXPECT_EQ(row_of(dataset, 1), (TableValues{732.5F}));
  EXPECT_EQ(row_of(dataset, 3), (TableValues{731}));
  for (const auto *wrong : {"2026-13-01", "2025-02-29", "2026-3-1", "2026-03-01T25:00", "2026-03-01T10", "2026-03-01x",
                            "2026-03-01T10:00:00+x", "26-03-01", ""}) {
    EXPECT_FALSE(data::days_of(wrong).has_value()) << wrong;
  }
}

TEST(TableCategory, OfZeroIsThatOfMinusZero) {
  const auto text = table_of("c", 60, [](int i) { return i % 3 == 0 ? "-0" : i % 3 == 1 ? "0" : "red"; });
  const auto dataset = csv(text);
  EXPECT_TRUE(codes_of(dataset).empty()) << dataset.remarks.front().text;
  EXPECT_EQ(row_of(dataset, 0), row_of(dataset, 1));
  EXPECT_NE(row_of(dataset, 0), row_of(dataset, 2));
}

TEST(TableSource, AskedForByItsNumberIsFoundByItsNameElsewhere) {
  ReadOptions options;
  options.source = "2";
  const auto training = csv("a,who,label\n1,ann,x\n2,bob,y\n3,ann,x\n", options);
  EXPECT_EQ(training.plan->source_column, "who");
  auto again = planned(training);
  again.source = "2";
  again.expect_labels = true;
  EXPECT_EQ(row_of(csv("label,a\nx,7\ny,8\n", again), 1), (TableValues{8}));
}

TEST(TableId, OfRisingWholeNumbersIsLeftOutWithANote) {
  const auto text = table_of("row,a", 25, [](int i) { return fmt::format("{},{}", 3 * i, i % 4); });
  const auto dataset = csv(text);
  EXPECT_EQ(dataset.feature_names, (TableNames{"a"}));
  ASSERT_EQ(codes_of(dataset), (TableNames{"column-left-out"}));
  EXPECT_CONTAINS(dataset.remarks[0].text, "data.csv: 'row' is left out: its whole numbers rise from row to row");
  ReadOptions keep;
  keep.keep = {"row", "a"};
  EXPECT_EQ(csv(text, keep).feature_names, (TableNames{"row", "a"}));
  EXPECT_EQ(csv(table_of("row,a", 15, [](int i) { return fmt::format("{},1", i); })).feature_names,
            (TableNames{"row", "a"}))
      << "in so few rows numbers may rise by chance";
}

TEST(TableId, IsToldByItsNameWhereItsNumbersAreInNoOrder) {
  const auto numbers = [](int i) { return fmt::format("{},{}", (7 * i) % 31, i % 4); };
  EXPECT_EQ(csv(table_of("patient_id,a", 31, numbers)).feature_names, (TableNames{"a"}));
  EXPECT_EQ(csv(table_of("dose,a", 31, numbers)).feature_names, (TableNames{"dose", "a"}));
}

TEST(TableId, OfDifferentTextsIsLeftOutWithANote) {
  const auto dataset = csv(table_of("name,a", 30, [](int i) { return fmt::format("n{},{}", i, i % 4); }));
  EXPECT_EQ(dataset.feature_names, (TableNames{"a"}));
  EXPECT_CONTAINS(dataset.remarks[0].text, "'name' is left out: its texts are all different");
  const auto nearly = csv(table_of("text,a", 30, [](int i) { return fmt::format("n{},{}", i / 2 * 2 % 28, i % 4); }));
  EXPECT_EQ(nearly.remarks.size(), 0U);
  const auto free = csv(table_of("text,a", 30, [](int i) { return fmt::format("n{},{}", i % 27, i % 4); }));
  EXPECT_CONTAINS(free.remarks.at(0).text, "27 different texts in 30 rows, too many");
}

TEST(TableNumbers, ThatAreLargeBesideTheirDifferencesAreCountedFromTheLeast) {
  const auto text =
      table_of("time,a", 30, [](int i) { return fmt::format("{},{}", 1600000000 + (i * 7) % 30, i % 4); });
  const auto training = csv(text);
  ASSERT_EQ(codes_of(training), (TableNames{"column-shifted"}));
  EXPECT_EQ(row_of(training, 1), (TableValues{7, 1})) << "float32 would hold none of the differences";
  EXPECT_EQ(row_of(csv("time,a\n1600000011,2\n", planned(training)), 0), (TableValues{11, 2}));
  const auto same = csv(table_of("n,a", 30, [](int i) { return fmt::format("100000,{}", i % 4); }));
  EXPECT_EQ(row_of(same, 0), (TableValues{100000, 0}));
  EXPECT_TRUE(same.remarks.empty());
}

TEST(TableNumbers, OutOfAllProportionAreClippedAndNamed) {
  const auto text = table_of(
      "a,b", 200, [](int i) { return fmt::format("{},{}", i == 50 ? "1e12" : std::to_string(i % 10), i % 4); });
  const auto training = csv(text);
  ASSERT_EQ(codes_of(training), (TableNames{"column-clipped"}));
  EXPECT_CONTAINS(training.remarks[0].text, "1 of 200 values of 'a' are out of all proportion");
  EXPECT_LT(row_of(training, 50)[0], 100.0F);
  EXPECT_EQ(row_of(training, 49)[0], 9.0F);
  EXPECT_EQ(row_of(csv("a,b\n-1e9,1\n", planned(training)), 0)[0], training.plan->columns[0].low);
}

TEST(TableColumns, AreFoundByNameInAnyOrderAndOthersAreNamedAndIgnored) {
  const auto training = csv("a,b,label\n1,2,x\n3,5,y\n");
  const auto other = csv("extra,b,label,a,more\nfoo,5,x,4,1\n", planned(training));
  EXPECT_EQ(row_of(other, 0), (TableValues{4, 5}));
  EXPECT_EQ(names_by_row(other), (TableNames{"x"}));
  ASSERT_EQ(codes_of(other), (TableNames{"extra-columns"}));
  EXPECT_EQ(other.remarks[0].text, "data.csv: 'extra', 'more' are not among the training data's columns, and ignored");
  EXPECT_EQ(row_of(csv("4,5\n", planned(training)), 0), (TableValues{4, 5})) << "without names, by their places";
}

TEST(TableColumns, ThatTheTrainingDataSetAsideAreIgnoredWithoutAWord) {
  ReadOptions options;
  options.drop = {"b"};
  const auto training = csv("a,b,label\n1,2,x\n3,5,y\n", options);
  EXPECT_EQ(training.feature_names, (TableNames{"a"}));
  const auto other = csv("b,a\noops,4\n", planned(training));
  EXPECT_EQ(row_of(other, 0), (TableValues{4}));
  EXPECT_TRUE(other.remarks.empty());
  EXPECT_EQ(row_of(csv("4,oops\n", planned(training)), 0), (TableValues{4}));
}

TEST(TableColumns, AFeatureNamedLikeALabelIsNone) {
  const auto training = csv("x,y,kind\n1,2,a\n3,5,b\n", label_column("kind"));
  const auto other = csv("x,y\n4,5\n", planned(training));
  EXPECT_EQ(row_of(other, 0), (TableValues{4, 5}));
  EXPECT_TRUE(other.labels.empty());
}

TEST(TableRows, ThatTheFileMarksAreTrustedAndKnowTheirPlace) {
  ReadOptions options;
  options.trusted_column = "ok";
  options.id = "id";
  options.source = "who";
  auto training = csv("id,a,ok,who,label\np,1,0,ann,x\nq,2,yes,bob,y\nr,3,,,x\ns,4,True,ann,x\n", options);
  EXPECT_EQ(training.feature_names, (TableNames{"a"}));
  EXPECT_EQ(training.source_names, (TableNames{"", "ann", "bob"}));
  const auto trusted = data::take_marked_rows(training);
  EXPECT_EQ(names_by_row(trusted), (TableNames{"y", "x"}));
  EXPECT_EQ(trusted.ids, (TableNames{"q", "s"}));
  EXPECT_EQ(trusted.row_number(1), 4);
  EXPECT_EQ(training.ids, (TableNames{"p", "r"}));
  EXPECT_EQ(training.sources, (std::vector<std::uint32_t>{1, 0}));
  EXPECT_EQ(training.row_number(1), 3);
  EXPECT_EQ(row_of(training, 1), (TableValues{3}));
}

TEST(TableSeparator, MayBeAPipe) { EXPECT_EQ(csv("a|b|label\n1,5|2|x\n2,5|3|y\n").feature_names.size(), 3U); }

} // namespace
} // namespace duplex::testing
