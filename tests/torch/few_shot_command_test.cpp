// `duplex few-shot` as a user meets it, on digits drawn for the test.

#include "support.hpp"
#include "tool.hpp"

#include "checkpoint/checkpoint.hpp"
#include "fewshot/training.hpp"

#include <fmt/format.h>

#include <atomic>
#include <limits>

namespace duplex::test {
namespace {

void append_big_endian(std::string &to, std::uint32_t number) {
  for (int shift = 24; shift >= 0; shift -= 8) {
    to += static_cast<char>(number >> static_cast<unsigned>(shift) & 0xFFU);
  }
}

/// MNIST's four files with ten images of each digit: a bright bar whose place and slope tell the digit.
class DrawnDigits {
public:
  DrawnDigits() {
    write("train", 100);
    write("t10k", 10);
  }
  [[nodiscard]] std::string options() const {
    return fmt::format(
        "few-shot --device cpu --threads 2 --mnist {} --ways 3 --queries 3 --meta-batch 3 --head-steps 4 "
        "--images-per-class 8 --look-tasks 6 --test-tasks 12 ",
        folder_.path().string());
  }

  [[nodiscard]] fewshot::Settings settings(std::int64_t steps, std::int64_t look_every) const {
    fewshot::Settings tiny;
    tiny.shape = {.ways = 3, .shots = 1, .queries = 3};
    tiny.meta_batch = 3;
    tiny.head_steps = 4;
    tiny.images_per_class = 8;
    tiny.look_tasks = 6;
    tiny.look_every = look_every;
    tiny.test_tasks = 6;
    tiny.steps = steps;
    tiny.device = "cpu";
    tiny.threads = 2;
    tiny.mnist = folder_.path().string();
    return tiny;
  }

private:
  void write(const std::string &set, std::uint32_t count) const {
    std::string images("\0\0\x08\x03", 4);
    std::string labels("\0\0\x08\x01", 4);
    append_big_endian(images, count);
    append_big_endian(images, 28);
    append_big_endian(images, 28);
    append_big_endian(labels, count);
    for (std::uint32_t i = 0; i < count; ++i) {
      const int digit = static_cast<int>(i % 10);
      std::string image(28 * 28, '\0');
      for (int r = 4; r < 24; ++r) {
        const int column = 2 + 2 * digit + (digit % 2 == 0 ? r / 8 : -r / 8) + static_cast<int>(i / 10 % 2);
        for (int c = column; c < column + 4; ++c) {
          image[static_cast<std::size_t>(28 * r + c)] = '\xF0';
        }
      }
      images += image;
      labels += static_cast<char>(digit);
    }
    std::ofstream(folder_.path() / (set + "-images-idx3-ubyte"), std::ios::binary) << images;
    std::ofstream(folder_.path() / (set + "-labels-idx1-ubyte"), std::ios::binary) << labels;
  }

