// Checkpoints: damaged and foreign ones are refused with the reason, and the one before is used.

#include "checkpoint/store.hpp"
#include "support.hpp"
#include "tool.hpp"

#include <duplex/error.hpp>

namespace duplex::testing {
namespace {

using test::ScratchFolder;

SavedState some_checkpoint(double number) {
  SavedState state;
  state.put("who", "me: a \"quote\", a newline\nand a zero \0 byte");
  state.put("x", std::vector<double>{1.0 / 3.0, -0.0, number});
  state.put("f", std::vector<float>{0.1F});
  state.put("n", std::vector<std::int64_t>{-1, std::int64_t{1} << 60});
  state.put("nothing", std::vector<double>{});
  return state;
}

std::string refusal_of(const std::string &bytes) {
  return refusal([&] { (void)checkpoint::decoded(bytes, "file"); });
}

TEST(Checkpoint, RefusesWhatIsNotOneOrIsDamaged) {
  const std::string good = checkpoint::encoded(some_checkpoint(2.0));
  EXPECT_EQ(refusal_of(""), "file: not a checkpoint of Duplex");
  EXPECT_EQ(refusal_of("{\"json\": 1}"), "file: not a checkpoint of Duplex");
  for (std::size_t length = 0; length < good.size(); ++length) {
    EXPECT_NE(refusal_of(good.substr(0, length)), "") << length;
  }
  for (std::size_t byte = 0; byte < good.size(); ++byte) {
    std::string damaged = good;
    damaged[byte] = static_cast<char>(damaged[byte] ^ 0x10);
    EXPECT_NE(refusal_of(damaged), "") << byte;
  }
  EXPECT_CONTAINS(refusal_of(good + "x"), "damaged");
  std::string later = good;
  later[8] = 9;
  EXPECT_EQ(refusal_of(later), "file: a checkpoint of version 9, expected 5");
}

TEST(Checkpoint, RefusesToGiveWhatItDoesNotHold) {
  const auto state = some_checkpoint(2.0);
  EXPECT_EQ(refusal([&] { (void)state.get<std::string>("whom"); }), "the saved state has no 'whom'");
  EXPECT_EQ(refusal([&] { (void)state.get<SavedState::Floats>("x"); }),
            "'x' of the saved state is 64-bit numbers, expected 32-bit numbers");
}

TEST(Checkpoint, GivesBackEveryBit) {
  const auto state = some_checkpoint(std::nextafter(2.0, 3.0));
  const auto back = checkpoint::decoded(checkpoint::encoded(state), "memory");
  EXPECT_EQ(back.get<std::string>("who"), state.get<std::string>("who"));
  EXPECT_EQ(back.get<SavedState::Doubles>("x"), state.get<SavedState::Doubles>("x"));
  EXPECT_TRUE(std::signbit(back.get<SavedState::Doubles>("x")[1]));
  EXPECT_EQ(back.get<SavedState::Floats>("f"), state.get<SavedState::Floats>("f"));
  EXPECT_EQ(back.get<SavedState::Integers>("n"), state.get<SavedState::Integers>("n"));
  EXPECT_TRUE(back.get<SavedState::Doubles>("nothing").empty());
  EXPECT_EQ(checkpoint::encoded(back), checkpoint::encoded(state));
}

TEST(CheckpointStore, RefusesAFolderWithoutOneAndNamesBothFiles) {
  const ScratchFolder folder;
  const auto message = refusal([&] { (void)checkpoint::load(folder.path()); });
  EXPECT_CONTAINS(message, "checkpoint.dpx");
  EXPECT_CONTAINS(message, "checkpoint.previous.dpx");
}

TEST(CheckpointStore, UsesTheOneBeforeWhereTheNewestIsCutShort) {
  const ScratchFolder folder;
  checkpoint::save(folder.path(), some_checkpoint(1.0));
  checkpoint::save(folder.path(), some_checkpoint(2.0));
  checkpoint::save(folder.path(), some_checkpoint(3.0));
  EXPECT_EQ(checkpoint::load(folder.path()).state.get<SavedState::Doubles>("x")[2], 3.0);
  EXPECT_EQ(checkpoint::load(folder.path()).warning, "");
  std::filesystem::resize_file(folder.path() / "checkpoint.dpx", 50);
  const auto found = checkpoint::load(folder.path());
  EXPECT_EQ(found.state.get<SavedState::Doubles>("x")[2], 2.0);
  EXPECT_CONTAINS(found.warning, "cut short");
}

TEST(CheckpointStore, DoesNotLetADamagedFileTakeThePlaceOfAGoodOne) {
  const ScratchFolder folder;
  checkpoint::save(folder.path(), some_checkpoint(1.0));
  checkpoint::save(folder.path(), some_checkpoint(2.0));
  std::filesystem::resize_file(folder.path() / "checkpoint.dpx", 50);
  checkpoint::save(folder.path(), some_checkpoint(3.0));
  std::filesystem::resize_file(folder.path() / "checkpoint.dpx", 50);
  EXPECT_EQ(checkpoint::load(folder.path()).state.get<SavedState::Doubles>("x")[2], 1.0);
}

TEST(CheckpointStore, ForgetsWhatIsOfAnotherRun) {
  const ScratchFolder folder;
  checkpoint::save(folder.path(), some_checkpoint(1.0));
  checkpoint::save(folder.path(), some_checkpoint(2.0));
  checkpoint::forget(folder.path());
  EXPECT_NE(refusal([&] { (void)checkpoint::load(folder.path()); }), "");
}

TEST(CheckpointStore, LeavesNothingButTheTwoFiles) {
  const ScratchFolder folder;
  for (int i = 0; i < 3; ++i) {
    checkpoint::save(folder.path(), some_checkpoint(i));
  }
  std::size_t files = 0;
  for ([[maybe_unused]] const auto &entry : std::filesystem::directory_iterator(folder.path())) {
    ++files;
  }
  EXPECT_EQ(files, 2U);
}

} // namespace
} // namespace duplex::testing
