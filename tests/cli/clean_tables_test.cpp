// `duplex clean` and `duplex predict` on tables as people have them, and what they warn of: wrong input first. Warnings
// are read where a customer reads them, in the data of report.html.

#include "tool.hpp"

#include <fmt/format.h>

#include <functional>
#include <random>
#include <set>

namespace duplex::test {
namespace {

/// The data that the page of a report shows.
nlohmann::json page_data(const std::filesystem::path &page) {
  const std::string text = read_file(page);
  const std::string opening = "id=\"report-data\">";
  const auto begin = text.find(opening) + opening.size();
  return nlohmann::json::parse(text.substr(begin, text.find("</script>", begin) - begin));
}

std::set<std::string> codes_in(const nlohmann::json &warnings) {
  std::set<std::string> codes;
  for (const auto &warning : warnings) {
    codes.insert(warning["code"].get<std::string>());
  }
  return codes;
}

struct Row {
  int number = 0;
  bool right = false; ///< its true class
  double a = 0.0;
  double b = 0.0;
};

/// Two clouds, of which `print` makes lines.
std::string cloud_lines(int rows, unsigned seed, const std::function<std::string(const Row &)> &print) {
  std::mt19937_64 generator(seed);
  std::normal_distribution<double> normal;
  std::string text;
  for (int i = 0; i < rows; ++i) {
    Row row{.number = i, .right = i % 2 == 1};
    row.a = (row.right ? 2.5 : -2.5) + normal(generator);
    row.b = 20.0 * normal(generator);
    text += print(row) + "\n";
  }
  return text;
}

const char *name_of(bool right) { return right ? "right" : "left"; }

class CleanTable : public ::testing::Test {
protected:
  ScratchFolder scratch;
  std::string out = (scratch.path() / "out").string();
  std::string train = scratch.file("train.csv", "a,b,label\n" + cloud_lines(300, 1, noisy));
  std::string trusted = scratch.file("trusted.csv", "a,b,label\n" + cloud_lines(40, 2, right));

