// `duplex solve --resume`: on to the same files, and on to more.

#include "tool.hpp"

#include <algorithm>
#include <sstream>

namespace duplex::test {
namespace {

TEST(CliResume, RefusesWhatIsNotThereAndWhatMayNotChange) {
  const ScratchFolder folder;
  const std::string out = folder.path().string();
  expect_refused("solve --resume " + out, {"nothing to go on from", "manifest.json"});
  expect_refused("solve --resume " + out + "/nowhere", {"nothing to go on from", "there is no folder"});
  expect_refused("solve", {"--problem", "--resume"});
  expect_refused("solve --problem ridge --resume " + out, {"--resume", "--problem"});
  ASSERT_EQ(run_tool("solve --problem counter-example --n 5 --iterations 3 --out " + out).exit_code, 0);
  expect_refused("solve --alpha 0.2 --resume " + out, {"--alpha", "--iterations"});
}

/// Without the clock's column.
std::string without_seconds(const std::string &csv) {
  std::istringstream lines(csv);
  std::string out;
  for (std::string line; std::getline(lines, line);) {
    const auto second = line.find(',', line.find(',') + 1);
    out += line.substr(0, second) + line.substr(line.find(',', second + 1)) + "\n";
  }
  return out;
}

TEST(CliResume, KeepsTheRowsThatARunWhichWasNotInterruptedKeeps) {
  const ScratchFolder folder;
  const std::string whole = (folder.path() / "whole").string();
  const std::string run = "solve --problem ridge --solver nosa --every 3 --iterations ";
  ASSERT_EQ(run_tool(run + "190 --out " + whole).exit_code, 0);
  for (const int first : {112, 114, 126, 129, 162, 163, 165}) {
    const std::string parts = (folder.path() / std::to_string(first)).string();
    ASSERT_EQ(run_tool(run + std::to_string(first) + " --out " + parts).exit_code, 0);
    ASSERT_EQ(run_tool("solve --iterations 190 --resume " + parts).exit_code, 0);
    EXPECT_EQ(without_seconds(read_file(parts + "/solve.csv")), without_seconds(read_file(whole + "/solve.csv")))
        << first;
  }
}

TEST(CliResume, GoesOnToTheSameFilesAsARunThatWasNotInterrupted) {
  const ScratchFolder folder;
  const std::string whole = (folder.path() / "whole").string();
  const std::string parts = (folder.path() / "parts").string();
  for (const std::string problem : {"--problem counter-example --n 40 --solver bagdc --alpha 0.1 --beta 0.2 --mixing 3 "
                                    "--dual constant --eta 0.3",
                                    "--problem hyper-cleaning --solver bda --inner 3 --metrics upper,hypergradient",
                                    "--problem ridge --solver cg --upper adam --alpha 0.01",
                                    "--problem counter-example --matrix diagonal --condition 1000 --smallest 0.001"}) {
    const auto uninterrupted = run_tool("solve " + problem + " --iterations 60 --out " + whole);
    ASSERT_LE(uninterrupted.exit_code, 1) << uninterrupted.output; // automatic steps are not yet at their tolerance
    ASSERT_LE(run_tool("solve " + problem + " --iterations 25 --out " + parts).exit_code, 1);
    const auto second = run_tool("solve --iterations 60 --resume " + parts);
    ASSERT_EQ(second.exit_code, uninterrupted.exit_code) << second.output;
    EXPECT_EQ(read_file(parts + "/solution.csv"), read_file(whole + "/solution.csv"));
    const auto rows = without_seconds(read_file(whole + "/solve.csv"));
    EXPECT_GT(std::count(rows.begin(), rows.end(), '\n'), 50);
    EXPECT_EQ(without_seconds(read_file(parts + "/solve.csv")), rows);
  }
}

TEST(CliResume, MayBeAskedForMoreThanTheRunHasReached) {
  const ScratchFolder folder;
  const std::string out = folder.path().string();
  const std::string problem =
      "solve --problem counter-example --solver bagdc --beta 0.2 --n 5 --alpha 0.1 --iterations 5000";
  for (const auto &[first, second] :
       {std::pair<std::string, std::string>{"--direction-tolerance 1e-3", "--direction-tolerance 1e-6"},
        {"--kkt-tolerance 1e-3", "--kkt-tolerance 1e-6"},
        {"--kkt-relative-tolerance 1e-3", "--kkt-relative-tolerance 1e-6"},
        {"--target x-error=1e-3", "--target x-error=1e-6"}}) {
    const auto coarse = run_tool(problem + " " + first + " --out " + out);
    ASSERT_EQ(coarse.exit_code, 0) << coarse.output;
    const auto done = read_json(folder.path() / "solve.json")["series"][0]["iterations"].get<int>();
    const auto again = run_tool("solve --resume " + out);
    EXPECT_EQ(again.exit_code, 0) << again.output;
    EXPECT_NE(again.output.find("nothing was left to do"), std::string::npos) << again.output;
    const auto fine = run_tool("solve " + second + " --resume " + out);
    EXPECT_EQ(fine.exit_code, 0) << fine.output;
    const auto more = read_json(folder.path() / "solve.json")["series"][0];
    EXPECT_GT(more["iterations"].get<int>(), done) << second;
    const auto whole = folder.path() / "whole";
    ASSERT_EQ(run_tool(problem + " " + second + " --out " + whole.string()).exit_code, 0);
    EXPECT_EQ(more["iterations"], read_json(whole / "solve.json")["series"][0]["iterations"]) << second;
    EXPECT_EQ(read_file(folder.path() / "solution.csv"), read_file(whole / "solution.csv")) << second;
  }
  expect_refused("solve --target phi-gap=1 --resume " + out,
                 {"--target: the run that goes on does not measure phi-gap; it measures kkt, upper, x-error"});
}

TEST(CliResume, AutomaticRunsMayBeAskedForASmallerTolerance) {
  const ScratchFolder folder;
  const std::string out = folder.path().string();
  ASSERT_EQ(run_tool("solve --problem ridge --out " + out).exit_code, 0);
  const auto trace = folder.path() / "trace.csv";
  const auto again = run_tool("solve --trace " + trace.string() + " --resume " + out);
  EXPECT_NE(again.output.find("nothing was left to do"), std::string::npos) << again.output;
  EXPECT_GT(read_file(trace).size(), 500U); // the rows of before
  const auto finer = run_tool("solve --tolerance 1e-9 --certify --json --resume " + out);
  EXPECT_EQ(finer.exit_code, 0) << finer.output;
  const auto certificate = nlohmann::json::parse(finer.output)["series"][0]["certificate"];
  EXPECT_LE(certificate["hypergradient"].get<double>(), 1e-9 * certificate["first_hypergradient"].get<double>());
}

TEST(CliResume, RefusesTheFolderOfAnotherCommand) {
  const ScratchFolder folder;
  const std::string out = folder.path().string();
  ASSERT_EQ(run_tool("solve --problem counter-example --n 5 --iterations 3 --out " + out).exit_code, 0);
  expect_refused("clean --resume " + out, {"its run is of duplex solve, expected duplex clean"});
  expect_refused("few-shot --resume " + out, {"its run is of duplex solve, expected duplex few-shot"});
}

} // namespace
} // namespace duplex::test
