// What every command refuses, lists and explains, and how it ends by Ctrl-C.

#include "tool.hpp"

#include <unistd.h>

#include <chrono>
#include <csignal>
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
  expect_refused("clean --demo mnist --data somewhere", {"unknown option 'data'", "did you mean 'data-dir'"});
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

TEST(Cli, SaysSoWhereItsOutputCannotBeWritten) {
  EXPECT_EQ(run_tool("solve --problem counter-example >/dev/full").exit_code, 1);
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

TEST(Cli, RefusesAnOptionThatIsGivenTwice) {
  expect_refused("solve --problem ridge:features=3 --features 4", {"--features is given twice"});
  expect_refused("solve --problem ridge --solver bagdc:alpha=1 --alpha 2", {"--alpha is given twice"});
}

TEST(Cli, NamesTheSolversThatHaveAnOption) {
  expect_refused("solve --problem ridge --alpha 0.1",
                 {"--alpha: the solver automatic has no such option", "solvers that have it: bagdc, bda", "--solver"});
  expect_refused("solve --problem ridge --solver bagdc", {"alpha and beta are not given", "automatic needs no steps"});
  expect_refused("race --problem ridge --solvers nosa,bagdc:beta=1", {"alpha is not given", "automatic"});
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
  RunningTool tool(arguments, output);
  wait_for_work(tool.process(), std::chrono::milliseconds(700));
  return tool.end(SIGINT);
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

} // namespace
} // namespace duplex::test
