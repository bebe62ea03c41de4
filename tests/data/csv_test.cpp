// CSV: what is wrong is named with file, line, column, what was found and what was expected; what is
// right is read to the bit.

#include "data_support.hpp"

#include <gtest/gtest.h>

#include <charconv>
#include <random>

namespace duplex::testing {
namespace {

using Values = std::vector<float>;
using Names = std::vector<std::string>;

class RefusedCell : public ::testing::TestWithParam<const char *> {};

TEST_P(RefusedCell, IsNamedWithLineColumnAndHeader) {
  const std::string cell = GetParam();
  EXPECT_EQ(csv_refusal("a,width,label\n1,2,x\n3," + cell + ",x\n"),
            "data.csv:3, column 2 ('width'): found '" + cell +
                "', expected a finite number, as in 1 cells of that column, or a missing value (nothing, NA, N/A, NaN, "
                "null, ? or -)");
}

INSTANTIATE_TEST_SUITE_P(NotFiniteNumbers, RefusedCell,
                         ::testing::Values("inf", "-inf", "infinity", "0x1A", "abc", "1e", "1.2.3", "--1", "+-1", "1 2",
                                           "e5", ".", "1_000", "1f", "??"));

TEST(CsvNumbers, MissingInTheFirstLineAreNotTakenForAHeader) {
  for (const std::string cell : {"-inf", "Infinity"}) {
    EXPECT_CONTAINS(csv_refusal("1," + cell + ",3\n4,5,6\n", label_column("1")),
                    "data.csv:1, column 2: found '" + cell + "', expected a finite number");
  }
  for (const std::string cell : {"", "NA", "nan", "?"}) {
    EXPECT_EQ(csv("1," + cell + ",3\n4,5,6\n", label_column("1")).features.rows(), 2) << cell;
  }
}

TEST(CsvNumbers, TooLargeForFloat32AreRefused) {
  for (const std::string cell : {"1e39", "-3.5e38", "1e400", "1e99999999999999999999"}) {
    EXPECT_EQ(csv_refusal("a,label\n" + cell + ",x\n"),
              "data.csv:2, column 1 ('a'): found '" + cell + "', expected a number of at most 3.4028235e+38 in size");
  }
}

TEST(CsvNumbers, TooSmallForFloat32BecomeZero) {
  const auto dataset = csv("a,b,c,label\n1e-50,-1e-400,0." + std::string(400, '0') + "1,x\n");
  EXPECT_EQ(row_of(dataset, 0), (Values{0.0F, 0.0F, 0.0F}));
}

TEST(CsvNumbers, AreReadInEveryUsualForm) {
  const auto dataset = csv("1e-3,+.5, 7 ,1.,-0.25,1E5,007,\"8\",label1\n", label_column("9"));
  EXPECT_EQ(row_of(dataset, 0), (Values{1e-3F, 0.5F, 7.0F, 1.0F, -0.25F, 1e5F, 7.0F, 8.0F}));
}

TEST(CsvNumbers, AreRoundedToNearestLikeTheStandardLibraryDoes) {
  std::mt19937_64 generator(1);
  std::string text =
      "16777217,0.1,9007199254740993,1.00000005960464477539,1e22,1e-22,123456789012345678901234567890,1.5e-40";
  for (int i = 0; i < 4000; ++i) {
    const double value = std::ldexp(static_cast<double>(generator()), static_cast<int>(generator() % 120) - 120);
    char buffer[64];
    const int digits = 1 + static_cast<int>(generator() % 17);
    const auto format = i % 2 == 0 ? std::chars_format::scientific : std::chars_format::fixed;
    text += ',' + std::string(buffer, std::to_chars(buffer, buffer + 64, value, format, digits).ptr);
  }
  const auto dataset = csv(text + "\n" + text + "\n", without_labels());
  const char *at = text.data();
  for (Index j = 0; j < dataset.features.columns(); ++j) {
    float expected = 0.0F;
    at = std::from_chars(at, text.data() + text.size(), expected).ptr + 1;
    ASSERT_EQ(dataset.features.value(0, j), expected) << j;
    ASSERT_EQ(dataset.features.value(1, j), expected) << j;
  }
}

TEST(CsvShape, RefusesRowsOfUnequalWidth) {
  EXPECT_EQ(csv_refusal("a,b,label\n1,2,x\n1,2\n"),
            "data.csv:3: found 2 cells, expected 3 as in line 1 (separated by ',')");
  EXPECT_EQ(csv_refusal("a;b;label\n1;2;x;4;5\n"),
            "data.csv:2: found 5 cells, expected 3 as in line 1 (separated by ';')");
  EXPECT_EQ(csv_refusal("1\t2\n1\t2\t3\n", label_column("1")),
            "data.csv:2: found 3 cells, expected 2 as in line 1 (separated by tabs)");
}

TEST(CsvShape, RefusesEmptyFilesAndThoseWithAHeaderOnly) {
  EXPECT_EQ(csv_refusal(""), "data.csv: is empty, expected rows of data");
  EXPECT_EQ(csv_refusal("\xEF\xBB\xBF"), "data.csv: is empty, expected rows of data");
  EXPECT_EQ(csv_refusal("\n\n"), "data.csv: holds blank lines only, expected rows of data");
  EXPECT_EQ(csv_refusal("a,label\n"), "data.csv: holds no rows below its header, expected at least one");
}

TEST(CsvShape, RefusesBlankLinesBeforeAndBetweenRows) {
  EXPECT_EQ(csv_refusal("a,label\n1,x\n\n2,y\n"), "data.csv:3: found a blank line, expected 2 cells");
  EXPECT_EQ(csv_refusal("a,label\n1,x\n \t \r\n\n2,y\n"), "data.csv:3: found a blank line, expected 2 cells");
  EXPECT_EQ(csv_refusal("\na,label\n1,x\n"), "data.csv:1: found a blank line, expected the first row");
}

TEST(CsvShape, TakesBlankLinesAtTheEndAndAMissingLastNewline) {
  for (const auto *end : {"", "\n", "\r\n", "\n\n\n", "\n  \r\n\r\n", "\n "}) {
    const auto dataset = csv(std::string("a,label\n1,x\n2,y") + end);
    EXPECT_EQ(dataset.features.rows(), 2) << end;
    EXPECT_EQ(names_by_row(dataset), (Names{"x", "y"}));
  }
}

TEST(CsvShape, RefusesMoreThanTheMemoryGiven) {
  ReadOptions options;
  options.memory_limit = 16;
  EXPECT_EQ(csv_refusal("a,b,label\n1,2,x\n3,4,y\n", options), "");
  EXPECT_CONTAINS(csv_refusal("a,b,label\n1,2,x\n3,4,y\n5,6,z\n", options), "data.csv: 3 rows of 2 features need");
}

TEST(CsvQuotes, RefusesAQuoteThatIsNeverClosedAndTextBehindOne) {
  EXPECT_EQ(csv_refusal("a,label\n1,\"x\n2,y\n"),
            "data.csv:2, column 2: the quote that opens here is never closed, expected another '\"'");
  EXPECT_EQ(csv_refusal("a,label\n1,\"x\"y\n"),
            "data.csv:2, column 2: found 'y' after the closing quote, expected the end of the cell");
  EXPECT_CONTAINS(csv_refusal("a,label\n1,\"" + std::string(3U << 20U, 'x') + "\"\n"),
                  "data.csv:2, column 2: found a cell of more than 1048576 bytes");
  EXPECT_CONTAINS(csv_refusal("a,label\n1" + std::string(3U << 20U, '0') + ",x\n"),
                  "data.csv:2, column 1: found a cell of more than 1048576 bytes");
}

TEST(CsvQuotes, HoldDelimitersNewlinesAndDoubledQuotes) {
  const auto dataset = csv("\"a,b\",label\r\n1,\"x, \"\"y\"\"\r\nz\"\r\n\"2\", \"w\" \r\n");
  EXPECT_EQ(dataset.feature_names, (Names{"a,b"}));
  EXPECT_EQ(names_by_row(dataset), (Names{"x, \"y\"\r\nz", "w"}));
}

TEST(CsvQuotes, CountTheirNewlinesAsLines) {
  EXPECT_CONTAINS(csv_refusal("a,label\n1,\"x\n\n\"\noops,y\n"), "data.csv:5, column 1 ('a'): found 'oops'");
}

TEST(CsvText, RefusesWhatIsNotUtf8) {
  EXPECT_EQ(csv_refusal("\xFF\xFE"
                        "a"),
            "data.csv:1: found UTF-16 text, expected UTF-8");
  EXPECT_EQ(csv_refusal("a,label\n1,\xE9t\xE9\n"),
            "data.csv:2, column 2 ('label'): found '\\xe9t\\xe9', expected UTF-8 text");
  EXPECT_EQ(csv_refusal(std::string_view("a,label\n1,\0\n", 12)),
            "data.csv:2, column 2 ('label'): found '\\x00', expected UTF-8 text");
  EXPECT_EQ(csv_refusal("\xC3\x28,label\n1,2\n"), "data.csv:1, column 1: found '\\xc3(', expected UTF-8 text");
}

TEST(CsvText, TakesAByteOrderMark) { EXPECT_EQ(csv("\xEF\xBB\xBFlabel,ü\nä,1\n").feature_names, (Names{"ü"})); }

TEST(CsvLabel, WithoutAColumnOfAUsualNameListsTheColumns) {
  EXPECT_EQ(csv_refusal("a,b\n1,2\n"),
            "data.csv: no column is named label, class, target or y; say by --label which column "
            "holds the labels (columns: a, b)");
  EXPECT_CONTAINS(csv_refusal("1,2,3\n"), "(3 columns without names)");
}

TEST(CsvLabel, OfAnUnknownNameOrNumberIsRefusedWithASuggestion) {
  EXPECT_EQ(csv_refusal("a,species\n1,x\n", label_column("specis")),
            "data.csv: unknown label column 'specis'; did you mean 'species'? (known: a, species)");
  EXPECT_EQ(csv_refusal("a,b\n1,x\n", label_column("3")),
            "data.csv: label = column 3, expected a number from 1 to 2 or a name");
  EXPECT_EQ(csv_refusal("a,b\n1,x\n", label_column("0")),
            "data.csv: label = column 0, expected a number from 1 to 2 or a name");
  EXPECT_EQ(csv_refusal("a,k,k\n1,x,y\n", label_column("k")),
            "data.csv:1: two columns are named 'k', expected one for the label");
}

TEST(Csv, RefusesTwoColumnsOfOneName) {
  EXPECT_EQ(csv_refusal("a,b,a,label\n1,2,3,x\n"),
            "data.csv:1: columns 1 and 3 are both named 'a', expected different names");
  EXPECT_EQ(csv_refusal(",b,,label\n1,2,3,x\n"),
            "data.csv:1: columns 1 and 3 are both named '', expected different names");
}

TEST(CsvLabel, ThatIsEmptyIsRefused) {
  EXPECT_EQ(csv_refusal("a,label\n1,\n"), "data.csv:2, column 2 ('label'): found '', expected a label");
}

TEST(CsvLabel, BesideNoFeatureIsRefused) {
  EXPECT_EQ(csv_refusal("label\nx\n"),
            "data.csv:1: found no column of features besides labels and ids, expected at least one");
}

TEST(CsvLabel, IsFoundByUsualNameNameAndNumber) {
  EXPECT_EQ(names_by_row(csv("a,Class\n1,x\n")), (Names{"x"}));
  EXPECT_EQ(names_by_row(csv("y,label,b\n1,x,2\n")), (Names{"x"}));
  EXPECT_EQ(names_by_row(csv("a,kind\n1,x\n", label_column("kind"))), (Names{"x"}));
  EXPECT_EQ(names_by_row(csv("a,kind\n1,x\n", label_column("2"))), (Names{"x"}));
  EXPECT_EQ(names_by_row(csv("x,1\nz,2\n", label_column("1"))), (Names{"x", "z"}));
}

TEST(CsvLabel, ClassesAreInNumericOrderIfAllAreWholeElseInThatOfTheirBytes) {
  EXPECT_EQ(csv("a,label\n1,10\n1,9\n1,-1\n1,9\n").label_names, (Names{"-1", "9", "10"}));
  EXPECT_EQ(csv("a,label\n1,10\n1,9\n1,b\n1,B\n").label_names, (Names{"10", "9", "B", "b"}));
  EXPECT_EQ(csv("a,label\n1,10\n1,9\n1,10\n").labels, (std::vector<std::uint32_t>{1, 0, 1}));
  EXPECT_EQ(csv("a,label\n1,7\n1,007\n").label_names, (Names{"007", "7"}));
}

TEST(CsvLabel, MayBeMissingWhereNoneIsExpected) {
  EXPECT_TRUE(csv("a,b\n1,2\n", without_labels()).labels.empty());
  ReadOptions options = without_labels();
  options.label = "species";
  EXPECT_EQ(csv("a,b\n1,2\n", options).features.columns(), 2);
  EXPECT_EQ(names_by_row(csv("a,species\n1,x\n", options)), (Names{"x"}));
}

TEST(CsvHeader, RefusesAFirstLineOfNamesAndNumbersMixedAboveNumbers) {
  EXPECT_CONTAINS(csv_refusal("x,1.5,oops\ny,2,3\n", label_column("1")),
                  "data.csv:1, column 3: found 'oops', expected a finite number");
  EXPECT_CONTAINS(csv_refusal("x,1.5,oops\ny,2,3\n", label_column("1")),
                  "if line 1 holds the names of the columns, choose the label column by its name");
}

TEST(CsvHeader, MayLeaveAColumnWithoutAName) {
  EXPECT_EQ(csv(",a,kind\n0,4,x\n", label_column("3")).feature_names, (Names{"", "a"}));
}

TEST(CsvHeader, MayHoldNumbersIfTheLabelIsChosenByName) {
  const auto dataset = csv("label,0,1\n3,4,5\n");
  EXPECT_EQ(dataset.feature_names, (Names{"0", "1"}));
  EXPECT_EQ(dataset.features.rows(), 1);
}

TEST(CsvId, IsKeptAsText) {
  ReadOptions options = label_column("kind");
  options.id = "key";
  const auto dataset = csv("key,a,kind\n0012,1,x\n\"p, q\",2,y\n", options);
  EXPECT_EQ(dataset.ids, (Names{"0012", "p, q"}));
  EXPECT_EQ(dataset.feature_names, (Names{"a"}));
  options.id = "kind";
  EXPECT_EQ(csv_refusal("key,a,kind\n1,1,x\n", options),
            "data.csv: column 3 is both label and id, expected two columns");
  options.id = "kez";
  EXPECT_CONTAINS(csv_refusal("key,a,kind\n1,1,x\n", options), "unknown id column 'kez'; did you mean 'key'?");
}

TEST(CsvBuffer, RowsReadTheSameWhereverTheWindowCutsThem) {
  std::mt19937_64 generator(3);
  std::string text = "a,b,label,c\n";
  std::vector<Values> rows;
  while (text.size() < (3U << 20U)) {
    const auto draw = [&] { return static_cast<float>(generator() % 100000) / 8.0F; };
    rows.push_back({draw(), draw(), draw()});
    const auto cell = [&](float value) {
      std::string number = number_text(value);
      return generator() % 5 == 0 ? "\"" + number + "\"" : generator() % 5 == 0 ? "  " + number : number;
    };
    text += cell(rows.back()[0]) + "," + cell(rows.back()[1]) + ",\"l\n1\"," + cell(rows.back()[2]) +
            (generator() % 2 == 0 ? "\r\n" : "\n");
  }
  const auto dataset = csv(text);
  ASSERT_EQ(dataset.features.rows(), static_cast<Index>(rows.size()));
  for (std::size_t i = 0; i < rows.size(); ++i) {
    ASSERT_EQ(row_of(dataset, static_cast<Index>(i)), rows[i]) << i;
  }
  EXPECT_EQ(dataset.label_names, (Names{"l\n1"}));
}

} // namespace
} // namespace duplex::testing
