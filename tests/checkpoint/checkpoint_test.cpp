// Checkpoints as bytes: damaged and foreign ones are refused with the reason.

#include "checkpoint/checkpoint.hpp"
#include "support.hpp"

#include <duplex/core/error.hpp>

namespace duplex::testing {
namespace {

SavedState some_checkpoint(double number) {
  SavedState state;
  state.put("who", "me: a \"quote\", a newline\nand a zero \0 byte");
  state.put("x", std::vector<double>{1.0 / 3.0, -0.0, number});
  state.put("f", std::vector<float>{0.1F});
  state.put("n", std::vector<std::int64_t>{-1, std::int64_t{1} << 60});
  state.put("nothing", std::vector<double>{});
  return state;
}

std::string refusal_of_checkpoint(const std::string &bytes) {
  return refusal([&] { (void)checkpoint::decoded(bytes, "file"); });
}

TEST(Checkpoint, RefusesWhatIsNotOneOrIsDamaged) {
  const std::string good = checkpoint::encoded(some_checkpoint(2.0));
  EXPECT_EQ(refusal_of_checkpoint(""), "file: not a checkpoint of Duplex");
  EXPECT_EQ(refusal_of_checkpoint("{\"json\": 1}"), "file: not a checkpoint of Duplex");
  for (std::size_t length = 0; length < good.size(); ++length) {
    EXPECT_NE(refusal_of_checkpoint(good.substr(0, length)), "") << length;
  }
  for (std::size_t byte = 0; byte < good.size(); ++byte) {
    std::string damaged = good;
    damaged[byte] = static_cast<char>(damaged[byte] ^ 0x10);
    EXPECT_NE(refusal_of_checkpoint(damaged), "") << byte;
  }
  EXPECT_CONTAINS(refusal_of_checkpoint(good + "x"), "damaged");
  std::string later = good;
  later[8] = 12;
  EXPECT_EQ(refusal_of_checkpoint(later), "file: a checkpoint of version 12, expected 11");
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

} // namespace
} // namespace duplex::testing
