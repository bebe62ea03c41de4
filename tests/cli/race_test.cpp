// `duplex race`: several solvers on one problem, with and without a search for their steps.

#include "tool.hpp"

namespace duplex::test {
namespace {

TEST(Cli, RacesEveryMethodUnderItsOwnNameWithItsSteps) {
  const auto json =
      nlohmann::json::parse(run_tool("race --problem counter-example --n 5 --iterations 20 --json").output);
  std::string names;
  for (const auto &series : json["series"]) {
    names += series["name"].get<std::string>() + " ";
  }
  EXPECT_EQ(names,
            "automatic bagdc:alpha=0.1:beta=0.2 bda bome cg d-tfbo f2sa ma-soba meha ns nosa pbgd rhg s-tfbo saba "
            "sbagdc soba spaba srba ");
}

TEST(Cli, RaceRanksByTheTruthAndNotByTheMethodsOwnWord) {
  const auto result = run_tool("race --problem counter-example --solvers automatic,nosa,rhg:inner=20,cg:naive --json");
  EXPECT_EQ(result.exit_code, 0);
  const auto json = nlohmann::json::parse(result.output);
  ASSERT_EQ(json["series"].size(), 4U);
  EXPECT_LT(json["series"][0]["metrics"]["true-x-error"].get<double>(), 1e-5);
  EXPECT_NEAR(json["series"][1]["metrics"]["true-x-error"].get<double>(), 2.0 / 3.0, 1e-4);
  EXPECT_NEAR(json["series"][2]["metrics"]["true-x-error"].get<double>(), 0.0057983, 1e-5);
  EXPECT_GT(json["series"][1]["metrics"]["true-hypergradient"].get<double>(), 1.0);
  for (const auto &series : json["series"]) {
    EXPECT_GT(series["evaluations"]["gradients"].get<int>(), 0);
  }
}

TEST(Cli, RaceStopsEachRunAtItsTarget) {
  const ScratchFolder scratch;
  const auto result =
      run_tool("race --problem counter-example --n 20 --solvers bagdc:alpha=0.1:beta=0.2,ns,nosa --target x-error=1e-4 "
               "--iterations 2000 --out " +
               scratch.path().string());
  EXPECT_EQ(result.exit_code, 0) << result.output;
  const auto json = read_json(scratch.path() / "race.json");
  EXPECT_EQ(json["series"][0]["status"], "target reached");
  EXPECT_EQ(json["series"][1]["status"], "target reached");
  EXPECT_EQ(json["series"][2]["status"], "max iterations");
  EXPECT_NE(read_file(scratch.path() / "race.svg").find("</svg>"), std::string::npos);
}

TEST(Race, RefusesSeedsOfAProblemWithoutAndABudgetWithoutASearch) {
  expect_refused("race --problem multiple-minimizers --seeds 3",
                 {"--seeds: the problem multiple-minimizers has no seed"});
  expect_refused("race --problem ridge --seeds 0", {"--seeds"});
  expect_refused("race --problem ridge --tune-seconds 1", {"--tune-seconds without --tune"});
}

TEST(Race, OverSeedsHasARunForEachAndTheirMeans) {
  const auto json = nlohmann::json::parse(
      run_tool(
          "race --problem quadratic --n 5 --m 5 --solvers automatic,nosa --seed 7 --seeds 3 --iterations 200 --json")
          .output);
  ASSERT_EQ(json["series"].size(), 6U);
  EXPECT_EQ(json["series"][0]["name"], "automatic, seed 7");
  EXPECT_EQ(json["series"][5]["name"], "nosa, seed 9");
  EXPECT_EQ(json["options"]["problem_options"]["seed"], "7");
  EXPECT_NE(json["series"][0]["metrics"]["true-hypergradient"], json["series"][2]["metrics"]["true-hypergradient"]);
  const auto text = run_tool("race --problem quadratic --n 5 --m 5 --solvers automatic --seeds 3").output;
  EXPECT_NE(text.find("3 of 3"), std::string::npos) << text;
  EXPECT_NE(text.find("arrival: ‖d‖ <= 1e-6"), std::string::npos) << text;
}

TEST(Race, MeansAreOfTheRunsThatArrivedAndTheOthersSayWhyNot) {
  const auto text =
      run_tool("race --problem ridge --solvers automatic,bagdc:alpha=0.1:beta=100 --seeds 3 --iterations 1000").output;
  const auto arrived = text.find("0 of 3");
  ASSERT_NE(arrived, std::string::npos) << text;
  EXPECT_EQ(text[text.find_first_not_of(' ', arrived + 6)], '-') << text; // no time
  EXPECT_NE(text.find("bagdc:alpha=0.1:beta=100, seed 2: diverged after"), std::string::npos) << text;
}

TEST(Race, TunesEveryMethodOnAProblemThatIsNotRacedAndJudgesByTheTruth) {
  const auto result = run_tool("race --problem quadratic --n 5 --m 5 --solvers "
                               "bagdc:dual=constant,nosa,bagdc:alpha=0.05:beta=0.3 "
                               "--tune --time-limit 100 --iterations 400 --json");
  EXPECT_EQ(result.exit_code, 0) << result.output;
  const auto json = nlohmann::json::parse(result.output);
  const auto &tuning = json["options"]["tuning"];
  EXPECT_EQ(tuning["problems"], 3);
  const auto &found = tuning["found"];
  EXPECT_EQ(found["bagdc:dual=constant"]["arrived"], 3);
  EXPECT_NE(found["bagdc:dual=constant"]["steps"].get<std::string>().find("eta"), std::string::npos);
  EXPECT_EQ(found["nosa"]["arrived"], 0); // however small it makes its own ‖d‖
  EXPECT_EQ(found["bagdc:alpha=0.05:beta=0.3"]["steps"], "as given");
  EXPECT_EQ(found["bagdc:alpha=0.05:beta=0.3"]["trials"], 1);
  for (const auto &[name, search] : found.items()) {
    EXPECT_GE(search["trials"].get<int>(), 1) << name;
  }
  EXPECT_EQ(json["series"][0]["status"], "target reached");
}

} // namespace
} // namespace duplex::test