  static std::string noisy(const Row &row) {
    return fmt::format("{:.3f},{:.3f},{}", row.a, row.b, name_of(row.right != (row.number % 9 == 4)));
  }
  static std::string right(const Row &row) { return fmt::format("{:.3f},{:.3f},{}", row.a, row.b, name_of(row.right)); }
  [[nodiscard]] std::string command(const std::string &more = "") const {
    return fmt::format("clean --train {} --trusted {} --out {} {}", train, trusted, out, more);
  }
  [[nodiscard]] std::string result(const std::string &file) const {
    return read_file(std::filesystem::path(out) / file);
  }
  /// Of a cleaning, as the page, the summary and the terminal tell them alike.
  [[nodiscard]] std::set<std::string> warnings(const std::string &arguments) const {
    const auto run = run_tool(arguments);
    EXPECT_EQ(run.exit_code, 0) << run.output;
    const auto on_page = page_data(std::filesystem::path(out) / "report.html")["warnings"];
    EXPECT_EQ(on_page, nlohmann::json::parse(result("summary.json"))["warnings"]);
    for (const auto &warning : on_page) {
      EXPECT_NE(run.output.find(warning["text"].get<std::string>()), std::string::npos) << warning << run.output;
    }
    return codes_in(on_page);
  }
};

TEST_F(CleanTable, RefusesOptionsOfColumnsThatAreWrong) {
  expect_refused(command("--drop c"), {"train.csv", "unknown drop column 'c'"});
  expect_refused(command("--drop a,,b"), {"--drop = 'a,,b'", "commas"});
  expect_refused(command("--keep a --drop b"), {"--keep", "--drop"});
  expect_refused(command("--source who"), {"unknown source column 'who'"});
  expect_refused(command("--trusted-column a"), {"--trusted-column", "--trusted"});
  expect_refused(fmt::format("clean --train {} --trusted-column a --out {}", train, out),
                 {"train.csv:2, column 1 ('a')", "1, true or yes"});
  expect_refused(command("--write all"), {"--write", "all", "relabel"});
  expect_refused("clean --train - --trusted - --out " + out + " < " + train, {"standard input", "expected one"});
  expect_refused("clean --demo fashion-mnist --drop a --out " + out, {"--drop", "--train"});
  EXPECT_FALSE(std::filesystem::exists(std::filesystem::path(out) / "summary.json"));
}

TEST_F(CleanTable, RefusesToWriteAgainWhatIsNoCsvFile) {
  const auto file = scratch.file("a.svm", "1 1:1 2:3\n2 1:2 2:1\n1 1:1.5\n2 2:1\n");
  const auto with = [&](const std::string &more) {
    return fmt::format("clean --train {0} --trusted {0} --out {1} {2}", file, out, more);
  };
  expect_refused(with("--write drop"), {"--write drop", "a.svm is no CSV file"});
  EXPECT_EQ(run_tool(with("")).exit_code, 0);
  EXPECT_FALSE(std::filesystem::exists(std::filesystem::path(out) / "cleaned.csv"));
}

TEST_F(CleanTable, RefusesAFileThatLacksColumnsByTheirNames) {
  trusted = scratch.file("lacks.csv", "b,label\n1,left\n2,right\n");
  expect_refused(command(), {"lacks.csv: has no column 'a'", "columns: b, label"});
}

TEST_F(CleanTable, ReadsTextDatesAndMissingValuesInAnyOrderHereAndWhenItPredicts) {
  const auto cells = [](const Row &row) {
    const std::string a = row.number % 11 == 3 ? "NA" : fmt::format("{:.3f}", row.a);
    return std::array<std::string, 4>{a,
                                      row.number % 3 == 0 ? "red"
                                      : row.right         ? "blue"
                                                          : "green",
                                      fmt::format("2026-03-{:02}", row.number % 28 + 1), name_of(row.right)};
  };
  train = scratch.file("raw.csv", "id|a|colour|day|label\n" + cloud_lines(400, 1, [&](const Row &row) {
                                    const auto [a, colour, day, label] = cells(row);
                                    return fmt::format("{}|{}|{}|{}|{}", row.number, a, colour, day,
                                                       name_of(row.right != (row.number % 9 == 4)));
                                  }));
  trusted = scratch.file("raw_trusted.csv", "label;colour;extra;day;a\n" + cloud_lines(60, 2, [&](const Row &row) {
                                              const auto [a, colour, day, label] = cells(row);
                                              return fmt::format("{};{};7;{};{}", label, colour, day, a);
                                            }));
  const auto test = scratch.file("raw_test.csv", "day,a,colour,label\n" + cloud_lines(50, 3, [&](const Row &row) {
                                                   const auto [a, colour, day, label] = cells(row);
                                                   return fmt::format("{},{},{},{}", day, a,
                                                                      row.number == 7 ? "violet" : colour, label);
                                                 }));
  const auto codes = warnings(command("--test " + test));
  EXPECT_EQ(codes, (std::set<std::string>{"column-left-out", "extra-columns", "unknown-levels"}));
  const auto summary = nlohmann::json::parse(result("summary.json"));
  EXPECT_GT(summary["test"]["accuracy"].get<double>(), 0.9);
  const auto again = (scratch.path() / "again.csv").string();
  const auto run = run_tool(fmt::format("predict --model {} --data - --out {} < {}", out, again, test));
  ASSERT_EQ(run.exit_code, 0) << run.output;
  EXPECT_EQ(read_file(again), result("predictions.csv"));
  EXPECT_NE(run.output.find("'violet'"), std::string::npos) << run.output;
}

TEST_F(CleanTable, TakesTrustedRowsFromTheSameFileAndNamesRowsByTheirPlaceInIt) {
  train = scratch.file("marked.csv", "a,b,ok,label\n" + cloud_lines(340, 1, [](const Row &row) {
                                       const bool is_trusted = row.number % 8 == 0;
                                       const bool is_wrong = !is_trusted && row.number % 9 == 4;
                                       return fmt::format("{:.3f},{:.3f},{},{}", row.a, row.b, is_trusted ? "yes" : "",
                                                          name_of(row.right != is_wrong));
                                     }));
  const auto run = run_tool(fmt::format("clean --train {} --trusted-column ok --out {}", train, out));
  ASSERT_EQ(run.exit_code, 0) << run.output;
  std::istringstream lines(result("cleaned.csv"));
  std::string line;
  std::getline(lines, line);
  EXPECT_EQ(line, "a,b,ok,label,trust,suggested,suspect");
  int found = 0;
  int named = 0;
  for (int row = 0; std::getline(lines, line); ++row) {
    const bool is_wrong = row % 8 != 0 && row % 9 == 4;
    found += is_wrong && line.ends_with(",1") ? 1 : 0;
    if (row % 8 == 0) {
      EXPECT_TRUE(line.ends_with(fmt::format(",1,{},0", name_of(row % 2 == 1)))) << line;
    }
    named += result("suspects.csv").find(fmt::format("\n{},", row + 1)) != std::string::npos && is_wrong ? 1 : 0;
  }
  EXPECT_GE(found, 28) << "of 33";
  EXPECT_EQ(found, named);
}

TEST_F(CleanTable, WritesTheTableAgainWithoutSuspectsOrWithOtherLabels) {
  const auto lines_of = [](const std::string &text) { return std::count(text.begin(), text.end(), '\n'); };
  ASSERT_EQ(run_tool(command("--write drop")).exit_code, 0);
  const auto suspects = lines_of(result("suspects.csv")) - 1;
  ASSERT_GT(suspects, 20);
  EXPECT_EQ(lines_of(result("cleaned.csv")), 301 - suspects);
  ASSERT_EQ(run_tool(command("--write relabel")).exit_code, 0);
  const std::string relabelled = result("cleaned.csv");
  EXPECT_EQ(lines_of(relabelled), 301);
  const std::string given = read_file(train);
  std::istringstream before(given);
  std::istringstream after(relabelled);
  std::string one;
  std::string other;
  long changed = 0;
  while (std::getline(before, one) && std::getline(after, other)) {
    changed += one != other ? 1 : 0;
    EXPECT_EQ(one.substr(0, one.rfind(',')), other.substr(0, other.rfind(',')));
  }
  EXPECT_EQ(changed, suspects);
  ASSERT_EQ(run_tool(command("--write none")).exit_code, 0);
  EXPECT_FALSE(std::filesystem::exists(std::filesystem::path(out) / "cleaned.csv"));
}

TEST_F(CleanTable, ReadsStandardInputAndWritesItAgain) {
  const auto run = run_tool(fmt::format("clean --train - --trusted {} --out {} < {}", trusted, out, train));
  ASSERT_EQ(run.exit_code, 0) << run.output;
  const std::string redirected = result("cleaned.csv");
  const auto piped =
      run_command(fmt::format("cat {} | {} clean --train - --trusted {} --out {}", train, DUPLEX_TOOL, trusted, out));
  ASSERT_EQ(piped.exit_code, 0) << piped.output;
  EXPECT_EQ(result("cleaned.csv"), redirected);
  EXPECT_EQ(redirected.find("a,b,label,trust,suggested,suspect\n"), 0U);
}

TEST_F(CleanTable, KeepsTheSourceOutOfTheFeatures) {
  train = scratch.file("sources.csv", "a,b,who,label\n" + cloud_lines(300, 1, [](const Row &row) {
                                        return fmt::format("{:.3f},{:.3f},{},{}", row.a, row.b,
                                                           row.number % 3 == 0 ? "ann" : "bob",
                                                           name_of(row.right != (row.number % 9 == 3)));
                                      }));
  EXPECT_EQ(warnings(command("--source who")), (std::set<std::string>{}));
  EXPECT_EQ(nlohmann::json::parse(result("summary.json"))["features"], 2);
}

TEST_F(CleanTable, TellsWhichFeaturesSpeakAgainstALabel) {
  ASSERT_EQ(run_tool(command("--model linear")).exit_code, 0);
  int sections_of_suspects = 0;
  const auto page = page_data(std::filesystem::path(out) / "report.html");
  for (const auto &section : page.at("sections")) {
    if (section["kind"] == "suspects") {
      ++sections_of_suspects;
      const auto &worst = section.at("items").at(0);
      EXPECT_EQ(worst.at("speaks against it").get<std::string>().find("a "), 0U) << worst;
    }
  }
  EXPECT_EQ(sections_of_suspects, 1);
}

TEST_F(CleanTable, IsRefusedWhereItWouldBeWrittenOver) {
  std::filesystem::create_directories(out);
  const auto inside = std::filesystem::path(out) / "weights.csv";
  std::filesystem::copy_file(train, inside);
  const std::string before = read_file(inside);
  train = inside.string();
  expect_refused(command(), {"'weights.csv'", "is read by the run", "another --out"});
  EXPECT_TRUE(read_file(inside) == before);
}

TEST_F(CleanTable, WarnsOfNothingWhereAllIsWell) { EXPECT_EQ(warnings(command()), (std::set<std::string>{})); }

TEST_F(CleanTable, WarnsOfTrustedRowsOfOneClass) {
  trusted = scratch.file("one.csv", "a,b,label\n" + cloud_lines(40, 2, [](const Row &row) {
                                      return fmt::format("{:.3f},{:.3f},left", row.a, row.b);
                                    }));
  EXPECT_TRUE(warnings(command()).contains("trusted-one-class"));
}

TEST_F(CleanTable, WarnsOfAClassWithoutTrustedRows) {
  train = scratch.file("three.csv", "a,b,label\n" + cloud_lines(300, 1, [](const Row &row) {
                                      return row.number % 5 == 0 ? fmt::format("{:.3f},300,far", row.a) : right(row);
                                    }));
  EXPECT_TRUE(warnings(command()).contains("class-without-trusted-rows"));
}

TEST_F(CleanTable, WarnsOfFewTrustedRows) {
  trusted = scratch.file("few.csv", "a,b,label\n" + cloud_lines(8, 2, right));
  EXPECT_TRUE(warnings(command()).contains("few-trusted-rows"));
}

TEST_F(CleanTable, WarnsWhereTheTrustedRowsAreTheTrainingRows) {
  trusted = train;
  EXPECT_TRUE(warnings(command()).contains("trusted-is-training"));
}

TEST_F(CleanTable, WarnsOfTrustedRowsThatHaveAnotherLabelAmongTheTrainingRows) {
  trusted = scratch.file("checked.csv", "a,b,label\n" + cloud_lines(40, 1, right));
  const auto codes = warnings(command());
  EXPECT_TRUE(codes.contains("trusted-contradicts-training"));
  EXPECT_FALSE(codes.contains("trusted-is-training"));
}

TEST_F(CleanTable, WarnsOfTrustedLabelsThatDisagreeWithEverything) {
  trusted = scratch.file("swapped.csv", "a,b,label\n" + cloud_lines(40, 2, [](const Row &row) {
                                          return fmt::format("{:.3f},{:.3f},{}", row.a, row.b, name_of(!row.right));
                                        }));
  EXPECT_TRUE(warnings(command()).contains("trusted-disagrees"));
}

TEST_F(CleanTable, WarnsOfADisagreementFarBeyondTheSuspects) {
  train = scratch.file("many.csv", "a,b,label\n" + cloud_lines(300, 1, [](const Row &row) {
                                     return fmt::format("{:.3f},{:.3f},{}", row.a, row.b,
                                                        name_of(row.right != (row.number % 10 < 3)));
                                   }));
  EXPECT_TRUE(warnings(command("--threshold 0.0001")).contains("disagreement-beyond-suspects"));
}

TEST_F(CleanTable, WarnsWhereWrongLabelsLookLikeClassesThatOverlap) {
  const auto nearer = [](const Row &row) { // all labels are right
    return fmt::format("{:.3f},{:.3f},{}", row.a + (row.right ? -1.6 : 1.6), row.b, name_of(row.right));
  };
  train = scratch.file("overlap.csv", "a,b,label\n" + cloud_lines(300, 1, nearer));
  trusted = scratch.file("overlap_trusted.csv", "a,b,label\n" + cloud_lines(40, 2, nearer));
  EXPECT_TRUE(warnings(command()).contains("wrong-or-overlapping"));
}

TEST_F(CleanTable, WarnsOfFeaturesThatTellNothing) {
  const auto noise = [](const Row &row) { return fmt::format("{:.3f},{}", row.b, name_of(row.right)); };
  train = scratch.file("noise.csv", "b,label\n" + cloud_lines(300, 1, noise));
  trusted = scratch.file("noise_trusted.csv", "b,label\n" + cloud_lines(200, 2, noise));
  EXPECT_EQ(warnings(command()), (std::set<std::string>{"features-tell-nothing"}));
}

TEST_F(CleanTable, WarnsOfFeaturesThatTellLittle) {
  const auto near = [](const Row &row) {
    return fmt::format("{:.3f},{}", row.a + (row.right ? -2.1 : 2.1), name_of(row.right));
  };
  train = scratch.file("near.csv", "a,label\n" + cloud_lines(300, 1, near));
  trusted = scratch.file("near_trusted.csv", "a,label\n" + cloud_lines(200, 2, near));
  EXPECT_TRUE(warnings(command()).contains("features-tell-little"));
}

TEST_F(CleanTable, WarnsOfColumnsThatAreLeftOutShiftedOrClipped) {
  const auto odd = [](const Row &row) {
    return fmt::format("{},{:.3f},7,{},{},{}", row.number, row.a, 1600000000 + (row.number * 37) % 300,
                       row.number == 5 ? 1e15 : row.b, name_of(row.right));
  };
  train = scratch.file("odd.csv", "n,a,same,time,huge,label\n" + cloud_lines(300, 1, odd));
  trusted = scratch.file("odd_trusted.csv", "n,a,same,time,huge,label\n" + cloud_lines(40, 2, odd));
  EXPECT_EQ(warnings(command()), (std::set<std::string>{"column-left-out", "column-clipped", "column-shifted"}));
  const auto page = page_data(std::filesystem::path(out) / "report.html")["warnings"].dump();
  for (const auto *name : {"'n'", "'same'", "'time'", "'huge'"}) {
    EXPECT_NE(page.find(name), std::string::npos) << name << page;
  }
}

} // namespace
} // namespace duplex::test
