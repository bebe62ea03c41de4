#include "tool.hpp"

namespace duplex::test {
namespace {

/// Runs a reproduction and returns its JSON; every claim must hold.
nlohmann::json reproduce(const std::string &name, const std::string &options = "") {
  const ScratchFolder scratch;
  const auto result = run_tool("reproduce " + name + " --out " + scratch.path().string() + " " + options);
  EXPECT_EQ(result.exit_code, 0) << result.output;
  auto json = read_json(scratch.path() / (name + ".json"));
  for (const auto *key : {"experiment", "options", "seed", "version", "series", "claims"}) {
    EXPECT_TRUE(json.contains(key)) << key;
  }
  for (const auto &claim : json["claims"]) {
    for (const auto *key : {"id", "text", "paper", "measured", "holds"}) {
      EXPECT_TRUE(claim.contains(key)) << key;
    }
    EXPECT_TRUE(claim["holds"].get<bool>()) << claim.dump();
  }
  const auto csv = read_file(scratch.path() / (name + ".csv"));
  EXPECT_EQ(csv.rfind("series,iteration,seconds", 0), 0U);
  const auto svg = read_file(scratch.path() / (name + ".svg"));
  EXPECT_NE(svg.find("<svg"), std::string::npos);
  EXPECT_NE(svg.find("</svg>"), std::string::npos);
  return json;
}

nlohmann::json series_named(const nlohmann::json &experiment, const std::string &name) {
  for (const auto &series : experiment["series"]) {
    if (series["name"] == name) {
      return series;
    }
  }
  ADD_FAILURE() << "no series " << name;
  return {};
}

TEST(Reproduce, RefusesOptionsOutOfBounds) {
  expect_refused("reproduce fig3 --time-limit -1 --out /tmp/duplex-unused", {"time-limit = -1", "> 0"});
  expect_refused("reproduce rates --problems 0 --out /tmp/duplex-unused", {"problems = 0", ">= 1"});
  expect_refused("reproduce zoo --starts 11 --out /tmp/duplex-unused", {"starts = 11", "10"});
  expect_refused("reproduce zoo --only unicorn --out /tmp/duplex-unused", {"no family", "'unicorn'"});
}

TEST(Reproduce, Figure1CountsTheStepsOfTheScalarRecursion) {
  const auto json = reproduce("fig1");
  const auto iterations = [&](const std::string &name) {
    return series_named(json, "A = I, " + name)["iterations"].get<int>();
  };
  EXPECT_EQ(iterations("η = 0.125 C_f"), 152);
  EXPECT_EQ(iterations("η = 0.25 C_f"), 122);
  EXPECT_EQ(iterations("η = 0.5 C_f"), 96);
  EXPECT_EQ(iterations("η = C_f"), 80);
  EXPECT_EQ(iterations("adaptive"), 80);
  const auto twice = series_named(json, "A = I, η = 2 C_f");
  EXPECT_EQ(twice["status"], "diverged");
  EXPECT_TRUE(twice["metrics"].empty()) << "a diverged run is not reported as a number";
  EXPECT_NEAR(series_named(json, "A = I, NOSA")["metrics"]["x-error"].get<double>(), 0.6667, 1e-4);
}

TEST(Reproduce, Figure2EndsOnTheClosedFormPlateaus) {
  const auto json = reproduce("fig2");
  for (const auto &[inner, plateau] : {std::pair{1, 0.6667}, {5, 0.1959}, {10, 0.05673}, {20, 0.005798}}) {
    const auto series = series_named(json, "A = I, RHG T = " + std::to_string(inner));
    EXPECT_NEAR(series["metrics"]["x-error"].get<double>() / plateau, 1.0, 1e-2);
  }
}

TEST(Reproduce, Figure3NeedsTheFewestEvaluationsForBagdc) {
  // Times are for `duplex reproduce` on a quiet machine; here it is the work that is compared, at any speed.
  for (const std::string matrix :
       {"--n 100 --alpha 0.1 --beta 0.2", "--n 64 --matrix dense --condition 10 --alpha 0.1 --beta 0.1"}) {
    const ScratchFolder scratch;
    const auto result =
        run_tool("race --problem counter-example --solvers bagdc:dual=adaptive,bagdc:dual=adaptive:fused="
                 "false,rhg,cg,ns --target direction=1e-3 --time-limit 100 " +
                 matrix + " --out " + scratch.path().string());
    ASSERT_EQ(result.exit_code, 0) << result.output;
    const auto json = read_json(scratch.path() / "race.json");
    const auto work = [&](std::size_t solver) {
      const auto evaluations = json["series"][solver]["evaluations"];
      return evaluations["gradients"].get<int>() + evaluations["hessian_products"].get<int>() +
             evaluations["cross_products"].get<int>();
    };
    EXPECT_EQ(work(0), work(1)) << "the fused step counts what the general one does";
    for (std::size_t rival = 2; rival < 5; ++rival) {
      EXPECT_GT(work(rival), 10 * work(1)) << matrix << ", solver " << rival;
    }
  }
}

TEST(Reproduce, Figure4EndsWhereTheDerivationSays) {
  const auto json = reproduce("fig4");
  EXPECT_NEAR(series_named(json, "start 0.01, BAGDC, practical")["metrics"]["x"].get<double>(), 1.0, 1e-2);
  EXPECT_NEAR(series_named(json, "start 0.01, BDA")["metrics"]["x"].get<double>(), 1.0, 1e-2);
}

TEST(Reproduce, RatesHaveNoViolation) {
  EXPECT_EQ(reproduce("rates", "--problems 100")["claims"].size(), 5U);
  EXPECT_EQ(reproduce("rates", "--problems 10 --seed 1")["claims"].size(), 5U);
}

TEST(Reproduce, SabotagedRunsConvergeOrSayWhyNot) { EXPECT_EQ(reproduce("sabotage", "")["claims"].size(), 2U); }

TEST(Reproduce, CheckpointsAreWeighedForEveryMethod) { // their time is for a quiet machine
  const ScratchFolder scratch;
  (void)run_tool("reproduce checkpoints --cleaning-samples 200 --out " + scratch.path().string());
  const auto costs = read_json(scratch.path() / "checkpoints.json")["options"]["costs"];
  ASSERT_EQ(costs.size(), 3U);
  EXPECT_GT(costs["BAGDC, mixed and fused"]["bytes"].get<int>(), 2 * costs["BAGDC, hand-tuned"]["bytes"].get<int>());
  for (const auto &[method, cost] : costs.items()) {
    EXPECT_GT(cost["seconds"].get<double>(), 0.0) << method;
  }
}

TEST(Reproduce, AutomaticStepsNeedFewerProductsThanTheBestConstantOnes) {
  EXPECT_EQ(reproduce("autosteps", "--automatic-problems 12")["claims"].size(), 8U);
}

TEST(Reproduce, TheZooJudgesAutomaticAndTheStandIn) { // their times are for a quiet machine
  const ScratchFolder scratch;
  const auto result = run_tool("reproduce zoo --only pricing --starts 2 --out " + scratch.path().string());
  EXPECT_NE(result.output.find("stand-in is right"), std::string::npos) << result.output;
  const auto families = read_json(scratch.path() / "zoo.json")["options"]["families"];
  ASSERT_EQ(families.size(), 2U);
  const auto runs = families["pricing"]["runs"];
  ASSERT_EQ(runs.size(), 2U);
  for (const auto &run : runs) {
    EXPECT_LE(run["stand-in"]["ratio"].get<double>(), 1e-5) << run.dump();
    EXPECT_LE(run["automatic"]["ratio"].get<double>(), 1e-5) << run.dump();
    EXPECT_TRUE(run["automatic"]["claimed"].get<bool>()) << run.dump();
  }
}

TEST(Reproduce, AFailingClaimWouldExitWithOne) {
  // With a time limit that nothing can meet, BAGDC is not first, and the command must say so.
  const ScratchFolder scratch;
  const auto result = run_tool("reproduce fig3 --time-limit 1e-9 --largest-identity 100 --largest-dense 128 --out " +
                               scratch.path().string());
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_NE(result.output.find("FAILS"), std::string::npos);
  EXPECT_EQ(read_json(scratch.path() / "fig3.json")["claims"].size(), 3U);
}

} // namespace
} // namespace duplex::test
