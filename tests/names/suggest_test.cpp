// "Did you mean ...?"

#include "names/suggest.hpp"
#include "support.hpp"

namespace duplex::testing {
namespace {

using names::nearest;

TEST(ASuggestion, IsTheNameThatIsNearest) {
  EXPECT_EQ(nearest("bagcd", {"bda", "bagdc", "nosa"}), "bagdc");
  EXPECT_EQ(nearest("sovle", {"list", "solve"}), "solve");
}

TEST(ASuggestion, IsNoneWhereNothingIsNear) {
  EXPECT_EQ(nearest("temperature", {"alpha", "beta"}), "");
  EXPECT_EQ(nearest("anything", {}), "");
}

TEST(ASuggestion, IsTheOneNameThatBeginsSoHoweverLongItIs) {
  EXPECT_EQ(nearest("data", {"beta", "data-dir", "date"}), "data-dir");
  EXPECT_EQ(nearest("held", {"help", "held-out-patience"}), "held-out-patience");
}

TEST(ASuggestion, IsTheNearestWhereSeveralNamesBeginSo) {
  EXPECT_EQ(nearest("alph", {"alpha", "alpha-of-the-upper-level"}), "alpha");
  EXPECT_EQ(nearest("save", {"safe", "save-every", "save-at-start"}), "safe");
}

TEST(ASuggestion, IsNotALongNameForTwoLetters) { EXPECT_EQ(nearest("he", {"held-out-patience", "n"}), "n"); }

} // namespace
} // namespace duplex::testing
