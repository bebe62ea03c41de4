// Bounds on x from the command line.

#include "tool.hpp"

namespace duplex::test {
namespace {

const std::string with_steps = " --solver bagdc --alpha 0.1 --beta 0.1 --direction-tolerance 1e-9 ";

TEST(BoundsOfTheTool, AreRefusedByTheirNames) {
  expect_refused("solve --problem ridge --x-lower high", {"x-lower = 'high'"});
  expect_refused("solve --problem ridge --x-lower nan", {"x-lower = nan"});
  expect_refused("solve --problem ridge --x-lower inf", {"x-lower = inf"});
  expect_refused("check --problem ridge --x-lower 2 --x-upper 1",
                 {"ridge: x-lower = 2 and x-upper = 1", "x-lower <= x-upper"});
  expect_refused("race --problem ridge:x-upper=-inf", {"x-upper = -inf"});
}

TEST(BoundsOfTheTool, KeepXWithinThemAndAreTold) {
  const ScratchFolder scratch;
  const std::string out = scratch.path() / "run";
  const auto result = run_tool("solve --problem counter-example --n 6 --x-lower 0.1 --x-upper 0.45 --certify --out " +
                               out + with_steps);
  EXPECT_EQ(result.exit_code, 0) << result.output;
  EXPECT_NE(result.output.find("x at its bounds      6 of 6"), std::string::npos) << result.output;
  EXPECT_NE(result.output.find("what of ∇φ points out of the box"), std::string::npos) << result.output;
  const auto json = read_json(std::filesystem::path(out) / "solve.json");
  EXPECT_EQ(json["options"]["problem_options"]["x-lower"], "0.1");
  EXPECT_EQ(json["options"]["problem_options"]["x-upper"], "0.45");
  EXPECT_NE(read_file(std::filesystem::path(out) / "solution.csv").find("x,0,0.45\n"), std::string::npos);
  EXPECT_NE(read_file(std::filesystem::path(out) / "solve.json").find("x-at-bounds"), std::string::npos);
}

TEST(BoundsOfTheTool, StayWhereARunGoesOn) {
  const ScratchFolder scratch;
  const std::string whole = scratch.path() / "whole";
  const std::string parts = scratch.path() / "parts";
  const std::string command =
      "solve --problem quadratic --x-lower -0.1 --x-upper 0.05 --solver bagdc --alpha 0.05 --beta "
      "0.5 --out ";
  EXPECT_EQ(run_tool(command + whole + " --iterations 40").exit_code, 0);
  EXPECT_EQ(run_tool(command + parts + " --iterations 15").exit_code, 0);
  expect_refused("solve --resume " + parts + " --x-upper 1", {"--x-upper cannot change when a run goes on"});
  EXPECT_EQ(run_tool("solve --resume " + parts + " --iterations 40").exit_code, 0);
  EXPECT_EQ(read_file(std::filesystem::path(whole) / "solution.csv"),
            read_file(std::filesystem::path(parts) / "solution.csv"));
}

TEST(BoundsOfTheTool, AreKnownToCheckRaceAndList) {
  EXPECT_EQ(run_tool("check --problem ridge --x-lower -1 --x-upper 0.5").exit_code, 0);
  const auto race =
      run_tool("race --problem quadratic --x-lower -0.05 --solvers bagdc:alpha=0.05:beta=0.5,nosa:alpha=0.05 "
               "--time-limit 2 --target kkt=1e-4");
  EXPECT_EQ(race.exit_code, 0) << race.output;
  const auto list = run_tool("list ridge");
  EXPECT_NE(list.output.find("x-lower"), std::string::npos) << list.output;
}

} // namespace
} // namespace duplex::test
