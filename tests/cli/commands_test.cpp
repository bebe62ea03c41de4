#include "checkpoint/checkpoint.hpp"
#include "tool.hpp"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <ctime>
#include <sstream>
#include <thread>

namespace duplex::test {
namespace {

TEST(Cli, RefusesNegativeStepsWithFieldValueAndBound) {
  expect_refused("solve --problem counter-example --solver bagdc --beta 0.2 --alpha -1", {"alpha = -1", ">= 0"});
  expect_refused("solve --problem counter-example --solver rhg --inner 0", {"inner = 0", ">= 1"});
  expect_refused("race --problem counter-example --solvers bagdc:beta=-2", {"beta = -2", ">= 0"});
}

TEST(Cli, RefusesTextWhereANumberBelongs) {
  expect_refused("solve --problem counter-example --solver bagdc --beta 0.2 --alpha fast", {"alpha = 'fast'"});
  expect_refused("solve --problem counter-example --n 1.5", {"n = '1.5'", "whole number"});
  expect_refused("solve --problem counter-example --solver bagdc --alpha 0.1 --beta 0.2 --dual sideways",
                 {"dual = 'sideways'", "polak-ribiere"});
}

TEST(Cli, RefusesANanStart) {
  expect_refused("solve --problem counter-example --start nan", {"start = nan", "finite"});
  expect_refused("solve --problem multiple-minimizers --start inf", {"start = inf", "finite"});
}

TEST(Cli, SuggestsTheNearestKnownName) {
  expect_refused("solve --problem conter-example",
                 {"unknown problem 'conter-example'", "did you mean 'counter-example'"});
  expect_refused("solve --problem ridge --solver badgc", {"unknown solver 'badgc'", "did you mean 'bagdc'"});
  expect_refused("solve --problem ridge --alhpa 1", {"unknown option 'alhpa'", "did you mean 'alpha'"});
  expect_refused("race --problem ridge --solvers rhg:iner=5", {"unknown option 'iner'", "did you mean 'inner'"});
  expect_refused("solve --problem ridge --target x-eror=1", {"unknown metric 'x-eror'", "did you mean 'x-error'"});
  expect_refused("reproduce fig9 --out /tmp", {"unknown experiment 'fig9'", "fig1"});
  expect_refused("list bagcd", {"did you mean 'bagdc'"});
}

TEST(Cli, SuggestsTheCommandsOwnOptionsToo) {
  expect_refused("solve --problem ridge --certfy", {"did you mean 'certify'?"});
  expect_refused("race --problem ridge --sedes 3", {"did you mean 'seeds'?"});
  expect_refused("check --problem ridge --spraed 3", {"did you mean 'spread'?"});
}

TEST(Cli, RefusesAnOptionWithoutItsValue) {
  expect_refused("solve --problem counter-example --solver bagdc --beta 0.2 --alpha", {"--alpha", "needs a value"});
  expect_refused("solve --problem counter-example --seed -1", {"seed = '-1'", "whole number >= 0"});
  expect_refused("solve --problem counter-example stray", {"stray"});
  expect_refused("race --problem counter-example --solvers bagdc,,rhg", {"--solvers"});
  expect_refused("solve --problem counter-example --target x-error", {"metric=number"});
  expect_refused("solve", {"--problem"});
  expect_refused("", {"a command is needed", "reproduce"});
  expect_refused("sovle --problem ridge", {"unknown command 'sovle'", "did you mean 'solve'"});
  expect_refused("solve --problem ridge --every 0", {"--every = 0", ">= 1"});
  expect_refused("race --problem ridge --time-limit 0", {"--time-limit = 0", "> 0"});
  expect_refused("reproduce fig1 --seed -1", {"seed = '-1'", ">= 0"});
}

TEST(Cli, RefusesAnUnwritableOutFolderBeforeAnyWork) {
  const ScratchFolder scratch;
  const std::string file = scratch.file("taken", "not a folder");
  for (const std::string command : {"solve --problem counter-example --iterations 1000000000 --out ",
                                    "race --problem counter-example --out ", "reproduce fig1 --out "}) {
    expect_refused(command + file, {"taken"});
    expect_refused(command + "/proc/nowhere/out", {"/proc/nowhere"});
  }
  EXPECT_EQ(read_file(file), "not a folder");
}

TEST(Cli, RefusesAMatrixThatIsNotSymmetricPositiveDefinite) {
  const ScratchFolder scratch;
  const auto with = [&](const std::string &content) {
    return "solve --problem counter-example --matrix-file " + scratch.file("a.txt", content);
  };
  expect_refused(with("1 2\n3 4\n"), {"a.txt", "not symmetric", "(2, 1) is 3", "(1, 2) is 2"});
  expect_refused(with("1 2\n2 1\n"), {"not positive definite"});
  expect_refused(with("1 2 3\n2 1 3\n"), {"2 rows and 3 columns", "square"});
  expect_refused(with("1 0\n0\n"), {"a.txt:2", "1 numbers, expected 2"});
  expect_refused(with("1 0\n0 one\n"), {"a.txt:2", "'one'", "number"});
  expect_refused(with("1 0\n0 nan\n"), {"NaN"});
  expect_refused(with("\n# nothing\n"), {"holds no numbers"});
  expect_refused("solve --problem counter-example --matrix-file " + (scratch.path() / "missing").string(),
                 {"missing", "cannot be opened"});
}

TEST(Cli, AnOptionGivenWithASolversNameKeepsItsValue) {
  const std::string options = " --direction-tolerance 1e-5 --json";
  const auto steps = [&](const std::string &arguments) {
    return nlohmann::json::parse(
               run_tool("race --problem counter-example " + arguments + options).output)["series"][0]["iterations"]
        .get<int>();
  };
  EXPECT_EQ(steps("--solvers bagdc:alpha=0.3,nosa --alpha 0.1 --beta 0.2"),
            steps("--solvers bagdc:alpha=0.3:beta=0.2"));
  EXPECT_NE(steps("--solvers bagdc:alpha=0.3 --beta 0.2"), steps("--solvers bagdc:alpha=0.1 --beta 0.2"));
}

TEST(Cli, TheSeedIsInTheOutput) {
  EXPECT_EQ(nlohmann::json::parse(run_tool("solve --problem ridge --seed 7 --json").output)["seed"], 7);
}

TEST(Cli, RefusesWhatTheProblemCannotOffer) {
  expect_refused("solve --problem multiple-minimizers --target hypergradient=1", {"singular"});
  expect_refused("solve --problem counter-example --solver bagdc --alpha 0.1 --beta 0.2 --schedule theorem",
                 {"mu > 0"});
  expect_refused("solve --problem quadratic --n 2 --m 20 --null-space 15 --metrics x-error", {"answer is not known"});
  expect_refused("solve --problem ridge --metrics x-eror", {"--metrics", "did you mean 'x-error'"});
}

TEST(Cli, SolvesWithAMatrixFromAFile) {
  const ScratchFolder scratch;
  const auto result =
      run_tool("solve --problem counter-example --direction-tolerance 1e-9 --metrics x-error --matrix-file " +
               scratch.file("a.csv", "# two by two\n2, 0.5\n0.5, +1e0\n"));
  EXPECT_EQ(result.exit_code, 0) << result.output;
  EXPECT_NE(result.output.find("direction tolerance"), std::string::npos) << result.output;
}

TEST(Cli, ExitsWithOneWhereARunStopsShortOrDiverges) {
  EXPECT_EQ(run_tool("solve --problem counter-example --solver bagdc --beta 0.2 --alpha 0.1 --direction-tolerance 1e-9 "
                     "--iterations 5")
                .exit_code,
            1);
  const auto diverged =
      run_tool("solve --problem counter-example --solver bagdc --beta 0.2 --alpha 100 --recoveries 0 --json");
  EXPECT_EQ(diverged.exit_code, 1);
  const auto json = nlohmann::json::parse(diverged.output);
  EXPECT_EQ(json["series"][0]["status"], "diverged");
  EXPECT_TRUE(json["series"][0]["metrics"].empty()) << "a diverged run has no result";
  EXPECT_EQ(diverged.output.find("nan"), std::string::npos);
}

TEST(Cli, SaysSoWhereItsOutputCannotBeWritten) {
  EXPECT_EQ(run_tool("solve --problem counter-example >/dev/full").exit_code, 1);
}

TEST(Cli, SaysSoWhereATargetIsMissed) {
  const auto result = run_tool("solve --problem ridge --target kkt=1e-30 --iterations 5");
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_NE(result.output.find("before it reached what was asked"), std::string::npos) << result.output;
}

TEST(Cli, SaysWhichStepDivergedAndWhatToTry) {
  const auto result = run_tool("solve --problem counter-example --solver bagdc --beta 0.2 --alpha 100 --recoveries 0");
  EXPECT_NE(result.output.find("diverged"), std::string::npos);
  EXPECT_NE(result.output.find("at step 6: x grew most, to "), std::string::npos) << result.output;
  EXPECT_NE(result.output.find("; try a smaller alpha"), std::string::npos) << result.output;
}

TEST(Cli, ReportsASingularLowerLevelInsteadOfANumber) {
  const auto result = run_tool("solve --problem multiple-minimizers --solver cg");
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_NE(result.output.find("singular"), std::string::npos) << result.output;
  EXPECT_NE(result.output.find("damping"), std::string::npos) << result.output;
}

TEST(Cli, ListsEverythingWithDefaults) {
  const auto text = run_tool("list");
  EXPECT_EQ(text.exit_code, 0);
  const auto json = nlohmann::json::parse(run_tool("list --json").output);
  for (const auto &kind : {"problems", "solvers"}) {
    EXPECT_GE(json[kind].size(), 4U);
    for (const auto &entry : json[kind]) {
      EXPECT_NE(text.output.find(entry["name"].get<std::string>()), std::string::npos);
      for (const auto &option : entry["options"]) {
        EXPECT_TRUE(option.contains("default") && option.contains("accepts") && option.contains("help"));
      }
    }
  }
}

TEST(Cli, HelpIsThereForEveryCommand) {
  for (const std::string command : {"", "list", "solve", "race", "check", "reproduce"}) {
    const auto result = run_tool(command + " --help");
    EXPECT_EQ(result.exit_code, 0) << command;
    EXPECT_NE(result.output.find("Options"), std::string::npos) << command;
  }
  EXPECT_EQ(run_tool("--version").output.rfind("duplex ", 0), 0U);
}

TEST(Cli, SolveWritesItsTraceAndItsSolution) {
  const ScratchFolder scratch;
  const auto result = run_tool("solve --problem quadratic --solver bagdc --beta 0.2 --n 4 --m 6 --alpha 0.1 "
                               "--direction-tolerance 1e-7 --iterations 100000 --out " +
                               scratch.path().string());
  ASSERT_EQ(result.exit_code, 0) << result.output;
  const auto json = read_json(scratch.path() / "solve.json");
  EXPECT_EQ(json["options"]["problem_options"]["n"], "4");
  EXPECT_EQ(json["options"]["solver_options"]["alpha"], "0.1");
  EXPECT_EQ(json["series"][0]["status"], "direction tolerance");
  EXPECT_EQ(read_file(scratch.path() / "solve.csv").rfind("series,iteration,seconds,direction", 0), 0U);
  const auto solution = read_file(scratch.path() / "solution.csv");
  EXPECT_EQ(std::count(solution.begin(), solution.end(), '\n'), 1 + 4 + 6 + 6);
  EXPECT_NE(read_file(scratch.path() / "solve.svg").find("</svg>"), std::string::npos);
}

TEST(Cli, TheSameSeedGivesTheSameBits) {
  const ScratchFolder first;
  const ScratchFolder second;
  const std::string command = "solve --problem ridge --seed 7 --iterations 200 --out ";
  ASSERT_EQ(run_tool(command + first.path().string()).exit_code, 0);
  ASSERT_EQ(run_tool(command + second.path().string()).exit_code, 0);
  EXPECT_EQ(read_file(first.path() / "solution.csv"), read_file(second.path() / "solution.csv"));
}

TEST(Cli, TracesARunWithItsStepsForToolsThatReadAlong) {
  expect_refused("solve --problem ridge --trace out.txt", {"out.txt", ".jsonl or .csv"});
  expect_refused("solve --problem ridge --trace /proc/nowhere/t.csv", {"/proc/nowhere/t.csv", "cannot be written"});
  const ScratchFolder scratch;
  const auto lines_of = [](const std::string &text) { return std::count(text.begin(), text.end(), '\n'); };
  const std::string json = (scratch.path() / "t.jsonl").string();
  ASSERT_EQ(
      run_tool("solve --problem ridge --solver bagdc --beta 0.2 --alpha 1 --iterations 7 --trace " + json).exit_code,
      0);
  const auto lines = read_file(json);
  EXPECT_EQ(lines_of(lines), 7);
  const auto first = nlohmann::json::parse(lines.substr(0, lines.find('\n')));
  EXPECT_EQ(first["iteration"], 1);
  EXPECT_EQ(first["alpha"], 1.0);
  EXPECT_TRUE(first.contains("beta") && first.contains("eta") && first.contains("mu") && first.contains("kkt"));

  const std::string csv = (scratch.path() / "t.csv").string();
  const std::string out = (scratch.path() / "out").string();
  ASSERT_EQ(run_tool("solve --problem ridge --solver bagdc --beta 0.2 --alpha 1 --iterations 7 --out " + out +
                     " --trace " + csv)
                .exit_code,
            0);
  ASSERT_EQ(run_tool("solve --resume " + out + " --iterations 12 --trace " + csv).exit_code, 0);
  const auto table = read_file(csv);
  EXPECT_EQ(table.rfind("iteration,seconds,direction,alpha,beta,eta,mu,recoveries,kkt,upper\n1,", 0), 0U) << table;
  EXPECT_EQ(lines_of(table), 13) << "the rows of before, and those of the run that went on";
}

TEST(Cli, TracesForTensorBoardHoldTheRowsOfTheOtherTraces) {
  expect_refused("solve --problem ridge --trace trace.txt",
                 {"--trace trace.txt: expected a name that ends in .jsonl or "
                  ".csv, or, for TensorBoard, one with 'tfevents' in it"});
  const ScratchFolder scratch;
  const auto file = (scratch.path() / "runs" / "events.out.tfevents").string(); // its folder is made
  const auto result =
      run_tool("solve --problem ridge --solver bagdc --beta 0.2 --alpha 1 --iterations 5 --trace " + file);
  EXPECT_EQ(result.exit_code, 0) << result.output;
  const auto events = read_file(file);
  std::size_t records = 0;
  for (std::size_t at = 0; at < events.size(); ++records) { // length, its CRC, the message, its CRC
    const auto length = static_cast<unsigned char>(events[at]) + 256U * static_cast<unsigned char>(events[at + 1]);
    at += 8 + 4 + length + 4;
    ASSERT_LE(at, events.size());
  }
  EXPECT_EQ(records, 1U + 5U);
  EXPECT_NE(events.find("brain.Event:2"), std::string::npos);
  EXPECT_NE(events.find("direction"), std::string::npos);
  EXPECT_NE(events.find("kkt"), std::string::npos);
}

TEST(Cli, KeepsTheAnswerOfARunThatHasUsedUpItsDigits) {
  const ScratchFolder scratch;
  const auto result = run_tool("solve --problem ridge --tolerance 1e-30 --out " + scratch.path().string());
  EXPECT_EQ(result.exit_code, 1) << result.output;
  EXPECT_NE(result.output.find("stagnated"), std::string::npos) << result.output;
  EXPECT_LT(read_json(scratch.path() / "solve.json")["series"][0]["metrics"]["kkt"].get<double>(), 1e-13);
  EXPECT_TRUE(std::filesystem::exists(scratch.path() / "solution.csv"));
  const auto target = run_tool("solve --problem ridge --every 1000 --target upper=0.15"); // met between two looks
  EXPECT_EQ(target.exit_code, 0) << target.output;
}

TEST(Cli, StandingStillAtRoundingIsNoReasonToGoBack) {
  const auto result = run_tool("solve --problem quadratic --solver bagdc --beta 0.2 --alpha 1 --patience 50 --json");
  EXPECT_EQ(result.exit_code, 1);
  const auto series = nlohmann::json::parse(result.output.substr(0, result.output.rfind('}') + 1))["series"][0];
  EXPECT_EQ(series["status"], "stagnated");
  EXPECT_EQ(series["recoveries"].size(), 0U);
  EXPECT_LT(series["metrics"]["kkt"].get<double>(), 1e-12);
}

TEST(Cli, RefusesAnOptionThatIsGivenTwice) {
  expect_refused("solve --problem ridge:features=3 --features 4", {"--features is given twice"});
  expect_refused("solve --problem ridge --solver bagdc:alpha=1 --alpha 2", {"--alpha is given twice"});
}

TEST(Cli, CertifiesTheEndOfARun) {
  const auto result = run_tool("solve --problem ridge --certify --json");
  EXPECT_EQ(result.exit_code, 0) << result.output;
  const auto certificate = nlohmann::json::parse(result.output)["series"][0]["certificate"];
  EXPECT_TRUE(certificate["holds"].get<bool>());
  EXPECT_LE(certificate["hypergradient"].get<double>(), 1e-5 * certificate["first_hypergradient"].get<double>());
  EXPECT_LE(certificate["difference_error"].get<double>(), certificate["difference_tolerance"].get<double>());
  const auto text = run_tool("solve --problem ridge --certify").output;
  EXPECT_NE(text.find("differences of φ      agree along 5 random directions"), std::string::npos) << text;
}

TEST(Cli, ExitsByTheCertificateWhereOneIsAskedFor) {
  const std::string command = "solve --problem counter-example --solver nosa --direction-tolerance 1e-8";
  EXPECT_EQ(run_tool(command).exit_code, 0);
  const auto result = run_tool(command + " --certify");
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_NE(result.output.find("the certificate refutes the run: ‖∇φ(x)‖ = 6.67"), std::string::npos) << result.output;
}

TEST(Cli, GivesNoCertificateWhereTheLowerLevelHasNoMinimizer) {
  const auto result = run_tool("solve --problem quadratic --solver bagdc --alpha 0.1 --beta 0.2 --null-space 3 --mu "
                               "0.5 --iterations 100 --certify");
  EXPECT_EQ(result.exit_code, 1) << result.output;
  EXPECT_NE(result.output.find("there is no certificate"), std::string::npos) << result.output;
}

TEST(Cli, StopsWhereTheUpperLevelIsOverfitted) {
  expect_refused("solve --problem ridge --held-out-patience 0", {"--held-out-patience"});
  expect_refused("solve --problem quadratic --held-out-patience 5",
                 {"metric 'held-out': this problem has no samples that neither level sees"});
  const auto result =
      run_tool("solve --problem ridge --solver bagdc --beta 0.2 --alpha 1 --held-out-patience 5 --json");
  EXPECT_EQ(result.exit_code, 0) << result.output;
  const auto series = nlohmann::json::parse(result.output)["series"][0];
  EXPECT_EQ(series["status"], "overfitted");
  EXPECT_NE(series["message"].get<std::string>().find("held-out was smallest"), std::string::npos);
}

TEST(Cli, ExplainsWhatARunWithoutStepsHasChosen) {
  const auto result = run_tool("solve --problem ridge --explain");
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_NE(result.output.find("lower level: curvatures from"), std::string::npos) << result.output;
  EXPECT_NE(run_tool("solve --problem ridge --solver bagdc --beta 0.2 --alpha 1 --iterations 9 --explain")
                .output.find("bagdc goes by the steps that it is given; automatic chooses its own"),
            std::string::npos);
}

TEST(Cli, NamesTheSolversThatHaveAnOption) {
  expect_refused("solve --problem ridge --alpha 0.1",
                 {"--alpha: the solver automatic has no such option", "solvers that have it: bagdc, bda", "--solver"});
  expect_refused("solve --problem ridge --solver bagdc", {"alpha and beta are not given", "automatic needs no steps"});
  expect_refused("race --problem ridge --solvers nosa,bagdc:beta=1", {"alpha is not given", "automatic"});
}

TEST(Cli, RacesEveryMethodUnderItsOwnNameWithItsSteps) {
  const auto json =
      nlohmann::json::parse(run_tool("race --problem counter-example --n 5 --iterations 20 --json").output);
  std::string names;
  for (const auto &series : json["series"]) {
    names += series["name"].get<std::string>() + " ";
  }
  EXPECT_EQ(names, "automatic bagdc:alpha=0.1:beta=0.2 bda cg d-tfbo ns nosa rhg s-tfbo ");
}

TEST(Cli, WritesNoTraceOverWhatIsSomebodysOrAnotherRuns) {
  const ScratchFolder scratch;
  const std::string run = "solve --problem counter-example --iterations 3 --solver nosa ";
  const auto notes = scratch.path() / "notes.csv";
  std::ofstream(notes) << "my precious notes\n";
  expect_refused(run + "--trace " + notes.string(), {"--trace", "is there already and is no trace of Duplex"});
  EXPECT_EQ(read_file(notes), "my precious notes\n");
  const std::string out = (scratch.path() / "run").string();
  expect_refused(run + "--out " + out + " --trace " + out + "/solution.csv", {"the name of a result of this run"});
  ASSERT_EQ(run_tool(run + "--out " + out).exit_code, 0);
  const std::string before = read_file(scratch.path() / "run" / "solve.csv");
  expect_refused(run + "--trace " + out + "/solve.csv", {"a file of the run in"});
  EXPECT_EQ(read_file(scratch.path() / "run" / "solve.csv"), before);
  const std::string trace = (scratch.path() / "trace.csv").string();
  ASSERT_EQ(run_tool(run + "--trace " + trace).exit_code, 0);
  EXPECT_EQ(run_tool(run + "--trace " + trace).exit_code, 0); // one of our own is replaced
}

TEST(Cli, GoesOnSavingAsOftenAsBefore) {
  const ScratchFolder scratch;
  const std::string out = scratch.path().string();
  ASSERT_EQ(run_tool("solve --problem ridge --solver nosa --iterations 3 --save-every 0.25 --out " + out).exit_code, 0);
  ASSERT_EQ(run_tool("solve --iterations 5 --resume " + out).exit_code, 0);
  const auto saved = checkpoint::decoded(read_file(scratch.path() / "checkpoint.dpx"), "checkpoint");
  EXPECT_EQ(saved.first<SavedState::Doubles>("told save-every"), 0.25);
}

TEST(Cli, SaysWhereARunHasRecovered) {
  const auto result =
      run_tool("solve --problem counter-example --solver bagdc --alpha 0.1 --beta 40 --kkt-tolerance 1e-6");
  EXPECT_EQ(result.exit_code, 0) << result.output;
  EXPECT_NE(result.output.find("recovered: ‖d‖ grew to "), std::string::npos) << result.output;
  EXPECT_NE(result.output.find("back to step 0 with beta = 0.5"), std::string::npos) << result.output;
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

TEST(Cli, EveryBuiltInProblemPassesItsDerivativeCheck) {
  const auto list = nlohmann::json::parse(run_tool("list --json").output);
  for (const auto &problem : list["problems"]) {
    const auto name = problem["name"].get<std::string>();
    const auto result = run_tool("check --tolerance 1e-6 --problem " + name);
    EXPECT_EQ(result.exit_code, 0) << result.output;
    EXPECT_NE(result.output.find("hypergradient"), std::string::npos);
  }
  EXPECT_EQ(run_tool("check --problem counter-example:matrix=dense:n=40:condition=100").exit_code, 0);
}

/// Starts the tool, waits until it is at work, interrupts it and waits for its end.
int interrupt_tool(const std::vector<std::string> &arguments, const std::filesystem::path &output) {
  const pid_t child = fork();
  if (child == 0) {
    std::freopen(output.c_str(), "w", stdout);
    std::vector<char *> argv{
        const_cast<char *>(DUPLEX_TOOL)}; // NOLINT(cppcoreguidelines-pro-type-const-cast): execv's signature
    for (const auto &argument : arguments) {
      argv.push_back(const_cast<char *>(argument.c_str())); // NOLINT(cppcoreguidelines-pro-type-const-cast)
    }
    argv.push_back(nullptr);
    execv(DUPLEX_TOOL, argv.data());
    std::_Exit(127);
  }
  wait_for_work(child, std::chrono::milliseconds(700));
  kill(child, SIGINT);
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(Cli, CtrlCEndsASolveWithItsSummaryAndCompleteFiles) {
  const ScratchFolder scratch;
  const auto out = (scratch.path() / "out").string();
  const int code = interrupt_tool({"solve", "--solver", "bagdc", "--beta", "0.2", "--problem", "counter-example", "--n",
                                   "1000", "--alpha", "0.1", "--iterations", "1000000000", "--out", out},
                                  scratch.path() / "stdout");
  EXPECT_EQ(code, 1);
  EXPECT_NE(read_file(scratch.path() / "stdout").find("interrupted after"), std::string::npos);
  const auto json = read_json(scratch.path() / "out" / "solve.json");
  EXPECT_EQ(json["series"][0]["status"], "interrupted");
  EXPECT_TRUE(json["interrupted"].get<bool>());
  EXPECT_GT(json["series"][0]["iterations"].get<int>(), 0);
  EXPECT_NE(read_file(scratch.path() / "out" / "solve.svg").find("</svg>"), std::string::npos);
}

TEST(Cli, CtrlCEndsAReproductionWithCompleteFiles) {
  const ScratchFolder scratch;
  const auto out = (scratch.path() / "out").string();
  EXPECT_EQ(interrupt_tool({"reproduce", "fig3", "--out", out}, scratch.path() / "stdout"), 1);
  EXPECT_TRUE(read_json(scratch.path() / "out" / "fig3.json")["interrupted"].get<bool>());
  EXPECT_NE(read_file(scratch.path() / "out" / "fig3.svg").find("</svg>"), std::string::npos);
}

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
