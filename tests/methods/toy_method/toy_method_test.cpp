// A method is one file: the tool whose list of methods was generated with duplex/methods/toy.hpp among the others, and
// nothing else changed, lists it, races it, mends its steps and goes on with its runs.

#include "tool.hpp"

#include <algorithm>

namespace duplex::test {
namespace {

nlohmann::json first_series(const std::filesystem::path &folder, const std::string &file = "solve.json") {
  return read_json(folder / file)["series"][0];
}

TEST(AMethodInOneFile, IsRefusedWrongOptionsByItsBounds) {
  expect_refused("solve --problem ridge --solver toy --beta -1", {"toy: beta = -1", "> 0"});
  expect_refused("solve --problem ridge --solver toy --shrink 1", {"toy: shrink = 1", "< 1"});
  expect_refused("solve --problem ridge --solver toi", {"unknown solver 'toi'", "did you mean 'toy'?"});
  expect_refused("solve --problem ridge --solver toy:shrnik=0.1", {"did you mean 'shrink'?"});
}

TEST(AMethodInOneFile, IsListedWithItsOptions) {
  const auto listed = run_tool("list --json");
  ASSERT_EQ(listed.exit_code, 0) << listed.output;
  const auto solvers = nlohmann::json::parse(listed.output)["solvers"];
  const auto toy = std::find_if(solvers.begin(), solvers.end(), [](const auto &each) { return each["name"] == "toy"; });
  ASSERT_NE(toy, solvers.end()) << listed.output;
  EXPECT_EQ((*toy)["options"].size(), 3U);
  EXPECT_EQ((*toy)["options"][2]["name"], "shrink");
  EXPECT_GT(solvers.size(), 5U) << "the other methods are still there";
}

TEST(AMethodInOneFile, RunsInARaceWithOthers) {
  const ScratchFolder scratch;
  const auto raced = run_tool("race --problem counter-example --n 5 --solvers toy,nosa --iterations 2000"
                              " --target x-error=1e-6 --out " +
                              scratch.path().string());
  EXPECT_NE(raced.output.find("toy"), std::string::npos) << raced.output;
  const auto json = read_json(scratch.path() / "race.json");
  ASSERT_EQ(json["series"].size(), 2U);
  EXPECT_EQ(json["series"][0]["status"], "target reached") << raced.output;
  EXPECT_NE(json["series"][1]["status"], "target reached"); // nosa converges to another point
}

TEST(AMethodInOneFile, IsMendedWhereItsStepsAreTooLong) {
  const ScratchFolder scratch;
  const std::string wild = "solve --problem quadratic --solver toy --alpha 0.02 --beta 60 --iterations 3000 --out " +
                           scratch.path().string();
  EXPECT_EQ(run_tool(wild + " --recoveries 0").exit_code, 1);
  EXPECT_EQ(first_series(scratch.path())["status"], "diverged");
  EXPECT_EQ(run_tool(wild + " --recoveries 12").exit_code, 0);
  const auto mended = first_series(scratch.path());
  EXPECT_FALSE(mended["recoveries"].empty());
  EXPECT_NE(mended["recoveries"][0].get<std::string>().find("with beta = "), std::string::npos) << mended["recoveries"];
}

TEST(AMethodInOneFile, GoesOnToTheSameBitsAfterAKill) {
  const ScratchFolder scratch;
  const std::filesystem::path parts = scratch.path() / "parts";
  {
    RunningTool tool({"solve", "--problem", "counter-example", "--n", "200", "--matrix", "dense", "--solver", "toy",
                      "--beta", "0.1", "--iterations", "1000000000", "--save-every", "0.01", "--out", parts.string()});
    ASSERT_TRUE(tool.wait_until([&] { return std::filesystem::exists(parts / "checkpoint.dpx"); }));
  } // which kills it
  ASSERT_EQ(run_tool("solve --seconds 0.01 --resume " + parts.string()).exit_code, 0);
  const auto done = first_series(parts)["iterations"].get<int>();
  const std::string steps = std::to_string(done + 50);
  const auto resumed = run_tool("solve --seconds inf --iterations " + steps + " --resume " + parts.string());
  ASSERT_EQ(resumed.exit_code, 0) << resumed.output;
  const std::filesystem::path whole = scratch.path() / "whole";
  ASSERT_EQ(run_tool("solve --problem counter-example --n 200 --matrix dense --solver toy --beta 0.1 --iterations " +
                     steps + " --out " + whole.string())
                .exit_code,
            0);
  EXPECT_EQ(first_series(parts)["iterations"], first_series(whole)["iterations"]);
  EXPECT_EQ(read_file(parts / "solution.csv"), read_file(whole / "solution.csv"));
}

} // namespace
} // namespace duplex::test
