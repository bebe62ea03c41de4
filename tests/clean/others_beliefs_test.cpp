// Probabilities that the user has: wrong input first, then a voice that counts where the features tell nothing.

#include "clean/others_beliefs.hpp"

#include "support.hpp"
#include "tool.hpp"

#include <fmt/format.h>

#include <random>

namespace duplex::test {
namespace {

using duplex::testing::refusal;

data::Dataset table_of(const std::vector<std::vector<float>> &rows) {
  data::Dataset out;
  out.source = "p.csv";
  out.features = FeatureTable(Storage::float32, static_cast<Index>(rows.front().size()));
  for (const auto &row : rows) {
    out.features.append(std::span<const float>(row));
  }
  return out;
}

TEST(OthersBeliefs, RefuseWhatIsNoProbability) {
  EXPECT_EQ(refusal<InvalidInput>([] {
              (void)clean::log_beliefs(table_of({{0.5F, 0.5F}, {1.2F, -0.2F}}));
            }),
            "p.csv: row 2: found 1.2, expected a probability from 0 to 1");
  EXPECT_EQ(refusal<InvalidInput>([] {
              (void)clean::log_beliefs(table_of({{0.5F, 0.3F}}));
            }),
            "p.csv: row 1: found probabilities that add up to 0.8, expected 1");
}

TEST(OthersBeliefs, AreLogarithmsThatAreNowhereInfinite) {
  const auto beliefs = clean::log_beliefs(table_of({{0.25F, 0.75F}, {1.0F, 0.0F}}));
  EXPECT_FLOAT_EQ(beliefs(0, 1), std::log(0.75F));
  EXPECT_FLOAT_EQ(beliefs(1, 1), std::log(1e-6F));
}

/// Features that are noise, and probabilities that know the class.
class CleanWithProbabilities : public ::testing::Test {
protected:
  static constexpr int rows = 300;
  ScratchFolder scratch;
  std::string out = (scratch.path() / "out").string();
  std::string train;
  std::string marked; ///< with its first 40 rows trusted, whose labels are right
  std::string probabilities;
  std::string fitted; ///< of a model that has learnt the labels by heart

  void SetUp() override {
    std::mt19937_64 generator(3);
    std::normal_distribution<double> normal;
    std::string table = "a,b,label\n";
    std::string with_marks = "a,b,label,checked\n";
    std::string p = "1,0\n"; // in another order than that of the classes, with numbers for names
    std::string by_heart = "0,1\n";
    for (int i = 0; i < rows; ++i) {
      const bool right = i % 2 == 1;
      const bool label = right != (i >= 40 && i % 8 == 0);
      const std::string features = fmt::format("{:.3f},{:.3f}", normal(generator), normal(generator));
      table += fmt::format("{},{:d}\n", features, label);
      with_marks += fmt::format("{},{:d},{}\n", features, label, i < 40 ? "yes" : "no");
      const double of_right = 0.8 + 0.15 * std::abs(std::sin(i));
      p += right ? fmt::format("{:.3f},{:.3f}\n", of_right, 1.0 - of_right)
                 : fmt::format("{:.3f},{:.3f}\n", 1.0 - of_right, of_right);
      by_heart += label ? "0.02,0.98\n" : "0.98,0.02\n";
    }
    train = scratch.file("train.csv", table);
    marked = scratch.file("marked.csv", with_marks);
    probabilities = scratch.file("p.csv", p);
    fitted = scratch.file("fitted.csv", by_heart);
  }

  void expect_found() const {
    const auto summary = nlohmann::json::parse(read_file(std::filesystem::path(out) / "summary.json"));
    EXPECT_GT(summary["pooling"]["probabilities"].get<double>(), 0.3);
    const std::string suspects = read_file(std::filesystem::path(out) / "suspects.csv");
    int found = 0;
    int wrong = 0;
    for (int i = 40; i < rows; i += 8) {
      ++wrong;
      found += suspects.find(fmt::format("\n{},", i + 1)) != std::string::npos ? 1 : 0;
    }
    EXPECT_GE(found, wrong * 9 / 10) << suspects;
    EXPECT_LE(summary["suspects"].get<int>(), wrong * 12 / 10);
  }
};

TEST_F(CleanWithProbabilities, RefusesFilesThatDoNotFit) {
  const std::string command = fmt::format("clean --train {} --out {} --pred-probs ", train, out);
  expect_refused(command + scratch.file("few.csv", "0,1\n.5,.5\n"),
                 {"few.csv: found 1 rows of probabilities, expected 300", "train.csv"});
  expect_refused(command + scratch.file("other.csv", "no,one\n.5,.5\n"),
                 {"other.csv: has no column '0', '1', expected all classes of the training data"});
  expect_refused(
      fmt::format("clean --train {} --trusted {} --out {} --pred-probs {}", train, train, out, probabilities),
      {"--trusted-pred-probs"});
  expect_refused(fmt::format("clean --train {} --out {} --trusted-pred-probs {}", train, out, probabilities),
                 {"--trusted-pred-probs requires"});
}

TEST_F(CleanWithProbabilities, FindsByThemWhatFeaturesDoNotTell) {
  const auto run = run_tool(fmt::format("clean --train {} --out {} --pred-probs {}", train, out, probabilities));
  ASSERT_EQ(run.exit_code, 0) << run.output;
  expect_found();
}

TEST_F(CleanWithProbabilities, TakesThoseOfRowsThatTheTableMarksAsTrusted) {
  const auto run = run_tool(
      fmt::format("clean --train {} --trusted-column checked --out {} --pred-probs {}", marked, out, probabilities));
  ASSERT_EQ(run.exit_code, 0) << run.output;
  expect_found();
}

TEST_F(CleanWithProbabilities, WarnsOfThoseOfAModelThatHasSeenTheLabels) {
  const auto run = run_tool(fmt::format("clean --train {} --out {} --pred-probs {}", train, out, fitted));
  ASSERT_EQ(run.exit_code, 0) << run.output;
  EXPECT_NE(read_file(std::filesystem::path(out) / "report.html").find("probabilities-seem-fitted"), std::string::npos);
}

} // namespace
} // namespace duplex::test
