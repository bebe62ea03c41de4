// Problems on samples through the tool: from files, and in batches.

#include "tool.hpp"

namespace duplex::test {
namespace {

/// Two clouds of two features, of which the first tells them apart, as LIBSVM text.
std::string clouds(int rows) {
  std::string text;
  for (int i = 0; i < rows; ++i) {
    const int noise = (37 * i) % 11 - 5;
    text += (i % 2 == 0 ? "-1" : "+1") + std::string(" 1:") + std::to_string((i % 2 == 0 ? -3 : 3) + noise) +
            " 2:" + std::to_string((53 * i) % 7) + "\n";
  }
  return text;
}

TEST(CliSamples, AreRefusedWithASentence) {
  const ScratchFolder folder;
  const std::string three = folder.file("three.csv", "a,kind\n1,x\n2,y\n3,z\n4,x\n");
  const std::string two = folder.file("two.svm", clouds(10));
  for (const std::string command : {"solve", "race", "check"}) {
    expect_refused(command + " --problem logistic --data nowhere.svm", {"nowhere.svm", "cannot be opened"});
    expect_refused(command + " --problem logistic --label kind --data " + three,
                   {"three.csv", "found 3 classes, expected 2", "--problem softmax"});
    expect_refused(command + " --problem ridge --data " + two, {"unknown option 'data'"});
  }
  expect_refused("solve --problem logistic --penalties class --data " + two,
                 {"penalties = class, expected one or feature"});
  expect_refused("solve --problem logistic --trace " + two + " --data " + two, {"--trace", "two.svm"});
}

TEST(CliSamples, InBatchesAreRefusedWhereThereIsNoSumOrNoStep) {
  expect_refused("solve --problem ridge --solver soba --batch 4",
                 {"--batch: the problem ridge is no sum over samples"});
  expect_refused("race --problem ridge --batch 4", {"--batch: the problem ridge is no sum over samples"});
  expect_refused("solve --problem logistic --batch 4",
                 {"--batch: automatic chooses its steps", "expected a solver with steps"});
  expect_refused("solve --problem logistic --solver soba --batch 100", {"batches of 100 samples", "60 of the lower"});
  expect_refused("solve --problem logistic --solver soba --batch -1", {"--batch = -1", ">= 0"});
  const ScratchFolder folder;
  expect_refused("solve --resume " + folder.path().string() + " --batch 4", {"--resume", "--batch"});
}

TEST(CliSamples, OfTwoFilesAreRacedOverSeedsOnlyInBatches) {
  const ScratchFolder folder;
  const std::string data = folder.file("clouds.svm", clouds(60));
  const std::string race = "race --problem logistic --solvers soba --iterations 20 --seeds 2 --data " + data;
  const std::string both = race + " --validation " + data;
  expect_refused(both, {"--seeds: the rows of --data and --validation are the same for every seed",
                        "expected --batch N", "without --validation"});
  const auto in_batches = run_tool(both + " --batch 10");
  EXPECT_NE(in_batches.output.find("every seed has the same samples, in batches of another order"), std::string::npos)
      << in_batches.output;
  const auto drawn = run_tool(race + " --batch 10");
  EXPECT_EQ(drawn.output.find("every seed has the same samples"), std::string::npos) << drawn.output;
  const auto series = [](const std::string &command) {
    return nlohmann::json::parse(run_tool(command + " --json").output)["series"];
  };
  for (const auto &command : {both + " --batch 10", race}) {
    const auto runs = series(command);
    ASSERT_EQ(runs.size(), 2U) << command;
    EXPECT_NE(runs[0]["metrics"]["true-hypergradient"], runs[1]["metrics"]["true-hypergradient"]) << command;
  }
}

TEST(CliSamples, FromAFileAreSolvedAndChecked) {
  const ScratchFolder folder;
  const std::string data = " --data " + folder.file("clouds.svm", clouds(60));
  const auto solved = run_tool("solve --problem logistic --json" + data);
  EXPECT_EQ(solved.exit_code, 0) << solved.output;
  const auto json = nlohmann::json::parse(solved.output);
  EXPECT_EQ(json["series"][0]["status"], "tolerance verified");
  EXPECT_LT(json["series"][0]["metrics"]["upper"].get<double>(), 0.6); // log 2 without any weights
  EXPECT_EQ(json["options"]["batch"], 0);
  for (const std::string problem : {"logistic", "softmax --penalties class", "hyper-cleaning"}) {
    const auto checked = run_tool("check --problem " + problem + data);
    EXPECT_EQ(checked.exit_code, 0) << checked.output;
  }
}

TEST(CliSamples, OfFilesWhoseColumnsAreLeftOutAreTold) {
  const ScratchFolder folder;
  std::string csv = "a,note,kind\n";
  for (int i = 0; i < 30; ++i) {
    csv += std::to_string((37 * i) % 11) + ",text " + std::to_string(i) + "," + (i % 2 == 0 ? "x" : "y") + "\n";
  }
  const auto result =
      run_tool("solve --problem softmax --label kind --iterations 2 --data " + folder.file("t.csv", csv));
  EXPECT_NE(result.output.find("note"), std::string::npos) << result.output;
}

TEST(CliSamples, InBatchesGoOnToTheSameBits) {
  const ScratchFolder folder;
  const std::string data = folder.file("clouds.svm", clouds(60));
  const std::string whole = (folder.path() / "whole").string();
  const std::string parts = (folder.path() / "parts").string();
  for (const std::string run :
       {"--problem softmax --solver saba --alpha 0.05", "--problem hyper-cleaning --solver soba",
        "--problem logistic --solver bagdc --alpha 0.1 --beta 0.1"}) {
    const std::string start = "solve " + run + " --seed 3 --batch 7 --data " + data + " --iterations ";
    const auto uninterrupted = run_tool(start + "60 --out " + whole);
    ASSERT_EQ(uninterrupted.exit_code, 0) << uninterrupted.output;
    ASSERT_EQ(run_tool(start + "25 --out " + parts).exit_code, 0);
    const auto second = run_tool("solve --iterations 60 --resume " + parts);
    ASSERT_EQ(second.exit_code, 0) << second.output;
    EXPECT_EQ(read_json(parts + "/solve.json")["options"]["batch"], 7);
    EXPECT_EQ(read_file(parts + "/solution.csv"), read_file(whole + "/solution.csv")) << run;
    ASSERT_EQ(run_tool("solve " + run + " --seed 3 --data " + data + " --iterations 60 --out " + parts).exit_code, 0);
    EXPECT_NE(read_file(parts + "/solution.csv"), read_file(whole + "/solution.csv")) << "no batches were drawn";
  }
  (void)folder.file("clouds.svm", clouds(61));
  expect_refused("solve --iterations 90 --resume " + parts, {"clouds.svm", "put back what it was"});
}

TEST(CliSamples, InBatchesAreRacedAndThoseWithoutStepsSeeAll) {
  const auto raced = run_tool("race --problem logistic --batch 16 --solvers automatic,soba:alpha=0.1 --iterations 30 "
                              "--target upper=0 --time-limit 60");
  EXPECT_EQ(raced.exit_code, 1) << raced.output; // no loss is zero
  EXPECT_NE(raced.output.find("each step on 16 samples of each level; of automatic on all of them"), std::string::npos)
      << raced.output;
  const auto race = [](const std::string &more) {
    return nlohmann::json::parse(run_tool("race --problem logistic --solvers automatic,soba:alpha=0.1 --iterations 30 "
                                          "--target upper=0 --json " +
                                          more)
                                     .output);
  };
  const auto whole = race("");
  const auto batched = race("--batch 16");
  EXPECT_EQ(batched["options"]["batch"], 16);
  EXPECT_EQ(batched["options"]["on_all_samples"], nlohmann::json::array({"automatic"}));
  const auto direction = [](const nlohmann::json &json, std::size_t i) {
    return json["series"][i]["metrics"]["direction"].get<double>();
  };
  EXPECT_EQ(direction(batched, 0), direction(whole, 0));
  EXPECT_NE(direction(batched, 1), direction(whole, 1));
}

TEST(CliSamples, AreListedWithTheirFiles) {
  for (const std::string problem : {"logistic", "softmax", "hyper-cleaning"}) {
    const auto listed = run_tool("list " + problem);
    EXPECT_EQ(listed.exit_code, 0);
    for (const std::string option : {"--data ", "--label ", "--validation ", "--validation-part ", "--seed "}) {
      EXPECT_NE(listed.output.find(option), std::string::npos) << option << "\n" << listed.output;
    }
  }
  EXPECT_EQ(run_tool("list ridge").output.find("--data"), std::string::npos);
}

} // namespace
} // namespace duplex::test
