// A run owns its folder: what must not happen there, and what survives a kill.

#include "checkpoint/run_folder.hpp"
#include "support.hpp"
#include "tool.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <set>

namespace duplex::testing {
namespace {

using checkpoint::RunFolder;
using checkpoint::RunState;
using test::read_file;
using test::ScratchFolder;
namespace fs = std::filesystem;

SavedState some_state(double number) {
  SavedState state;
  state.put("number", SavedState::Doubles{number});
  return state;
}

std::set<std::string> names_in(const fs::path &folder) {
  std::set<std::string> names;
  for (const auto &entry : fs::directory_iterator(folder)) {
    names.insert(entry.path().filename().string());
  }
  names.erase(".duplex.lock");
  return names;
}

/// A run with a checkpoint and results, as the tool does it.
void run_to_its_end(const fs::path &path, double number, const std::vector<report::NamedContent> &results) {
  RunFolder folder(path);
  folder.begin("solve", {"solve", "--out", path.string()});
  folder.save(some_state(number));
  folder.write(results);
  folder.end(RunState::finished);
}

/// What the process does is cut off by a kill.
void killed(const std::function<void()> &work) {
  const pid_t child = fork();
  if (child == 0) {
    work();
    kill(getpid(), SIGKILL);
  }
  int status = 0;
  waitpid(child, &status, 0);
  ASSERT_TRUE(WIFSIGNALED(status));
}

SavedState resumed(const fs::path &path, const RunFolder::Tell &tell = checkpoint::tell_on_standard_error) {
  RunFolder folder(path, RunFolder::Opening::existing, tell);
  folder.find("solve");
  return folder.load();
}

double number_in(const SavedState &state) { return state.first<SavedState::Doubles>("number"); }

TEST(RunFolder, IsRefusedWhileAnotherRunHasIt) {
  const ScratchFolder scratch;
  const RunFolder folder(scratch.path());
  const auto message = refusal([&] { RunFolder second(scratch.path()); });
  EXPECT_CONTAINS(message, "the folder '" + scratch.path().string() + "' is in use by process " +
                               std::to_string(getpid()) + ": wait for its end");
}

TEST(RunFolder, IsFreeAgainWhenTheProcessThatHadItWasKilled) {
  const ScratchFolder scratch;
  killed([&] {
    auto *const never_closed = new RunFolder(scratch.path());
    (void)never_closed;
  });
  EXPECT_EQ(refusal([&] { RunFolder second(scratch.path()); }), "");
}

TEST(RunFolder, IsNotMadeWhereARunIsToGoOn) {
  const ScratchFolder scratch;
  const auto missing = scratch.path() / "missing";
  EXPECT_CONTAINS(refusal([&] { RunFolder folder(missing, RunFolder::Opening::existing); }), "there is no folder");
  EXPECT_FALSE(fs::exists(missing));
  EXPECT_CONTAINS(refusal([&] { (void)resumed(scratch.path()); }), "nothing to go on from");
}

TEST(RunFolder, IsNotBegunInWhereSomebodyElsesManifestWouldBeLost) {
  const ScratchFolder scratch;
  (void)scratch.file("manifest.json", R"({"name": "a page", "icons": []})");
  RunFolder folder(scratch.path());
  EXPECT_CONTAINS(refusal([&] { folder.begin("solve", {"solve"}); }), "manifest.json' is not of a run of Duplex");
  EXPECT_EQ(read_file(scratch.path() / "manifest.json"), R"({"name": "a page", "icons": []})");
}

TEST(RunFolder, IsBegunInAgainWhereTheManifestIsDamaged) {
  const ScratchFolder scratch;
  run_to_its_end(scratch.path(), 1.0, {{"solve.json", "first"}});
  fs::resize_file(scratch.path() / "manifest.json", 200);
  EXPECT_CONTAINS(refusal([&] { (void)resumed(scratch.path()); }), "manifest.json: is damaged");
  run_to_its_end(scratch.path(), 2.0, {{"solve.json", "second"}});
  EXPECT_EQ(number_in(resumed(scratch.path())), 2.0);
}

TEST(RunFolder, LosesWhatKilledProcessesHadBegunToWriteAndNothingElse) {
  const ScratchFolder scratch;
  pid_t dead = 0;
  killed([] {});
  for (dead = 4'000'000; kill(dead, 0) == 0; --dead) {
  }
  const std::string left = ".duplex-" + std::to_string(dead) + "-0.tmp";
  const std::string alive = ".duplex-" + std::to_string(getpid()) + "-977.tmp";
  for (const std::string &name : {left, alive, std::string(".duplex-mine.tmp"), std::string("x.tmp")}) {
    (void)scratch.file(name, "half");
  }
  const RunFolder folder(scratch.path());
  EXPECT_EQ(names_in(scratch.path()), (std::set<std::string>{alive, ".duplex-mine.tmp", "x.tmp"}));
}

TEST(RunFolder, DoesNotGoOnWithAnEarlierRunInThePlaceOfOneThatWasKilledBeforeItsFirstSave) {
  const ScratchFolder scratch;
  run_to_its_end(scratch.path(), 1.0, {{"solve.json", "first"}});
  killed([&] {
    RunFolder folder(scratch.path());
    folder.begin("solve", {"solve", "--problem", "two words"});
    kill(getpid(), SIGKILL);
  });
  const auto message = refusal([&] { (void)resumed(scratch.path()); });
  EXPECT_CONTAINS(message, "the run ended before its first save");
  EXPECT_CONTAINS(message, "checkpoint.dpx: is of an earlier run");
  EXPECT_CONTAINS(message, "duplex solve --problem 'two words'");
  EXPECT_EQ(read_file(scratch.path() / "solve.json"), "first") << "it stays whole";
}

TEST(RunFolder, KeepsTheEarlierRunUntilItWritesItselfAndNothingOfItAfterwards) {
  const ScratchFolder scratch;
  (void)scratch.file("mine.txt", "a file of the user");
  run_to_its_end(scratch.path(), 1.0, {{"a.json", "first"}, {"b.csv", "first"}});
  RunFolder folder(scratch.path());
  folder.begin("solve", {"solve"});
  EXPECT_EQ(read_file(scratch.path() / "b.csv"), "first");
  folder.save(some_state(2.0));
  EXPECT_EQ(names_in(scratch.path()), (std::set<std::string>{"checkpoint.dpx", "manifest.json", "mine.txt"}));
  folder.write(std::vector<report::NamedContent>{{"a.json", "second"}});
  folder.end(RunState::finished);
  EXPECT_EQ(names_in(scratch.path()), (std::set<std::string>{"a.json", "checkpoint.dpx", "manifest.json", "mine.txt"}));
}

TEST(RunFolder, OfARunThatFailsHoldsNeitherSolutionNorCheckpointOfAnEarlierOne) {
  const ScratchFolder scratch;
  run_to_its_end(scratch.path(), 1.0, {{"solve.json", "first"}, {"solution.csv", "first"}});
  {
    RunFolder folder(scratch.path());
    folder.begin("solve", {"solve"});
    folder.write(std::vector<report::NamedContent>{{"solve.json", "failed"}});
    folder.end(RunState::failed);
  }
  EXPECT_EQ(names_in(scratch.path()), (std::set<std::string>{"manifest.json", "solve.json"}));
  const auto message = refusal([&] { (void)resumed(scratch.path()); });
  EXPECT_CONTAINS(message, "ended before its first save");
}

TEST(RunFolder, IsClearedOfAnEarlierRunEvenIfOneInBetweenWasKilled) {
  const ScratchFolder scratch;
  run_to_its_end(scratch.path(), 1.0, {{"solution.csv", "first"}});
  killed([&] {
    RunFolder folder(scratch.path());
    folder.begin("solve", {"solve"});
    kill(getpid(), SIGKILL);
  });
  RunFolder folder(scratch.path());
  folder.begin("solve", {"solve"});
  folder.write(std::vector<report::NamedContent>{{"solve.json", "third"}});
  EXPECT_EQ(names_in(scratch.path()), (std::set<std::string>{"manifest.json", "solve.json"}));
}

TEST(RunFolder, OfARunThatGoesOnAndFailsLosesTheSolutionOfItsFirstPart) {
  const ScratchFolder scratch;
  run_to_its_end(scratch.path(), 1.0, {{"solve.json", "first part"}, {"solution.csv", "first part"}});
  RunFolder folder(scratch.path(), RunFolder::Opening::existing);
  folder.find("solve");
  EXPECT_EQ(number_in(folder.load()), 1.0);
  folder.go_on();
  folder.write(std::vector<report::NamedContent>{{"solve.json", "failed"}});
  folder.end(RunState::failed);
  EXPECT_EQ(names_in(scratch.path()), (std::set<std::string>{"checkpoint.dpx", "manifest.json", "solve.json"}));
}

TEST(RunFolder, OfARunThatIsRefusedIsAsItWas) {
  const ScratchFolder scratch;
  run_to_its_end(scratch.path(), 1.0, {{"solve.json", "first"}});
  const auto before = read_file(scratch.path() / "manifest.json");
  RunFolder folder(scratch.path());
  folder.begin("solve", {"solve"});
  EXPECT_EQ(refusal([&] { folder.run([] { throw InvalidInput("wrong option"); }); }), "wrong option");
  EXPECT_EQ(read_file(scratch.path() / "manifest.json"), before);
  const ScratchFolder fresh;
  RunFolder other(fresh.path());
  other.begin("solve", {"solve"});
  EXPECT_EQ(refusal([&] { other.run([] { throw InvalidInput("wrong option"); }); }), "wrong option");
  EXPECT_TRUE(names_in(fresh.path()).empty());
}

TEST(RunFolder, SaysHowARunEnded) {
  const ScratchFolder scratch;
  const auto state = [&] { return test::read_json(scratch.path() / "manifest.json")["state"].get<std::string>(); };
  {
    RunFolder folder(scratch.path());
    folder.begin("clean", {"clean"});
    EXPECT_EQ(state(), "running");
    EXPECT_THROW(folder.run([] { throw Interrupted("interrupted"); }), Interrupted);
    EXPECT_EQ(state(), "interrupted");
  }
  try {
    RunFolder folder(scratch.path());
    folder.begin("clean", {"clean"});
    folder.run([] { throw std::runtime_error("it broke"); });
  } catch (const std::runtime_error &) {
    EXPECT_EQ(state(), "failed");
  }
}

TEST(RunFolder, ReplacesLinksAndNeverFollowsThem) {
  const ScratchFolder scratch;
  const ScratchFolder outside;
  const auto victim = outside.file("victim", "untouched");
  for (const char *name : {"solve.json", "manifest.json", "checkpoint.dpx", "checkpoint.next.dpx",
                           "checkpoint.previous.dpx", ".duplex.lock"}) {
    fs::create_symlink(victim, scratch.path() / name);
  }
  run_to_its_end(scratch.path(), 1.0, {{"solve.json", "result"}});
  RunFolder folder(scratch.path(), RunFolder::Opening::existing);
  folder.find("solve");
  (void)folder.load();
  folder.go_on();
  folder.save(some_state(2.0));
  EXPECT_EQ(read_file(victim), "untouched");
  for (const char *name :
       {"solve.json", "manifest.json", "checkpoint.dpx", "checkpoint.previous.dpx", ".duplex.lock"}) {
    EXPECT_TRUE(fs::is_regular_file(fs::symlink_status(scratch.path() / name))) << name;
  }
}

TEST(RunFolder, OutlivesACheckpointThatCannotBeWrittenAndSaysSoOnce) {
  const ScratchFolder scratch;
  std::vector<std::string> told;
  RunFolder folder(scratch.path(), RunFolder::Opening::make, [&](const std::string &text) { told.push_back(text); });
  folder.begin("solve", {"solve"});
  folder.save(some_state(1.0));
  const auto in_the_way = scratch.path() / "checkpoint.next.dpx";
  fs::create_directories(in_the_way / "full");
  folder.save(some_state(2.0));
  folder.save(some_state(3.0));
  ASSERT_EQ(told.size(), 1U);
  EXPECT_CONTAINS(told.front(), "no checkpoint: cannot write");
  EXPECT_CONTAINS(told.front(), "the run goes on");
  EXPECT_CONTAINS(refusal<std::runtime_error>([&] { folder.end(RunState::finished); }), "cannot write");
}

TEST(RunFolder, TriesAgainAfterACheckpointThatCouldNotBeWritten) {
  const ScratchFolder scratch;
  {
    RunFolder folder(scratch.path(), RunFolder::Opening::make, [](const std::string &) {});
    folder.begin("solve", {"solve"});
    const auto in_the_way = scratch.path() / "checkpoint.next.dpx";
    fs::create_directories(in_the_way / "full");
    folder.save(some_state(1.0));
    fs::remove_all(in_the_way);
    folder.save(some_state(2.0));
    folder.end(RunState::finished);
  }
  EXPECT_EQ(number_in(resumed(scratch.path())), 2.0);
}

TEST(RunFolder, UsesTheCheckpointBeforeWhereTheNewestIsCutShort) {
  const ScratchFolder scratch;
  {
    RunFolder folder(scratch.path());
    folder.begin("solve", {"solve"});
    for (const double number : {1.0, 2.0, 3.0}) {
      folder.save(some_state(number));
    }
  }
  EXPECT_EQ(number_in(resumed(scratch.path())), 3.0);
  fs::resize_file(scratch.path() / "checkpoint.dpx", 30);
  std::string told;
  EXPECT_EQ(number_in(resumed(scratch.path(), [&](const std::string &text) { told = text; })), 2.0);
  EXPECT_CONTAINS(told, "cut short");
  EXPECT_CONTAINS(told, "going on from the one before");
  fs::resize_file(scratch.path() / "checkpoint.previous.dpx", 30);
  EXPECT_CONTAINS(refusal([&] { (void)resumed(scratch.path()); }), "what the run has saved cannot be read");
}

TEST(RunFolder, DoesNotLetADamagedCheckpointTakeThePlaceOfAGoodOne) {
  const ScratchFolder scratch;
  {
    RunFolder folder(scratch.path());
    folder.begin("solve", {"solve"});
    folder.save(some_state(1.0));
    folder.save(some_state(2.0));
    fs::resize_file(scratch.path() / "checkpoint.dpx", 30);
    folder.save(some_state(3.0));
  }
  fs::resize_file(scratch.path() / "checkpoint.dpx", 30);
  EXPECT_EQ(number_in(resumed(scratch.path(), [](const std::string &) {})), 1.0);
}

TEST(RunFolder, RefusesInputsThatAreNotWhatTheyWere) {
  const ScratchFolder scratch;
  const auto data = scratch.file("data.csv", "1,2,3");
  const auto pipe = (scratch.path() / "pipe").string();
  const auto out = scratch.path() / "out";
  const auto run_with = [&](const std::string &input) {
    RunFolder folder(out);
    folder.begin("solve", {"solve"});
    folder.add_input(input);
    folder.save(some_state(1.0));
    folder.end(RunState::finished);
  };
  const auto refused = [&] {
    return refusal([&] {
      RunFolder folder(out, RunFolder::Opening::existing);
      folder.find("solve");
      folder.go_on();
    });
  };
  run_with(data);
  EXPECT_EQ(refused(), "");
  (void)scratch.file("data.csv", "1,2,4");
  EXPECT_CONTAINS(refused(), "data.csv', which the run in '" + out.string() + "' has read, has other content");
  (void)scratch.file("data.csv", "1,2,34");
  EXPECT_CONTAINS(refused(), "has 6 bytes, and had 5");
  fs::remove(data);
  EXPECT_CONTAINS(refused(), "is not there any more");
  fs::create_directory(data);
  EXPECT_CONTAINS(refused(), "is not a plain file any more");
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  run_with(pipe);
  EXPECT_CONTAINS(refused(), "is no plain file");
}

TEST(RunFolder, RefusesAnInputThatTheRunHasNotReadBefore) {
  const ScratchFolder scratch;
  run_to_its_end(scratch.path() / "out", 1.0, {});
  RunFolder folder(scratch.path() / "out", RunFolder::Opening::existing);
  folder.find("solve");
  folder.go_on();
  const auto other = scratch.file("other.csv", "1");
  EXPECT_CONTAINS(refusal([&] { folder.add_input(other); }), "other.csv' would be read");
}

TEST(RunFolder, KeepsResultsOfTheSameCommandWhereThatIsAskedFor) {
  const ScratchFolder scratch;
  const auto run = [&](const std::string &command, const std::string &name) {
    RunFolder folder(scratch.path());
    folder.begin(command, {command}, RunFolder::Earlier::kept);
    folder.write(std::vector<report::NamedContent>{{name, name}});
    folder.end(RunState::finished);
  };
  run("solve", "solve.json");
  run("reproduce", "fig1.json");
  run("reproduce", "fig2.json");
  EXPECT_EQ(names_in(scratch.path()), (std::set<std::string>{"fig1.json", "fig2.json", "manifest.json"}));
  EXPECT_EQ(test::read_json(scratch.path() / "manifest.json")["results"].size(), 2U);
}

} // namespace
} // namespace duplex::testing
