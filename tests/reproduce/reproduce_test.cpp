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

TEST(CleanAnywhere, SaysWhatIsMissing) {
  expect_refused("reproduce clean-anywhere --only unicorn --out /tmp/duplex-unused", {"no table", "'unicorn'"});
  expect_refused("reproduce clean-anywhere --only iris --data-dir /nowhere --out /tmp/duplex-unused",
                 {"/nowhere/iris.csv", "scripts/tables.sh"});
  const ScratchFolder scratch;
  const auto broken =
      scratch.file("rivals.csv", "table,noise,trusted,seed,rival,f1,average_precision\nmoons,pair,50\n");
  expect_refused("reproduce clean-anywhere --quick --rivals " + broken + " --out /tmp/duplex-unused",
                 {"rivals.csv:2", "moons,pair,50"});
  const auto other = scratch.file("other.csv", "a,b\n");
  expect_refused("reproduce clean-anywhere --quick --rivals " + other + " --out /tmp/duplex-unused",
                 {"other.csv:1", "average_precision"});
}

TEST(CleanAnywhere, MeasuresEveryNoiseOnGeneratedTablesBesideRivals) {
  const ScratchFolder scratch;
  const auto rivals = scratch.file("rivals.csv", "table,noise,trusted,seed,rival,f1,average_precision\n"
                                                 "moons,uniform20,50,0,constant,0.25,0.5\n");
  const auto result = run_tool("reproduce clean-anywhere --quick --seeds 1 --only moons --rivals " + rivals +
                               " --out " + scratch.path().string());
  EXPECT_EQ(result.exit_code, 0) << result.output;
  EXPECT_NE(result.output.find("constant"), std::string::npos) << "the rival's row";
  const auto json = read_json(scratch.path() / "clean-anywhere.json");
  ASSERT_EQ(json["series"].size(), 5U) << "five noises, 50 trusted rows, one seed";
  for (const auto &series : json["series"]) {
    for (const auto *metric : {"f1", "average-precision", "calibration-error"}) {
      const double value = series["metrics"][metric].get<double>();
      EXPECT_GE(value, 0.0) << series.dump();
      EXPECT_LE(value, 1.0) << series.dump();
    }
  }
  EXPECT_GT(series_named(json, "moons, uniform 20 %, 50 trusted, seed 0")["metrics"]["average-precision"].get<double>(),
            0.4)
      << "a fifth are wrong";
}

TEST(CleanAnywhere, ExportsTheRowsThatItWouldClean) {
  const ScratchFolder scratch;
  const auto folder = scratch.path() / "cells";
  const auto result = run_tool("reproduce clean-anywhere --quick --seeds 1 --only moons --export " + folder.string() +
                               " --out " + scratch.path().string());
  EXPECT_EQ(result.exit_code, 0) << result.output;
  const auto lines = [&](const std::string &name) {
    std::istringstream text(read_file(folder / name));
    std::vector<std::string> out;
    for (std::string line; std::getline(text, line);) {
      out.push_back(line);
    }
    return out;
  };
  const auto features = lines("moons-0.csv");
  ASSERT_EQ(features.size(), 801U) << "a header, 300 rows to clean and at most 500 trusted ones";
  EXPECT_EQ(features[0], "f0,f1");
  for (const std::string noise : {"uniform20", "uniform40", "pair", "boundary", "source"}) {
    const auto cell = lines("moons-0-" + noise + "-50.csv");
    ASSERT_EQ(cell.size(), 351U) << noise;
    EXPECT_EQ(cell[0], "row,trusted,given,true,source");
    EXPECT_EQ(cell[1].rfind("0,1,", 0), 0U) << cell[1];
    EXPECT_EQ(cell[51].rfind("50,0,", 0), 0U) << cell[51];
    std::size_t wrong = 0;
    for (std::size_t i = 51; i < cell.size(); ++i) {
      const auto given = cell[i].find(",0,") + 3;
      wrong += cell[i][given] != cell[i][given + 2] ? 1 : 0;
    }
    if (noise == "source") {
      EXPECT_NEAR(static_cast<double>(wrong), 135.0, 40.0);
    } else {
      EXPECT_EQ(wrong, noise == "uniform40" ? 120U : noise == "pair" ? 90U : 60U) << noise;
    }
  }
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
