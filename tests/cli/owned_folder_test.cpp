// What users see of folders that runs own: runs at once, kills, changed inputs, forged checkpoints, links, full disks.

#include "checkpoint/checkpoint.hpp"
#include "checkpoint/run_folder.hpp"
#include "support.hpp"
#include "tool.hpp"

#include <fmt/format.h>

#include <sys/stat.h>

#include <limits>

namespace duplex::test {
namespace {

namespace fs = std::filesystem;

std::string manifest_state(const fs::path &folder) { return read_json(folder / "manifest.json")["state"]; }

/// A run of some thousand years, which saves itself when it is told to.
std::vector<std::string> endless(const std::string &out, const std::string &save_every) {
  return {"solve",         "--problem", "counter-example", "--solver",     "bagdc",   "--beta", "0.2",
          "--n",           "50",        "--alpha",         "0.1",          "--out",   out,      "--iterations",
          "1000000000000", "--every",   "1000000000",      "--save-every", save_every};
}

class OwnedFolder : public ::testing::Test {
protected:
  ScratchFolder scratch;
  fs::path folder = scratch.path() / "out";
  std::string out = folder.string();

  /// A short run that ends well.
  void solve(const std::string &more = "") const {
    const auto result =
        run_tool("solve --problem ridge --solver bagdc --beta 0.2 --alpha 1 --iterations 7 --out " + out + " " + more);
    ASSERT_EQ(result.exit_code, 0) << result.output;
  }
  /// The checkpoint with another entry, and a right checksum.
  void forge(const std::string &entry, SavedState::Value value) const {
    SavedState state = checkpoint::decoded(read_file(folder / "checkpoint.dpx"), "checkpoint");
    EXPECT_TRUE(state.has(entry)) << entry;
    state.put(entry, std::move(value));
    std::ofstream(folder / "checkpoint.dpx", std::ios::binary) << checkpoint::encoded(state);
    fs::remove(folder / "checkpoint.previous.dpx");
  }
};

TEST_F(OwnedFolder, IsRefusedToASecondRunWhileTheFirstLives) {
  RunningTool first(endless(out, "1000"));
  ASSERT_TRUE(first.wait_until([&] { return fs::exists(folder / "manifest.json"); }));
  const std::string process = fmt::format("is in use by process {}", first.process());
  expect_refused("solve --problem ridge --out " + out, {out.c_str(), process.c_str()});
  expect_refused("solve --resume " + out, {out.c_str(), process.c_str()});
  expect_refused("race --problem ridge --solvers nosa --out " + out, {process.c_str()});
  expect_refused("reproduce fig4 --out " + out, {process.c_str()});
  expect_refused("clean --demo fashion-mnist --out " + out, {process.c_str()});
  EXPECT_EQ(first.end(SIGKILL), -1);
  solve();
}

TEST_F(OwnedFolder, DoesNotGoOnWithAnEarlierRunInThePlaceOfOneThatWasKilledAtOnce) {
  solve();
  const auto id = read_json(folder / "manifest.json")["id"];
  const auto solution = read_file(folder / "solution.csv");
  {
    RunningTool second(endless(out, "1000"));
    ASSERT_TRUE(second.wait_until([&] { return read_json(folder / "manifest.json")["id"] != id; }));
    EXPECT_EQ(second.end(SIGKILL), -1);
  }
  EXPECT_EQ(read_file(folder / "solution.csv"), solution) << "the earlier run's files stay whole";
  expect_refused("solve --resume " + out, {"ended before its first save", "duplex solve --problem counter-example"});
  EXPECT_EQ(manifest_state(folder), "running");
}

TEST_F(OwnedFolder, HoldsNothingOfAnEarlierRunBesideAFailedOne) {
  solve();
  (void)std::ofstream(folder / "mine.txt");
  const auto failed =
      run_tool("solve --problem counter-example --solver bagdc --beta 0.2 --alpha 100 --recoveries 0 --out " + out);
  EXPECT_EQ(failed.exit_code, 1) << failed.output;
  EXPECT_EQ(read_json(folder / "solve.json")["series"][0]["status"], "diverged");
  EXPECT_EQ(manifest_state(folder), "failed");
  for (const char *name : {"solution.csv", "checkpoint.dpx", "checkpoint.previous.dpx"}) {
    EXPECT_FALSE(fs::exists(folder / name)) << name;
  }
  EXPECT_TRUE(fs::exists(folder / "mine.txt"));
}

TEST_F(OwnedFolder, IsAsItWasWhereARunIsRefused) {
  solve();
  const auto before = read_file(folder / "manifest.json");
  expect_refused("solve --problem ridge --solver bagdc --beta 0.2 --alpha -1 --out " + out, {"alpha"});
  expect_refused("clean --train /nowhere.csv --trusted /nowhere.csv --out " + out, {"/nowhere.csv"});
  EXPECT_EQ(read_file(folder / "manifest.json"), before);
  const auto again = run_tool("solve --resume " + out + " --iterations 9");
  EXPECT_EQ(again.exit_code, 0) << again.output;
}

TEST_F(OwnedFolder, LosesWhatAKilledRunHadBegunToWrite) {
  fs::create_directory(folder);
  (void)std::ofstream(folder / ".duplex-2147483646-3.tmp");
  solve();
  EXPECT_FALSE(fs::exists(folder / ".duplex-2147483646-3.tmp"));
}

TEST_F(OwnedFolder, WritesThroughNoLink) {
  fs::create_directory(folder);
  const auto victim = scratch.file("victim", "untouched");
  for (const char *name : {"solve.json", "solve.csv", "solution.csv", "checkpoint.dpx", "manifest.json"}) {
    fs::create_symlink(victim, folder / name);
  }
  solve();
  EXPECT_EQ(read_file(victim), "untouched");
  EXPECT_TRUE(fs::is_regular_file(fs::symlink_status(folder / "solution.csv")));
}

TEST_F(OwnedFolder, OutlivesCheckpointsThatCannotBeWritten) {
  fs::create_directories(folder / "checkpoint.next.dpx" / "in the way");
  const auto result =
      run_tool("solve --problem counter-example --solver bagdc --n 50 --matrix diagonal --alpha 0.1 --beta 0.1 "
               "--iterations 2000 --every 2000 --save-every 0.000001 --out " +
               out);
  EXPECT_EQ(result.exit_code, 1) << result.output;
  const auto first = result.output.find("no checkpoint: cannot write");
  ASSERT_NE(first, std::string::npos) << result.output;
  EXPECT_EQ(result.output.find("no checkpoint", first + 1), std::string::npos) << "told once\n" << result.output;
  EXPECT_EQ(read_json(folder / "solve.json")["series"][0]["iterations"], 2000) << "the run went on";
  EXPECT_TRUE(fs::exists(folder / "solution.csv"));
}

TEST_F(OwnedFolder, ListsWhatWasReadAndWrittenWithItsContent) {
  const auto matrix = scratch.file("a.txt", "2 1\n1 2\n");
  ASSERT_EQ(
      run_tool("solve --problem counter-example --solver bagdc --beta 0.2 --alpha 0.1 --iterations 3 --matrix-file " +
               matrix + " --out " + out)
          .exit_code,
      0);
  const auto manifest = read_json(folder / "manifest.json");
  EXPECT_EQ(manifest["state"], "finished");
  EXPECT_EQ(manifest["command"], "solve");
  EXPECT_EQ(manifest["arguments"][0], "solve");
  EXPECT_EQ(manifest["inputs"][0]["path"], matrix);
  EXPECT_EQ(manifest["inputs"][0]["content"]["bytes"], 8);
  ASSERT_EQ(manifest["results"].size(), 4U);
  for (const auto &result : manifest["results"]) {
    EXPECT_EQ(result["content"]["bytes"], fs::file_size(folder / result["name"].get<std::string>()));
  }
}

TEST_F(OwnedFolder, RefusesToGoOnWithAnotherMatrix) {
  const auto matrix = scratch.file("a.txt", "2 1\n1 2\n");
  ASSERT_EQ(
      run_tool("solve --problem counter-example --solver bagdc --beta 0.2 --alpha 0.1 --iterations 3 --matrix-file " +
               matrix + " --out " + out)
          .exit_code,
      0);
  (void)scratch.file("a.txt", "2 1\n1 3\n");
  expect_refused("solve --resume " + out, {"a.txt", "has other content in its 8 bytes", "begin a new run"});
  fs::remove(matrix);
  expect_refused("solve --resume " + out, {"a.txt", "is not there any more"});
}

TEST_F(OwnedFolder, LooksRelativePathsUpWhereTheRunWasStarted) {
  const ScratchFolder elsewhere;
  (void)scratch.file("a.txt", "2 1\n1 2\n");
  (void)elsewhere.file("a.txt", "5 1\n1 5\n");
  const std::string tool = DUPLEX_TOOL;
  const std::string cd = "cd " + scratch.path().string() + " && ";
  const std::string given =
      " solve --problem counter-example --solver bagdc --beta 0.2 --alpha 0.1 --matrix-file a.txt --iterations ";
  ASSERT_EQ(run_command(cd + tool + given + "30 --out whole").exit_code, 0);
  ASSERT_EQ(run_command(cd + tool + given + "10 --out out").exit_code, 0);
  const auto second =
      run_command("cd " + elsewhere.path().string() + " && " + tool + " solve --iterations 30 --resume " + out);
  EXPECT_EQ(second.exit_code, 0) << second.output;
  EXPECT_EQ(read_file(folder / "solution.csv"), read_file(scratch.path() / "whole" / "solution.csv"));
}

TEST_F(OwnedFolder, WritesNoTraceThatOnlyTheCheckpointAsksForOutsideOfIt) {
  const auto trace = scratch.path() / "my trace.csv";
  solve("--trace '" + trace.string() + "'");
  (void)scratch.file("my trace.csv", "not a trace any more");
  const auto without = run_tool("solve --iterations 9 --resume " + out);
  EXPECT_EQ(without.exit_code, 0) << without.output;
  EXPECT_CONTAINS(without.output, "is no plain file in its folder");
  EXPECT_CONTAINS(without.output, "--trace '" + trace.string() + "' goes on with it");
  EXPECT_EQ(read_file(trace), "not a trace any more");
  expect_refused("solve --iterations 11 --resume " + out + " --trace '" + trace.string() + "'",
                 {"is no trace of Duplex"});
  fs::remove(trace);
  ASSERT_EQ(run_tool("solve --iterations 11 --resume " + out + " --trace '" + trace.string() + "'").exit_code, 0);
  const auto table = read_file(trace);
  EXPECT_EQ(std::count(table.begin(), table.end(), '\n'), 12) << table;
  const auto victim = scratch.file("victim.csv", "untouched");
  fs::create_symlink(victim, folder / "link.csv");
  forge("told trace", (folder / "link.csv").string());
  EXPECT_CONTAINS(run_tool("solve --iterations 12 --resume " + out).output, "is no plain file in its folder");
  EXPECT_EQ(read_file(victim), "untouched");
}

TEST_F(OwnedFolder, GoesOnWithATraceWhereTheCheckpointKnowsIt) {
  const auto trace = folder / "t.csv";
  solve("--trace " + trace.string());
  const auto before = read_file(trace);
  { std::ofstream(trace, std::ios::app) << "a line of a run that was killed after its save\n"; }
  ASSERT_EQ(run_tool("solve --iterations 9 --resume " + out).exit_code, 0);
  auto after = read_file(trace);
  EXPECT_EQ(after.rfind(before, 0), 0U) << "what was there stays, byte by byte\n" << after;
  EXPECT_EQ(std::count(after.begin(), after.end(), '\n'), 10) << after;
  (void)std::ofstream(trace); // emptied by somebody
  ASSERT_EQ(run_tool("solve --iterations 11 --resume " + out).exit_code, 0);
  after = read_file(trace);
  EXPECT_EQ(std::count(after.begin(), after.end(), '\n'), 12) << "written anew from what the run remembers\n" << after;
}

TEST_F(OwnedFolder, RefusesForgedCheckpointsWhoseChecksumIsRight) {
  constexpr auto most = std::numeric_limits<std::int64_t>::max();
  const double no_number = std::numeric_limits<double>::quiet_NaN();
  const auto expect_forged = [&](const std::string &entry, SavedState::Value value, const char *part) {
    fs::remove_all(folder);
    solve();
    forge(entry, std::move(value));
    expect_refused("solve --iterations 20 --resume " + out, {part});
  };
  expect_forged("iterations", SavedState::Integers{-3}, "'iterations'");
  expect_forged("iterations", SavedState::Integers{most}, "'iterations'");
  expect_forged("counters.values", SavedState::Integers{most}, "'counters.values'");
  expect_forged("seconds", SavedState::Doubles{no_number}, "the time of the saved state is nan");
  expect_forged("ended", SavedState::Integers{99}, "'ended' is 99");
  expect_forged("x", SavedState::Doubles(3, 0.0), "'x'");
  expect_forged("trace", SavedState::Doubles(11, no_number), "an iteration in the trace of the saved state is nan");
  expect_forged("told every", SavedState::Integers{0}, "every");
  expect_forged("told every", SavedState::Integers{-1}, "'told every'");
  expect_forged("told held-out patience", SavedState::Integers{-5}, "'told held-out patience'");
  expect_forged("told problem", std::string("rigde"), "unknown problem 'rigde'");
  expect_forged("told more", std::string("--matrix-file\0/etc/passwd", 25), "matrix-file");
  expect_forged("told metrics", SavedState::Integers{1}, "'told metrics'");
  expect_forged("run id", std::string("another"), "is of an earlier run");
}

TEST_F(OwnedFolder, RefusesAManifestThatIsDeeperThanAnyOfItsOwn) {
  solve();
  std::ofstream(folder / "manifest.json")
      << "{\"checksum\": \"\", \"a\": " << std::string(400000, '[') << std::string(400000, ']') << "}";
  expect_refused("solve --resume " + out, {"manifest.json", "deeper than"});
}

TEST_F(OwnedFolder, IsNotWrittenToByARunWhoseOwnWasMovedAway) {
  RunningTool tool({"solve", "--solver", "bagdc", "--beta", "0.2", "--problem", "ridge", "--alpha", "0.1",
                    "--iterations", "1000000000", "--save-every", "0.01", "--out", out});
  ASSERT_TRUE(tool.wait_until([&] { return fs::exists(folder / "checkpoint.dpx"); }));
  fs::rename(folder, scratch.path() / "moved");
  ASSERT_EQ(run_tool("solve --problem ridge --solver bagdc --beta 0.2 --alpha 1 --iterations 5 --out " + out).exit_code,
            0);
  const std::string solution = read_file(folder / "solution.csv");
  EXPECT_EQ(tool.end(SIGTERM), 1);
  EXPECT_EQ(read_file(folder / "solution.csv"), solution);
  EXPECT_EQ(manifest_state(folder), "finished");
}

TEST_F(OwnedFolder, PutsAsideWhatIsOfNoRun) {
  fs::create_directories(folder);
  std::ofstream(folder / "solution.csv") << "mine\n";
  const auto result = run_tool("solve --problem ridge --solver bagdc --beta 0.2 --alpha 1 --iterations 5 --out " + out);
  EXPECT_EQ(result.exit_code, 0) << result.output;
  EXPECT_CONTAINS(result.output, "is of no run of Duplex: it is 'solution.csv.before-");
  int kept = 0;
  for (const auto &entry : fs::directory_iterator(folder)) {
    kept += entry.path().filename().string().starts_with("solution.csv.before-") && read_file(entry.path()) == "mine\n";
  }
  EXPECT_EQ(kept, 1);
}

TEST_F(OwnedFolder, KeepsAnEarlierRunWhileTheNextOneIsBuilt) {
  solve();
  RunningTool tool({"solve", "--problem", "quadratic", "--n", "2500", "--m", "2500", "--out", out});
  ASSERT_TRUE(
      tool.wait_until([&] { return read_file(folder / ".duplex.lock") == std::to_string(tool.process()) + "\n"; }));
  EXPECT_EQ(tool.end(SIGINT), -1) << "ended at once";
  EXPECT_EQ(run_tool("solve --iterations 20 --resume " + out).exit_code, 0);
}

TEST_F(OwnedFolder, IsNotOverwrittenByATraceOfTheSameNameAsAnInput) {
  const std::string matrix = scratch.file("A.csv", "2,1\n1,3\n");
  expect_refused("solve --problem counter-example --n 2 --matrix-file " + matrix + " --trace " + matrix,
                 {"--trace", "would write over it"});
  EXPECT_EQ(read_file(matrix), "2,1\n1,3\n");
}

TEST_F(OwnedFolder, OfARunThatCouldNotBeVerifiedStaysAsItIsWhereItGoesOn) {
  const auto first = run_tool("solve --problem quadratic --null-space 2 --n 6 --m 8 --out " + out);
  ASSERT_EQ(first.exit_code, 1);
  EXPECT_CONTAINS(first.output, "not verified");
  const std::string solution = read_file(folder / "solution.csv");
  ASSERT_FALSE(solution.empty());
  const auto second = run_tool("solve --resume " + out);
  EXPECT_EQ(second.exit_code, 1) << second.output;
  EXPECT_EQ(read_file(folder / "solution.csv"), solution) << second.output;
}

TEST(ClosedOutput, IsAnErrorAndTakesNoOtherFilesPlace) {
  const ScratchFolder scratch;
  const std::string out = (scratch.path() / "out").string();
  const auto result =
      run_command("(exec 1>&-; " + std::string(DUPLEX_TOOL) + " solve --problem ridge --out " + out + ")");
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_LT(read_file(scratch.path() / "out" / ".duplex.lock").size(), 12U);
}

TEST(ALimitOfFileSizes, DoesNotKill) {
  const ScratchFolder scratch;
  const std::string out = (scratch.path() / "out").string();
  const auto result = run_command(
      "(ulimit -f 1; " + std::string(DUPLEX_TOOL) +
      " solve --problem ridge --solver bagdc --beta 0.2 --features 200 --alpha 1 --iterations 3 --out " + out + ")");
  EXPECT_EQ(result.exit_code, 1) << result.output;
  for (const auto &entry : fs::directory_iterator(scratch.path() / "out")) {
    EXPECT_FALSE(entry.path().string().ends_with(".tmp")) << entry.path();
  }
}

TEST(AnEmptyName, IsNoFolder) { expect_refused("solve --problem ridge --out \"\"", {"--out", "empty name"}); }

TEST(ADevice, IsNoMatrix) {
  expect_refused("solve --problem counter-example --matrix-file /dev/zero", {"/dev/zero", "is a device"});
}

TEST_F(OwnedFolder, QuotesHintsForTheShell) {
  const auto spaced = (scratch.path() / "it's here").string();
  const auto result = run_tool("solve --problem ridge --target kkt=1e-30 --iterations 5 --out \"" + spaced + "\"");
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_CONTAINS(result.output, "go on with: duplex solve --resume '" + (scratch.path() / "it'\\''s here").string() +
                                     "' --iterations 10");
}

TEST_F(OwnedFolder, TakesNamesThatAreNotUtf8) {
  const std::string odd = (scratch.path() / "od\xff"
                                            "d")
                              .string();
  const std::string in_shell = "'" + odd + "'";
  for (const std::string command : {"solve --problem ridge --solver nosa --alpha 1 --iterations 3 --json --out ",
                                    "race --problem ridge --solvers automatic --json --out "}) {
    const auto result = run_tool(command + in_shell);
    EXPECT_EQ(result.exit_code, 0) << result.output;
    EXPECT_TRUE(nlohmann::json::accept(result.output)) << result.output;
  }
  ASSERT_EQ(
      run_tool("solve --problem ridge --solver bagdc --beta 0.2 --alpha 1 --iterations 3 --out " + in_shell).exit_code,
      0);
  const auto resumed = run_tool("solve --iterations 5 --resume " + in_shell);
  EXPECT_EQ(resumed.exit_code, 0) << resumed.output;
  const auto refused = run_tool("solve --problem ridge --'\xff' 1");
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_EQ(refused.output.find("json.exception"), std::string::npos) << refused.output;
}

TEST_F(OwnedFolder, KeepsTheResultsOfOtherReproductions) {
  {
    checkpoint::RunFolder earlier(folder);
    earlier.begin("reproduce", {"reproduce", "fig1"});
    earlier.write(std::vector<report::NamedContent>{{"fig1.json", "{}"}});
    earlier.end(checkpoint::RunState::finished);
  }
  RunningTool tool({"reproduce", "fig3", "--out", out});
  ASSERT_TRUE(tool.wait_until([&] { return manifest_state(folder) == "running"; }));
  EXPECT_EQ(tool.end(SIGINT), 1);
  EXPECT_EQ(manifest_state(folder), "interrupted");
  EXPECT_TRUE(fs::exists(folder / "fig1.json"));
  EXPECT_TRUE(fs::exists(folder / "fig3.json"));
}

TEST(NumbersOfOptions, AreDecimalAndRefusedWhereTheyDoNotFit) {
  for (const std::string command : {"clean --demo fashion-mnist --out /proc/none --seed ",
                                    "solve --problem ridge --seed ", "check --problem ridge --check-seed ",
                                    "few-shot --out /proc/none --seed ", "reproduce fig4 --out /proc/none --seed "}) {
    for (const std::string wrong : {"18446744073709551616", "99999999999999999999999"}) {
      expect_refused(command + wrong, {wrong.c_str(), "whole number >= 0 and <= 18446744073709551615"});
    }
    for (const std::string wrong : {"0x10", "1e3", "3.5", "-1", "''", "ten", "+-3"}) {
      expect_refused(command + wrong, {"whole number >= 0"});
    }
  }
  expect_refused("solve --problem ridge --every 0x10", {"--every = '0x10'", "a whole number >= 1"});
  expect_refused("solve --problem ridge --every 9223372036854775808", {"<= 9223372036854775807"});
  expect_refused("solve --problem ridge --save-every 0", {"--save-every = 0", "> 0"});
  expect_refused("solve --problem ridge --save-every 1e999", {"--save-every = '1e999'"});
  expect_refused("race --problem ridge --seeds 010001", {"--seeds = 010001", "<= 10000"});
  expect_refused("race --problem ridge --time-limit nan", {"--time-limit = nan", "> 0"});
  expect_refused("check --problem ridge --points 1001", {"--points = 1001", "<= 1000"});
  const auto seed = [](const std::string &text) {
    return nlohmann::json::parse(
        run_tool("solve --problem ridge --solver bagdc --beta 0.2 --alpha 1 --iterations 1 --json --seed " + text)
            .output)["seed"];
  };
  EXPECT_EQ(seed("010"), 10);
  EXPECT_EQ(seed("18446744073709551615"), std::numeric_limits<std::uint64_t>::max());
}

} // namespace
} // namespace duplex::test
