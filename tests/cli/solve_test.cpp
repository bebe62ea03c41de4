// `duplex solve`: how runs end, what they write and what they say.

#include "checkpoint/checkpoint.hpp"
#include "tool.hpp"

#include <algorithm>

namespace duplex::test {
namespace {

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

TEST(Cli, CertifiesTheBiasOfAMethodWithoutSecondDerivatives) {
  const std::string command = "solve --problem counter-example --solver f2sa --iterations 300 --penalty 100 "
                              "--penalty-growth 0 --inner 60 --beta 0.8 --certify";
  const auto text = run_tool(command).output;
  EXPECT_NE(text.find("that is the bias of a method without second derivatives"), std::string::npos) << text;
  const auto certificate = nlohmann::json::parse(run_tool(command + " --json").output)["series"][0]["certificate"];
  EXPECT_LE(certificate["direction"].get<double>(), 1e-4 * certificate["direction_error"].get<double>());
  EXPECT_NEAR(certificate["direction_error"].get<double>() / certificate["direction_hypergradient"].get<double>(), 1.0,
              1e-3);
  const auto of_bagdc = run_tool("solve --problem counter-example --solver bagdc --alpha 0.1 --beta 0.2 --iterations "
                                 "200 --certify --json");
  const auto unbiased = nlohmann::json::parse(of_bagdc.output)["series"][0]["certificate"];
  EXPECT_LE(unbiased["direction_error"].get<double>(), 1e-6);
}

TEST(Cli, RefutesNoClaimThatIsRight) {
  // A start whose y, clipped with x, leads nowhere; and a lower solve whose rounding is more than that of φ.
  for (const std::string problem :
       {"--seed 647723 --condition 1.31 --smallest 7.003e-07 --start -3 --tolerance 1e-10 --x-lower 0",
        "--seed 910979 --condition 1.195e+07 --smallest 8.056 --start 1e6 --tolerance 1e-3 --x-upper 1"}) {
    const auto text = run_tool("solve --problem counter-example --n 10 --matrix dense --certify " + problem).output;
    EXPECT_NE(text.find("the run claims   is borne out"), std::string::npos) << text;
    EXPECT_EQ(text.find("DISAGREE"), std::string::npos) << text;
  }
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

} // namespace
} // namespace duplex::test