  ScratchFolder folder_;
};

TEST(FewShotCommand, RefusesWrongSettingsWithWhatWasFoundAndExpected) {
  const ScratchFolder out;
  const std::string command = "few-shot --out " + out.path().string() + " ";
  expect_refused(command + "--ways 1", {"ways = 1", ">= 2"});
  expect_refused(command + "--ways 21", {"ways = 21", "<= 20"});
  expect_refused(command + "--ways 17 --look-on validation", {"ways = 17", "16 classes", "validation"});
  expect_refused(command + "--pool 3", {"pool = 3", "8 tasks"});
  expect_refused(command + "--images-per-class 10", {"15 queries", "10 images"});
  expect_refused(command + "--images-per-class 1125899906842624", {"images-per-class", "<= 1e+05"});
  expect_refused(command + "--pool 9223372036854775807", {"pool", "<= 1e+06"});
  expect_refused(command + "--alpha nonsense", {"alpha = 'nonsense'"});
  expect_refused(command + "--solver bagcd", {"bagcd", "did you mean 'bagdc'"});
  expect_refused(command + "--etta 0.1", {"etta", "did you mean 'eta'"});
  expect_refused(command + "--device gpu", {"device = 'gpu'"});
  expect_refused(command + "--graph on --device cpu --mnist /nowhere", {"/nowhere", "scripts/mnist.sh"});
  expect_refused("few-shot --out /dev/null/x --mnist /nowhere", {"/dev/null/x"});
}

TEST(FewShotCommand, RefusesOptionsOfTheSolverThatItWouldNotUse) {
  const DrawnDigits digits;
  const ScratchFolder out;
  const std::string command = digits.options() + "--steps 1 --out " + out.path().string();
  expect_refused(command + " --solver bagdc:alpha=7", {"alpha = 7", "--alpha"});
  expect_refused(command + " --momentum 0.3", {"momentum = 0.3", "Adam"});
}

TEST(FewShotCommand, EndsWhenAskedToWithACheckpointToGoOnFrom) {
  const DrawnDigits digits;
  const ScratchFolder out;
  const std::string log = (out.path() / "log").string();
  const auto result =
      run_command(fmt::format("{} {}--steps 1000000 --look-every 2 --out {} > {} 2>&1 & process=$!; "
                              "for i in $(seq 600); do grep -q 'step     2' {} && break; sleep 0.1; done; "
                              "kill -TERM $process; wait $process; cat {}",
                              DUPLEX_TOOL, digits.options(), out.path().string(), log, log, log));
  EXPECT_CONTAINS(result.output, "go on with: duplex few-shot --resume " + out.path().string());
  const auto steps = read_json(out.path() / "summary.json")["steps"].get<int>();
  EXPECT_GE(steps, 2);
  EXPECT_TRUE(read_json(out.path() / "summary.json")["test"].is_null());
  const auto second = run_tool("few-shot --steps " + std::to_string(steps + 2) + " --resume " + out.path().string());
  EXPECT_EQ(second.exit_code, 0) << second.output;
}

TEST(FewShotCommand, GoesOnWithTheRunThatWasLastInTheFolder) {
  const DrawnDigits digits;
  const ScratchFolder out;
  const std::string folder = out.path().string();
  ASSERT_EQ(run_tool(digits.options() + "--seed 1 --steps 2 --out " + folder).exit_code, 0);
  ASSERT_EQ(run_tool(digits.options() + "--seed 2 --steps 1 --out " + folder).exit_code, 0);
  std::filesystem::resize_file(out.path() / "checkpoint.dpx", 100); // the one before is of seed 2 too
  ASSERT_EQ(run_tool("few-shot --steps 2 --resume " + folder).exit_code, 0);
  EXPECT_EQ(read_json(out.path() / "summary.json")["settings"]["seed"], 2);
}

TEST(FewShotCommand, RefusesGraphsOnACpu) {
  const DrawnDigits digits;
  const ScratchFolder out;
  expect_refused(digits.options() + "--steps 1 --graph on --out " + out.path().string(), {"graph = on", "CUDA"});
}

TEST(FewShotCommand, RefusesToGoOnFromNothingOrWithOtherSettings) {
  const DrawnDigits digits;
  const ScratchFolder out;
  expect_refused("few-shot --resume " + out.path().string(), {"nothing to go on from", "manifest.json"});
  const std::string folder = (out.path() / "run").string();
  ASSERT_EQ(run_tool(digits.options() + "--steps 1 --out " + folder).exit_code, 0);
  expect_refused("few-shot --ways 4 --resume " + folder, {"--ways", "--steps"});
  expect_refused("few-shot --eta 0.2 --resume " + folder, {"--eta"});
}

TEST(FewShotCommand, TrainsTestsAndWritesWhatItFound) {
  const DrawnDigits digits;
  const ScratchFolder out;
  const auto result = run_tool(digits.options() + "--steps 4 --look-every 2 --out " + out.path().string());
  EXPECT_EQ(result.exit_code, 0) << result.output;
  EXPECT_CONTAINS(result.output, "step     4");
  EXPECT_CONTAINS(result.output, "on 12 tasks of classes never seen");
  const auto summary = read_json(out.path() / "summary.json");
  EXPECT_EQ(summary["steps"], 4);
  EXPECT_EQ(summary["looks"].size(), 3U);
  EXPECT_GE(summary["test"]["accuracy"].get<double>(), 0.2);
  EXPECT_EQ(summary["settings"]["meta-batch"], 3);
  EXPECT_TRUE(std::filesystem::exists(out.path() / "backbone.pt"));
  EXPECT_CONTAINS(read_file(out.path() / "looks.csv"), "step,seconds,accuracy,half_width");
}

TEST(FewShotCommand, ExitsWithOneWhereTheTargetIsNotReached) {
  const DrawnDigits digits;
  const ScratchFolder out;
  EXPECT_EQ(run_tool(digits.options() + "--steps 1 --target 1 --out " + out.path().string()).exit_code, 1);
}

TEST(FewShotCommand, GoesOnToTheSameBitsAsARunThatWasNotInterrupted) {
  const DrawnDigits digits;
  const ScratchFolder out;
  const std::string whole = (out.path() / "whole").string();
  const std::string parts = (out.path() / "parts").string();
  ASSERT_EQ(run_tool(digits.options() + "--pool 9 --steps 6 --out " + whole).exit_code, 0);
  ASSERT_EQ(run_tool(digits.options() + "--pool 9 --steps 3 --out " + parts).exit_code, 0);
  const auto second = run_tool("few-shot --steps 6 --resume " + parts);
  ASSERT_EQ(second.exit_code, 0) << second.output;
  EXPECT_EQ(read_json(out.path() / "parts" / "summary.json")["steps"], 6);
  EXPECT_TRUE(read_file(whole + "/backbone.pt") == read_file(parts + "/backbone.pt"));
}

TEST(FewShotCommand, LooksItsImagesUpWhereItWasStartedAndRefusesOthers) {
  const DrawnDigits digits;
  const ScratchFolder out;
  const auto folder = out.path() / "run";
  const auto images = out.path() / "digits";
  std::filesystem::copy(digits.settings(1, 1).mnist, images);
  std::string options = digits.options();
  options.replace(options.find(digits.settings(1, 1).mnist), digits.settings(1, 1).mnist.size(), "digits");
  const auto first =
      run_command("cd " + out.path().string() + " && " + DUPLEX_TOOL + " " + options + "--steps 1 --out run");
  ASSERT_EQ(first.exit_code, 0) << first.output;
  EXPECT_EQ(read_json(folder / "manifest.json")["inputs"].size(), 4U);
  const auto second = run_tool("few-shot --steps 2 --resume " + folder.string()); // from another folder
  EXPECT_EQ(second.exit_code, 0) << second.output;
  std::ofstream(images / "t10k-labels-idx1-ubyte", std::ios::app) << 'x';
  expect_refused("few-shot --steps 3 --resume " + folder.string(),
                 {"t10k-labels-idx1-ubyte", "has 19 bytes, and had 18"});
}

TEST(FewShotCommand, IsRefusedWhileAnotherRunHasItsFolder) {
  const DrawnDigits digits;
  const ScratchFolder out;
  RunningTool first({"solve", "--solver", "bagdc", "--beta", "0.2", "--problem", "counter-example", "--alpha", "0.1",
                     "--iterations", "1000000000000", "--every", "1000000000", "--out", out.path().string()});
  ASSERT_TRUE(first.wait_until([&] { return std::filesystem::exists(out.path() / "manifest.json"); }));
  expect_refused(digits.options() + "--steps 1 --out " + out.path().string(), {"is in use by process"});
}

TEST(FewShotCommand, RefusesForgedCheckpointsWhoseChecksumIsRight) {
  const DrawnDigits digits;
  const ScratchFolder out;
  const auto file = out.path() / "checkpoint.dpx";
  ASSERT_EQ(run_tool(digits.options() + "--steps 1 --out " + out.path().string()).exit_code, 0);
  const auto good = checkpoint::decoded(read_file(file), "checkpoint");
  std::filesystem::remove(out.path() / "checkpoint.previous.dpx");
  const auto expect_forged = [&](const std::string &entry, SavedState::Value value, const char *part) {
    SavedState state = good;
    ASSERT_TRUE(state.has(entry)) << entry;
    state.put(entry, std::move(value));
    std::ofstream(file, std::ios::binary) << checkpoint::encoded(state);
    expect_refused("few-shot --steps 3 --resume " + out.path().string(), {part});
  };
  const double no_number = std::numeric_limits<double>::quiet_NaN();
  expect_forged("looks", SavedState::Doubles{no_number, 0.0, 0.5, 0.1}, "a step in 'looks' of the saved state is nan");
  expect_forged("looks", SavedState::Doubles{1.0, 0.0, 7.0, 0.1}, "an accuracy in 'looks' of the saved state is 7");
  expect_forged("seconds", SavedState::Doubles{no_number}, "the time of the saved state is nan");
  expect_forged("iterations", SavedState::Integers{-1}, "'iterations' of the saved state is -1");
  expect_forged("solver", std::string("bagdc"), "of the solver bagdc, expected few-shot");
  expect_forged("x", SavedState::Floats(3, 0.0F), "'x'");
  expect_forged("upper.first", SavedState::Floats(3, 0.0F), "'upper.first'");
  expect_forged("setting ways", std::string("-3"), "ways = -3");
  expect_forged("setting threads", std::string("99999999999"), "'setting threads'");
}

TEST(FewShotTraining, SaysWhichLevelBrokeAndAtWhichStep) {
  const DrawnDigits digits;
  auto settings = digits.settings(3, 10);
  SavedState saved;
  settings.steps = 1;
  (void)fewshot::train(settings, {.progress = {}, .look = {}, .save = [&](const SavedState &state) { saved = state; }});
  auto poisoned = saved.get<SavedState::Floats>("x");
  poisoned[0] = std::numeric_limits<float>::quiet_NaN();
  saved.put("x", poisoned);
  settings.steps = 4;
  EXPECT_CONTAINS(testing::refusal<std::runtime_error>([&] { (void)fewshot::train(settings, {}, &saved); }),
                  "upper level: the backbone or its direction is not finite at step 2; try a smaller --alpha");
  settings.solver = "bagdc:eta=1e30";
  EXPECT_CONTAINS(testing::refusal<std::runtime_error>([&] { (void)fewshot::train(settings); }),
                  "lower level: the heads are not finite at step 1; try a smaller --head-step");
}

TEST(FewShotTraining, EndsWhenItsSecondsAreUsedUpAndDoesNoStepMoreWhereItGoesOn) {
  const DrawnDigits digits;
  auto settings = digits.settings(1'000'000, 1'000'000);
  settings.seconds = 1e-9;
  SavedState saved;
  const fewshot::Hooks hooks{.progress = {}, .look = {}, .save = [&](const SavedState &state) { saved = state; }};
  for (const bool goes_on : {false, true}) {
    const auto from = saved;
    const auto outcome = fewshot::train(settings, hooks, goes_on ? &from : nullptr);
    EXPECT_EQ(outcome.ending, fewshot::Ending::seconds);
    EXPECT_EQ(outcome.steps, 1);
    EXPECT_EQ(outcome.looks.size(), 2U);
    EXPECT_TRUE(outcome.test.has_value());
  }
}

TEST(FewShotTraining, LooksAgainWhereALookWasInterrupted) {
  const DrawnDigits digits;
  auto settings = digits.settings(5, 2);
  std::atomic<bool> interrupt{false};
  SavedState saved;
  const auto first = fewshot::train(
      settings, {.progress = [&](std::int64_t step, double, const fewshot::Look &) { interrupt = step == 2; },
                 .look = {},
                 .save = [&](const SavedState &state) { saved = state; },
                 .interrupt = &interrupt});
  ASSERT_EQ(first.steps, 2);
  ASSERT_EQ(first.looks.size(), 1U); // the one at step 2 is missing
  settings.target = 0.01;            // which the first look will have
  const auto at_target = fewshot::train(settings, {}, &saved);
  EXPECT_EQ(at_target.steps, 2);
  EXPECT_EQ(at_target.ending, fewshot::Ending::target);
  settings.target = 0.0;
  const auto second = fewshot::train(settings, {}, &saved);
  ASSERT_EQ(second.looks.size(), 4U);
  EXPECT_EQ(second.looks[1].step, 2);
  EXPECT_EQ(second.looks[3].step, 5);
}

TEST(FewShotTraining, SaysThatTheTargetIsReachedByTheLastLookToo) {
  const DrawnDigits digits;
  auto settings = digits.settings(4, 10);
  const auto looks = fewshot::train(settings).looks;
  ASSERT_EQ(looks.size(), 2U);
  settings.target = looks.back().found.accuracy;
  const auto outcome = fewshot::train(settings); // ends at the first look where that was better already
  EXPECT_EQ(outcome.ending, fewshot::Ending::target) << "after " << outcome.steps << " steps";
}

} // namespace
} // namespace duplex::test
