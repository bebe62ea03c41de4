// `duplex clean` and `duplex predict` as people use them: wrong input first, then files of two
// clouds of points with some labels exchanged.

#include "tool.hpp"

#include "clean/cleaning.hpp"
#include "clean/outcome.hpp"
#include "clean/subsets.hpp"

#include <fmt/format.h>

#include <csignal>
#include <random>
#include <set>
#include <system_error>
#include <unistd.h>
#include <utility>

namespace duplex::test {
namespace {

struct Clouds {
  std::string csv;
  std::set<int> wrong; ///< rows from 1
};

/// Rows "id,a,b,label": class ↔ side of the line a = 0, every `wrong_every`-th label exchanged.
Clouds clouds(int rows, int wrong_every, unsigned seed, const std::array<std::string, 2> &names = {"left", "right"}) {
  std::mt19937_64 generator(seed);
  std::normal_distribution<double> normal;
  Clouds out{"id,a,b,label\n", {}};
  for (int row = 1; row <= rows; ++row) {
    const bool right = row % 2 == 0;
    const bool is_wrong = wrong_every > 0 && row % wrong_every == 0;
    out.csv += fmt::format("r{},{:.4f},{:.4f},{}\n", row, (right ? 3.0 : -3.0) + normal(generator),
                           100.0 + 20.0 * normal(generator), names[right != is_wrong ? 1 : 0]);
    if (is_wrong) {
      out.wrong.insert(row);
    }
  }
  return out;
}

class CleanCommand : public ::testing::Test {
protected:
  ScratchFolder scratch;
  Clouds noisy = clouds(400, 7, 1);
  std::string train = scratch.file("train.csv", noisy.csv);
  std::string trusted = scratch.file("trusted.csv", clouds(40, 0, 2).csv);
  std::string test = scratch.file("test.csv", clouds(100, 0, 3).csv);
  std::string out = (scratch.path() / "out").string();

