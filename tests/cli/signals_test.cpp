// Ctrl-C, SIGTERM and SIGHUP end a command wherever it is, with a checkpoint where one is promised. How soon is
// measured by `make torture`; here whatever does not end would hang.

#include "tool.hpp"

#include <sys/stat.h>

namespace duplex::test {
namespace {

namespace fs = std::filesystem;

class Signals : public ::testing::TestWithParam<int> {
protected:
  ScratchFolder scratch;
  fs::path folder = scratch.path() / "out";
  std::string out = folder.string();
};

TEST_P(Signals, EndARunWithACheckpointToGoOnFrom) {
  RunningTool tool({"solve", "--solver", "bagdc", "--alpha", "0.1", "--problem", "counter-example", "--n", "500",
                    "--matrix", "dense", "--beta", "0.1", "--iterations", "1000000000", "--save-every", "0.01", "--out",
                    out});
  ASSERT_TRUE(tool.wait_until([&] { return fs::exists(folder / "checkpoint.dpx"); }));
  EXPECT_EQ(tool.end(GetParam()), 1);
  const auto done = read_json(folder / "solve.json")["series"][0]["iterations"].get<int>();
  const auto resumed = run_tool("solve --iterations " + std::to_string(done + 3) + " --resume " + out);
  EXPECT_EQ(resumed.exit_code, 0) << resumed.output;
  EXPECT_EQ(read_json(folder / "solve.json")["series"][0]["iterations"].get<int>(), done + 3);
}

TEST_P(Signals, EndAnInnerLoopThatWouldTakeForYears) {
  RunningTool tool({"solve", "--problem", "ridge", "--solver", "cg", "--inner", "1000000000000", "--out", out});
  wait_for_work(tool.process(), std::chrono::seconds(1)); // in its first step, which never ends
  EXPECT_EQ(tool.end(GetParam()), 1);
  EXPECT_TRUE(fs::exists(folder / "checkpoint.dpx")) << "it was left, not killed";
  EXPECT_EQ(read_json(folder / "manifest.json")["state"], "interrupted");
}

TEST_P(Signals, EndACommandThatWaitsForItsInput) {
  const std::string fifo = (scratch.path() / "fifo.csv").string();
  ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
  RunningTool tool({"clean", "--train", fifo, "--trusted", fifo, "--label", "label", "--out", out});
  const std::string wait = "/proc/" + std::to_string(tool.process()) + "/status";
  ASSERT_TRUE(tool.wait_until([&] { return read_file(wait).find("State:\tS") != std::string::npos; }));
  EXPECT_NE(tool.end(GetParam()), 0);
  EXPECT_FALSE(fs::exists(folder / "suspects.csv"));
}

INSTANTIATE_TEST_SUITE_P(EachOne, Signals, ::testing::Values(SIGINT, SIGTERM, SIGHUP),
                         [](const auto &each) { return std::string(sigabbrev_np(each.param)); });

TEST(TimeLimit, IsHeardInAnInnerLoopThatWouldTakeForYears) {
  const auto result = run_tool("solve --problem ridge --solver cg --inner 1000000000000 --seconds 0.1");
  EXPECT_EQ(result.exit_code, 1) << result.output;
  EXPECT_NE(result.output.find("max seconds"), std::string::npos) << result.output;
}

TEST(AProblem, ThatNoMemoryHoldsIsRefusedBeforeAnyIsTaken) {
  for (const std::string sizes : {"hyper-cleaning --samples 9223372036854775807", "quadratic --n 10 --m 10000000",
                                  "counter-example --n 10000000 --matrix dense", "counter-example --n 9000000000000",
                                  "ridge --features 100000000000", "multiple-minimizers --n 9000000000000",
                                  "ridge --solver rhg --inner 1000000000000000"}) {
    expect_refused("solve --problem " + sizes, {"GB are needed, and this process may have"});
  }
}

TEST(ALongRun, KeepsNoMoreOfItsStepsThanStoppingRulesNeed) {
  const ScratchFolder scratch;
  const auto checkpoint_of = [&](const std::string &steps) {
    const fs::path folder = scratch.path() / steps;
    const auto result =
        run_tool("solve --problem ridge --features 2 --informative 1 --training 3 --validation 3 --held-out 3"
                 " --solver bagdc --alpha 1e-9 --beta 1e-9 --iterations " +
                 steps +
                 " --direction-tolerance 1e-300 --kkt-tolerance 1e-300 --kkt-relative-tolerance 1e-300"
                 " --target kkt=1e-300 --patience 1000000000 --held-out-patience 1000000000 --out " +
                 folder.string());
    EXPECT_EQ(result.exit_code, 1) << result.output;
    return fs::file_size(folder / "checkpoint.dpx");
  };
  EXPECT_LT(static_cast<double>(checkpoint_of("20000")), 2.0 * static_cast<double>(checkpoint_of("2000")));
}

} // namespace
} // namespace duplex::test
