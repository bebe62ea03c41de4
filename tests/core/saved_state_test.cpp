// States within states, by names with a prefix.

#include "support.hpp"

#include <duplex/core/saved_state.hpp>

namespace duplex::testing {
namespace {

SavedState with_number(const std::string &name, double value) {
  SavedState state;
  state.put(name, SavedState::Doubles{value});
  return state;
}

TEST(SavedState, HasNothingUnderAPrefixThatNoEntryHas) {
  EXPECT_TRUE(with_number("a x", 1.0).nested("b ").entries().empty());
  EXPECT_TRUE(with_number("a x", 1.0).nested("a x y").entries().empty());
}

TEST(SavedState, HoldsAnotherUnderAPrefix) {
  SavedState state = with_number("a", 1.0);
  state.put("piece 10 x", SavedState::Doubles{2.0});
  state.put_nested("piece 1 ", with_number("x", 3.0));
  EXPECT_EQ(state.entries().size(), 3U);
  EXPECT_EQ(state.nested("piece 1 ").first<SavedState::Doubles>("x"), 3.0);
  EXPECT_EQ(state.nested("piece 1 ").entries().size(), 1U);
}

TEST(SavedState, PutsAnotherInThePlaceOfWhatHadThePrefix) {
  SavedState state = with_number("a", 1.0);
  state.put_nested("run ", with_number("x", 2.0));
  state.put_nested("run ", with_number("y", 3.0));
  EXPECT_FALSE(state.has("run x"));
  EXPECT_EQ(state.first<SavedState::Doubles>("run y"), 3.0);
  EXPECT_EQ(state.first<SavedState::Doubles>("a"), 1.0);
}

} // namespace
} // namespace duplex::testing