  [[nodiscard]] std::string command(const std::string &more = "") const {
    return fmt::format("clean --train {} --trusted {} --id id --out {} {}", train, trusted, out, more);
  }
  [[nodiscard]] std::string result(const std::string &file) const {
    return read_file(std::filesystem::path(out) / file);
  }
};

TEST_F(CleanCommand, RefusesToGuessItsInput) {
  expect_refused("clean --out " + out, {"--train FILE is needed", "--demo fashion-mnist"});
  expect_refused(command("--source annotator"), {"train.csv", "unknown source column 'annotator'"});
  expect_refused(command("--label colour"), {"train.csv", "colour"});
  expect_refused(command("--storage float8"), {"--storage", "float8", "float16"});
  expect_refused("clean --demo mnits --out " + out, {"--demo", "mnits", "mnist"});
  expect_refused("clean --demo fashion-mnist --noise-kind pairs --out " + out, {"--noise-kind", "pairs", "pair"});
  expect_refused("clean --demo fashion-mnist --noise 1.5 --out " + out, {"1.5"});
  expect_refused("clean --demo mnist --data-dir /nowhere --out " + out,
                 {"/nowhere", "scripts/mnist.sh", "name the folder"});
}

TEST_F(CleanCommand, RefusesModelsThatItDoesNotKnowAndOptionsThatAreNotTheirs) {
  expect_refused(command("--model mpl"), {"--model", "mpl", "did you mean 'mlp'", "linear"});
  expect_refused(command("--hidden 10"), {"--hidden", "--model"});
  expect_refused(command("--device cuda"), {"--device", "--model"});
  expect_refused(command("--model linear --hidden 10"), {"--hidden", "--model mlp"});
  expect_refused(command("--model linear --device cpu"), {"--device", "--model mlp"});
  expect_refused(command("--model mlp --hidden 0"), {"--hidden", "1", "65536"});
  expect_refused(command("--model mlp --hidden 65537"), {"--hidden", "1", "65536"});
  if (!std::filesystem::exists(std::filesystem::path(DUPLEX_TOOL).replace_filename("duplex-torch"))) {
    expect_refused(command("--model mlp"), {"clean --model mlp needs LibTorch", "built without it"});
  }
  EXPECT_FALSE(std::filesystem::exists(out));
}

TEST_F(CleanCommand, RefusesWrongSolverOptionsBeforeItReads) {
  expect_refused(command("--solver bagdcc"), {"bagdcc", "bagdc"});
  expect_refused(command("--alhpa 2"), {"alhpa", "alpha"});
  expect_refused(command("--alpha -1"), {"alpha = -1", ">= 0"});
  expect_refused(command("--solver nosa"), {"--solver", "weights of sources", "--source COLUMN"});
  EXPECT_FALSE(std::filesystem::exists(std::filesystem::path(out) / "suspects.csv"));
}

TEST_F(CleanCommand, RefusesDataThatDoNotFitEachOther) {
  const auto other = scratch.file("other.csv", "id,a,label\nx,1,left\ny,2,right\n");
  expect_refused("clean --train " + train + " --id id --trusted " + other + " --out " + out, {"other.csv"});
  const auto unknown = scratch.file("unknown.csv", "id,a,b,label\nx,1,2,left\ny,2,3,up\n");
  expect_refused("clean --train " + train + " --id id --trusted " + unknown + " --out " + out,
                 {"unknown.csv", "up", "left"});
  const auto single = scratch.file("single.csv", "id,a,b,label\nx,1,2,left\ny,2,3,left\n");
  expect_refused("clean --train " + single + " --id id --trusted " + single + " --out " + out,
                 {"single.csv", "one class only", "left"});
}

TEST_F(CleanCommand, FindsTheLabelsThatWereExchanged) {
  const auto run = run_tool(command("--test " + test));
  ASSERT_EQ(run.exit_code, 0) << run.output;
  std::istringstream lines(result("suspects.csv"));
  std::string line;
  std::getline(lines, line);
  EXPECT_EQ(line, "row,id,given,suggested,trust,probability");
  std::set<int> found;
  double worst = 0.0;
  while (std::getline(lines, line)) {
    int row = 0;
    char id[32] = {};
    char given[32] = {};
    char suggested[32] = {};
    double trust = 0.0;
    ASSERT_EQ(std::sscanf(line.c_str(), "%d,%31[^,],%31[^,],%31[^,],%lf", &row, id, given, suggested, &trust), 5);
    EXPECT_EQ(std::string(id), fmt::format("r{}", row));
    EXPECT_NE(std::string(given), std::string(suggested));
    EXPECT_GE(trust, worst);
    worst = trust;
    found.insert(row);
  }
  std::size_t hits = 0;
  for (const int row : noisy.wrong) {
    hits += found.count(row);
  }
  EXPECT_GE(hits, noisy.wrong.size() - 3);
  EXPECT_LE(found.size(), noisy.wrong.size() + 3);

  const auto summary = nlohmann::json::parse(result("summary.json"));
  EXPECT_EQ(summary["rows"], 400);
  EXPECT_EQ(summary["suspects"], found.size());
  EXPECT_GE(summary["test"]["accuracy"].get<double>(), 0.98);
  EXPECT_EQ(summary["settings"]["seed"], 0);
  for (const char *key : {"models", "rounds", "pooling", "label_noise", "seconds", "duplex"}) {
    EXPECT_TRUE(summary.contains(key)) << key;
  }
  const std::string weights = result("weights.csv");
  EXPECT_EQ(std::count(weights.begin(), weights.end(), '\n'), 401);
  EXPECT_EQ(result("predictions.csv").rfind("row,id,label,predicted,probability\n", 0), 0U);
  EXPECT_NE(result("report.html").find("Labels that look wrong"), std::string::npos);
}

TEST_F(CleanCommand, AsksForIdsOfTheTrainingRowsAlone) {
  const std::string with_ids = read_file(trusted);
  std::string without;
  std::istringstream lines(with_ids);
  for (std::string line; std::getline(lines, line);) {
    without += line.substr(line.find(',') + 1) + "\n";
  }
  ASSERT_EQ(with_ids.rfind("id,", 0), 0U);
  ASSERT_EQ(run_tool(command()).exit_code, 0);
  const std::string suspects = result("suspects.csv");
  std::ofstream(trusted) << without;
  const auto done = run_tool(command());
  ASSERT_EQ(done.exit_code, 0) << done.output;
  EXPECT_EQ(result("suspects.csv"), suspects);
}

TEST_F(CleanCommand, CallsRowsOfLessTrustThanAGivenThresholdSuspects) {
  expect_refused(command("--threshold 1.5"), {"--threshold = 1.5", "<= 1"});
  ASSERT_EQ(run_tool(command("--threshold 0.001")).exit_code, 0);
  const auto few = nlohmann::json::parse(result("summary.json"));
  ASSERT_EQ(run_tool(command("--threshold 1")).exit_code, 0);
  const auto many = nlohmann::json::parse(result("summary.json"));
  EXPECT_LT(few["suspects"].get<int>(), many["suspects"].get<int>());
  EXPECT_EQ(many["suspects_below_trust"], 1.0);
  EXPECT_EQ(many["settings"]["threshold"], 1.0);
}

TEST_F(CleanCommand, GivesTheSameBitsForTheSameSeed) {
  ASSERT_EQ(run_tool(command("--seed 3")).exit_code, 0);
  const std::string first = result("weights.csv") + result("model.npy");
  ASSERT_EQ(run_tool(command("--seed 3")).exit_code, 0);
  EXPECT_EQ(result("weights.csv") + result("model.npy"), first);
}

TEST_F(CleanCommand, TakesEveryModelAndStorage) {
  for (const char *options :
       {"--model linear", "--model kernel", "--model auto --rounds 0", "--storage float16", "--threads 1"}) {
    const auto run = run_tool(command(options));
    ASSERT_EQ(run.exit_code, 0) << options << "\n" << run.output;
    const int suspects = nlohmann::json::parse(result("summary.json"))["suspects"].get<int>();
    EXPECT_NEAR(suspects, 57, 4) << options;
  }
}

TEST_F(CleanCommand, NeedsNoTrustedRowsAndSaysSo) {
  const auto run = run_tool(fmt::format("clean --train {} --id id --out {} --test {}", train, out, test));
  ASSERT_EQ(run.exit_code, 0) << run.output;
  EXPECT_NE(run.output.find("No row is trusted"), std::string::npos) << run.output;
  const auto summary = nlohmann::json::parse(result("summary.json"));
  EXPECT_NEAR(summary["suspects"].get<int>(), 57, 4);
  EXPECT_GE(summary["test"]["accuracy"].get<double>(), 0.98);
  EXPECT_FALSE(summary["test"].contains("trusted_only_accuracy"));
  ASSERT_EQ(summary["warnings"].size(), 1U) << summary["warnings"]; // and none that the features tell nothing
  EXPECT_EQ(summary["warnings"][0]["code"], "no-trusted-rows");
}

TEST_F(CleanCommand, TakesSparseFiles) {
  const auto words = [](int rows, int wrong_every) { // each class has words of its own among two hundred
    std::string text;
    for (int i = 0; i < rows; ++i) {
      const int k = i % 2;
      const bool is_wrong = wrong_every > 0 && i % wrong_every == 0;
      text += fmt::format("{} {}:1 {}:1 {}:1\n", is_wrong ? 1 - k : k, 1 + k * 40 + i % 7, 10 + k * 40 + i % 11,
                          100 + i % 100);
    }
    return text;
  };
  train = scratch.file("words.libsvm", words(400, 7));
  trusted = scratch.file("words_trusted.libsvm", words(40, 0));
  const auto run = run_tool(fmt::format("clean --train {} --trusted {} --out {}", train, trusted, out));
  ASSERT_EQ(run.exit_code, 0) << run.output;
  EXPECT_NEAR(nlohmann::json::parse(result("summary.json"))["suspects"].get<int>(), 58, 4);
  const auto told = run_tool(fmt::format("predict --model {} --data {}", out, trusted));
  EXPECT_EQ(told.exit_code, 0) << told.output;
}

TEST_F(CleanCommand, IsNotLedAstrayByValuesThatAreFarOut) {
  std::string far = noisy.csv;
  const auto row = far.find("r11,");
  const auto cell = far.find(',', row + 4) + 1;
  far.replace(cell, far.find(',', cell) - cell, "3e37");
  train = scratch.file("far.csv", far);
  ASSERT_EQ(run_tool(command("--test " + test)).exit_code, 0);
  const auto summary = nlohmann::json::parse(result("summary.json"));
  EXPECT_NEAR(summary["suspects"].get<int>(), 57, 4);
  EXPECT_GE(summary["test"]["accuracy"].get<double>(), 0.98);
}

TEST_F(CleanCommand, ShowsLabelsAndIdsMadeOfMarkupOrFormulasAsText) {
  const std::string markup = "<script>alert(1)</script>";
  auto odd = clouds(120, 6, 1, {markup, "=1+1"});
  odd.csv.replace(odd.csv.find("r6,"), 3, "=cmd(),");
  train = scratch.file("odd.csv", odd.csv);
  trusted = scratch.file("odd_trusted.csv", clouds(30, 0, 2, {markup, "=1+1"}).csv);
  ASSERT_EQ(run_tool(command()).exit_code, 0);
  EXPECT_EQ(result("report.html").find(markup), std::string::npos);
  EXPECT_NE(result("suspects.csv").find("'=1+1"), std::string::npos);
  EXPECT_EQ(result("suspects.csv").find(",=1+1"), std::string::npos);
  EXPECT_NE(result("suspects.csv").find("'=cmd()"), std::string::npos);
}

TEST_F(CleanCommand, RefusesOptionsThatWouldDoNothing) {
  expect_refused(command("--samples 100"), {"--samples", "--demo"});
  expect_refused(command("--noise 0.2"), {"--noise", "--demo"});
  expect_refused(command("--test-labels y.npy"), {"--test-labels", "--test"});
  expect_refused(command("--demo mnist"), {"--demo", "--train"});
  expect_refused(command("--seed -1"), {"--seed"});
  expect_refused("clean --demo fashion-mnist --trusted-samples 0 --out " + out, {"--trusted-samples", "1"});
}

TEST_F(CleanCommand, RefusesALabelColumnThatIsNoLabel) {
  std::string numbers = "a,b\n";
  for (int i = 0; i < 100; ++i) {
    numbers += fmt::format("{},{}\n", 0.5 * i, i % 2);
  }
  const auto file = scratch.file("numbers.csv", numbers);
  expect_refused(fmt::format("clean --train {0} --trusted {0} --label a --out {1}", file, out),
                 {"numbers.csv", "100 different labels in 100 rows", "--label"});
}

TEST_F(CleanCommand, StaysSteadyWhereFewClassesHoldMostRows) {
  const auto skewed = [](int rows, int wrong_every, unsigned seed) {
    std::mt19937_64 generator(seed);
    std::normal_distribution<double> normal;
    std::string csv = "a,b,c,label\n";
    for (int i = 0; i < rows; ++i) {
      const int k = i % 20 < 9 ? 0 : i % 20 < 18 ? 1 : 2 + (i / 20) % 30;
      const int given = wrong_every > 0 && i % wrong_every == 0 ? (k + 1) % 32 : k;
      const std::array<int, 3> place{k % 4, k / 4 % 4, k / 16};
      csv += fmt::format("{:.4f},{:.4f},{:.4f},k{}\n", 2.0 * place[0] + normal(generator),
                         2.0 * place[1] + normal(generator), 2.0 * place[2] + normal(generator), given);
    }
    return csv;
  };
  train = scratch.file("skewed.csv", skewed(1200, 5, 1));
  trusted = scratch.file("skewed_trusted.csv", skewed(640, 0, 2));
  const auto run = run_tool(fmt::format("clean --train {} --trusted {} --out {}", train, trusted, out));
  ASSERT_EQ(run.exit_code, 0) << run.output;
  const auto summary = nlohmann::json::parse(result("summary.json"));
  EXPECT_GE(summary["suspects"].get<int>(), 120);
  EXPECT_LE(summary["suspects"].get<int>(), 480);
}

TEST_F(CleanCommand, BelievesTrustedRowsWhereAllLabelsAreWrongBesideABoundary) {
  // Every row with 0 < a < .35 is called left: a model of the given labels sees nothing wrong with that.
  const auto square = [](int rows, double strip, unsigned seed) {
    std::mt19937_64 generator(seed);
    std::uniform_real_distribution<double> anywhere(-1.0, 1.0);
    Clouds made{"id,a,b,label\n", {}};
    for (int row = 1; row <= rows; ++row) {
      const double a = anywhere(generator);
      made.csv += fmt::format("r{},{:.4f},{:.4f},{}\n", row, a, anywhere(generator), a > strip ? "right" : "left");
      if (a > 0.0 && a <= strip) {
        made.wrong.insert(row);
      }
    }
    return made;
  };
  noisy = square(900, 0.35, 1);
  train = scratch.file("square.csv", noisy.csv);
  trusted = scratch.file("square_trusted.csv", square(100, 0.0, 2).csv);
  for (const char *options : {"", "--rounds 0"}) { // by rounds that begin with the trusted rows, and by their model
    ASSERT_EQ(run_tool(command(options)).exit_code, 0);
    const auto summary = nlohmann::json::parse(result("summary.json"));
    EXPECT_TRUE(summary["began_with_trusted_model"].get<bool>()) << options;
    EXPECT_NEAR(summary["suspects"].get<double>(), static_cast<double>(noisy.wrong.size()), 40.0) << options;
  }
}

TEST_F(CleanCommand, SaysWhereFeaturesTellNothing) {
  std::string flat = "id,a,b,label\n";
  for (int i = 0; i < 60; ++i) {
    flat += fmt::format("r{},1,{},{}\n", i, i % 2 == 0 ? "0" : "1e-41", i % 4 < 2 ? "left" : "right");
  }
  train = trusted = scratch.file("flat.csv", flat);
  const auto run = run_tool(command());
  ASSERT_EQ(run.exit_code, 0) << run.output;
  EXPECT_NE(run.output.find("0 of 60 labels look wrong"), std::string::npos) << run.output;
  EXPECT_NE(run.output.find("next to nothing"), std::string::npos) << run.output;
}

TEST_F(CleanCommand, ShowsFeaturesInTheUnitsOfTheFile) {
  ASSERT_EQ(run_tool(command()).exit_code, 0);
  std::istringstream suspects(result("suspects.csv"));
  std::string line;
  std::getline(suspects, line);
  std::getline(suspects, line);
  const auto row = std::stoi(line);
  std::istringstream file(noisy.csv);
  for (int i = 0; i <= row; ++i) {
    std::getline(file, line);
  }
  double a = 0.0;
  double b = 0.0;
  ASSERT_EQ(std::sscanf(line.c_str(), "%*[^,],%lf,%lf", &a, &b), 2);
  const std::string page = result("report.html");
  const auto at = page.find(fmt::format("\"row\":{},", row));
  const auto begin = page.find("\"features\":[", page.rfind('{', at));
  ASSERT_NE(begin, std::string::npos);
  double shown_a = 0.0;
  double shown_b = 0.0;
  ASSERT_EQ(std::sscanf(page.c_str() + begin, "\"features\":[%lf,%lf", &shown_a, &shown_b), 2);
  EXPECT_NEAR(shown_a, a, 1e-3);
  EXPECT_NEAR(shown_b, b, 1e-2);
}

TEST_F(CleanCommand, LeavesNoFileOfAnEarlierRunBehind) {
  ASSERT_EQ(run_tool(command("--test " + test)).exit_code, 0);
  ASSERT_EQ(run_tool(command()).exit_code, 0);
  EXPECT_FALSE(std::filesystem::exists(std::filesystem::path(out) / "predictions.csv"));
}

TEST_F(CleanCommand, WorksWithVeryLittle) {
  train = scratch.file("tiny.csv", clouds(10, 5, 1).csv);
  trusted = scratch.file("tiny_trusted.csv", clouds(2, 0, 2).csv);
  const auto run = run_tool(command());
  EXPECT_EQ(run.exit_code, 0) << run.output;
}

TEST_F(CleanCommand, AdmitsAClassThatNoTrustedRowHas) {
  std::string three = clouds(300, 0, 1).csv;
  std::mt19937_64 generator(5);
  std::normal_distribution<double> normal;
  for (int i = 0; i < 100; ++i) {
    three += fmt::format("n{},{:.4f},{:.4f},far\n", i, normal(generator), 300.0 + 20.0 * normal(generator));
  }
  train = scratch.file("three.csv", three);
  ASSERT_EQ(run_tool(command()).exit_code, 0);
  const auto summary = nlohmann::json::parse(result("summary.json"));
  EXPECT_LE(summary["suspects"].get<int>(), 20) << "every label is right, those of the new class too";
}

TEST_F(CleanCommand, TheModelPredictsWhatItPredictedThen) {
  ASSERT_EQ(run_tool(command("--test " + test)).exit_code, 0);
  const auto file = (scratch.path() / "again.csv").string();
  ASSERT_EQ(run_tool("predict --model " + out + " --data " + test + " --out " + file).exit_code, 0);
  EXPECT_EQ(read_file(file), result("predictions.csv")) << "the model knows the columns of its training file";
  for (const std::string name : {"manifest.json", "suspects.csv"}) {
    expect_refused("predict --model " + out + " --data " + test + " --out " + out + "/" + name,
                   {"--out", "a file of the run in"});
  }
  const auto run = run_tool("predict --model " + out + " --data " + test + " --id id --label label --out " + file);
  ASSERT_EQ(run.exit_code, 0) << run.output;
  EXPECT_EQ(read_file(file), result("predictions.csv"));
  EXPECT_NE(run.output.find("accuracy on 100 rows"), std::string::npos);
}

TEST_F(CleanCommand, PredictsRowsWhoseLabelsTheModelDoesNotKnow) {
  ASSERT_EQ(run_tool(command()).exit_code, 0);
  const auto other = scratch.file("other.csv", "id,a,b,label\nx,1,100,unknown\ny,-1,90,left\n");
  const auto run = run_tool("predict --model " + out + " --data " + other);
  EXPECT_EQ(run.exit_code, 0) << run.output;
  EXPECT_NE(run.output.find("no accuracy"), std::string::npos);
  const auto file = (scratch.path() / "none.csv").string();
  expect_refused("predict --model " + out + " --data " + other + " --label label --out " + file, {"unknown", "left"});
  EXPECT_FALSE(std::filesystem::exists(file));
}

TEST_F(CleanCommand, PredictRefusesWhatDoesNotFitTheModel) {
  ASSERT_EQ(run_tool(command()).exit_code, 0);
  expect_refused("predict --model /nowhere --data " + test, {"/nowhere/model.json", "cannot be read"});
  const auto narrow = scratch.file("narrow.csv", "a\n1\n2\n");
  expect_refused("predict --model " + out + " --data " + narrow, {"narrow.csv", "has no column 'b'", "columns: a"});
  const auto renamed = scratch.file("renamed.csv", "a,c\n1,2\n2,3\n");
  expect_refused("predict --model " + out + " --data " + renamed,
                 {"renamed.csv", "has no column 'b'", "columns: a, c"});
}

/// Runs the tool in a folder and sends the signal once it has written `checkpoint` so often; begun anew where it was
/// done before that was seen, as it may be on a machine that is quick or busy. False where that is always so, or where
/// it ended by itself or otherwise than by the signal.
bool end_with_checkpoints(int signal, int checkpoints, const std::vector<std::string> &arguments,
                          const std::filesystem::path &folder, const std::filesystem::path &out) {
  const auto checkpoint = out / "checkpoint.dpx";
  for (int attempt = 0; attempt < 20; ++attempt) {
    std::filesystem::remove_all(out);
    RunningTool tool(arguments, folder / "said", folder);
    int seen = 0;
    std::filesystem::file_time_type last;
    const bool is_at_work = tool.wait_until([&] {
      std::error_code is_not_there;
      const auto written = std::filesystem::last_write_time(checkpoint, is_not_there);
      seen += !is_not_there && std::exchange(last, written) != written ? 1 : 0;
      return seen >= checkpoints;
    });
    const int code = tool.end(signal);
    if (code != 0) {
      const bool is_by_signal = signal == SIGKILL
                                    ? code == -1
                                    : code == 1 && read_file(folder / "said").find("interrupted") != std::string::npos;
      return is_at_work && is_by_signal && std::filesystem::exists(checkpoint);
    }
  }
  return false;
}

TEST_F(CleanCommand, LeavesNothingHalfWrittenOnCtrlC) {
  train = scratch.file("large.csv", clouds(6000, 7, 1).csv);
  ASSERT_TRUE(end_with_checkpoints(
      SIGINT, 1, {"clean", "--train", train, "--trusted", trusted, "--id", "id", "--save-every", "0", "--out", out},
      scratch.path(), out));
  EXPECT_FALSE(std::filesystem::exists(std::filesystem::path(out) / "suspects.csv"));
}

TEST_F(CleanCommand, LeavesACheckpointOnlyWhereItWasNotDone) {
  ASSERT_EQ(run_tool(command("--save-every 0")).exit_code, 0);
  EXPECT_FALSE(std::filesystem::exists(std::filesystem::path(out) / "checkpoint.dpx"));
  expect_refused("clean --resume " + out, {"nothing to go on from", "has finished", "checkpoint.dpx"});
  expect_refused("clean --resume " + out + " --train " + train, {"--train cannot change"});
  expect_refused("clean --resume " + out + " --threads 3", {"--threads cannot change", "--json"});
  expect_refused("clean --resume " + out + " --alpha 3", {"--alpha cannot change"});
  ASSERT_EQ(run_tool("solve --problem ridge --solver bagdc --beta 0.2 --alpha 1 --iterations 5 --out " + out).exit_code,
            0);
  expect_refused("clean --resume " + out, {"its run is of duplex solve, expected duplex clean"});
}

TEST_F(CleanCommand, GoesOnAfterCtrlCFromAnotherFolder) {
  (void)scratch.file("large.csv", clouds(6000, 7, 1).csv);
  const auto given = [](const std::string &folder) {
    return std::vector<std::string>{"clean", "--train",      "large.csv", "--trusted", "trusted.csv", "--id",
                                    "id",    "--save-every", "0",         "--out",     folder};
  };
  ASSERT_EQ(RunningTool(given("whole"), "/dev/null", scratch.path()).end(0), 0);
  for (const int checkpoints : {1, 2, 5}) {
    ASSERT_TRUE(end_with_checkpoints(SIGINT, checkpoints, given("out"), scratch.path(), out));
    const auto second = run_tool("clean --json --resume " + out);
    ASSERT_EQ(second.exit_code, 0) << second.output;
    EXPECT_TRUE(nlohmann::json::accept(second.output)) << second.output;
    EXPECT_EQ(result("suspects.csv"), read_file(scratch.path() / "whole" / "suspects.csv")) << checkpoints;
    EXPECT_EQ(result("model.npy"), read_file(scratch.path() / "whole" / "model.npy")) << checkpoints;
  }
}

TEST_F(CleanCommand, DoesNotGoOnWithFilesThatWereChanged) {
  const auto large = clouds(6000, 7, 1).csv;
  train = scratch.file("large.csv", large);
  ASSERT_TRUE(end_with_checkpoints(SIGKILL, 1,
                                   {"clean", "--train", train, "--trusted", trusted, "--test", test, "--id", "id",
                                    "--save-every", "0", "--out", out},
                                   scratch.path(), out));
  const std::string resume = "clean --resume " + out;
  (void)scratch.file("large.csv", "id,a,c,label" + large.substr(large.find('\n'))); // a feature has another name
  expect_refused(resume, {"large.csv", "has other content"});
  (void)scratch.file("large.csv", large);
  std::filesystem::remove(test);
  expect_refused(resume, {"test.csv", "is not there any more"});
  (void)scratch.file("test.csv", clouds(100, 0, 3).csv);
  const auto result = run_tool(resume);
  EXPECT_EQ(result.exit_code, 0) << result.output;
}

TEST(CleanDemo, MeetsItsQualityOnFashionMnist) {
  const ScratchFolder scratch;
  const auto run = run_tool("clean --demo fashion-mnist --noise-kind always-wrong --samples 2000 --trusted-samples 500 "
                            "--json --out " +
                            scratch.path().string());
  ASSERT_EQ(run.exit_code, 0) << run.output;
  const auto summary = nlohmann::json::parse(run.output);
  EXPECT_GE(summary["quality"]["f1"].get<double>(), 0.90);
  EXPECT_GE(summary["quality"]["average_precision"].get<double>(), 0.96);
  EXPECT_GE(summary["test"]["accuracy"].get<double>(), summary["test"]["trusted_only_accuracy"].get<double>());
}

TEST(QualityOf, ARankingIsByDefinition) {
  Eigen::VectorXf trust(4);
  trust << 0.1F, 0.9F, 0.2F, 0.8F;
  const auto quality = clean::quality_of(trust, 0.5F, {true, false, false, true});
  EXPECT_DOUBLE_EQ(quality.f1, 0.5);
  EXPECT_DOUBLE_EQ(quality.precision, 0.5);
  EXPECT_DOUBLE_EQ(quality.recall, 0.5);
  EXPECT_DOUBLE_EQ(quality.average_precision, (1.0 + 2.0 / 3.0) / 2.0);
}

TEST(InterleavedOrder, SpreadsEveryClassEvenly) {
  std::vector<std::uint32_t> labels(90, 0);
  labels.insert(labels.end(), 10, 1);
  const auto order = clean::interleaved_order(labels, 2, 0);
  ASSERT_EQ(order.size(), 100U);
  EXPECT_EQ(std::set<Index>(order.begin(), order.end()).size(), 100U);
  const auto in_half = std::count_if(order.begin(), order.begin() + 50, [&](Index row) { return row >= 90; });
  EXPECT_GE(in_half, 4);
  EXPECT_LE(in_half, 6);
}

} // namespace
} // namespace duplex::test
