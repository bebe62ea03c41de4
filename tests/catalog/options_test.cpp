// Options that are set to numbers, which do not go through text.

#include "support.hpp"

#include "catalog/catalog.hpp"

namespace duplex::testing {
namespace {

TEST(SetOption, RefusesANumberWhereTheOptionIsNone) {
  Bagdc method;
  EXPECT_CONTAINS(refusal([&] { (void)catalog::set_option(method, "bagdc", "dual", 0.5); }),
                  "bagdc: dual = 0.5, expected one of");
  EXPECT_CONTAINS(refusal([&] { (void)catalog::set_option(method, "bagdc", "mixing", 0.5); }),
                  "bagdc: mixing = 0.5, expected a whole number");
  EXPECT_FALSE(catalog::set_option(method, "bagdc", "inner", 0.5));
}

TEST(SetOption, KeepsEveryBitOfANumber) {
  Bagdc method;
  EXPECT_TRUE(catalog::set_option(method, "bagdc", "beta", 1.0 / 3.0));
  EXPECT_EQ(method.beta, 1.0 / 3.0);
}

TEST(ConfiguredSolver, TakesDefaultsOnlyWhereNothingWasGiven) {
  const auto solver = catalog::make_solver("bagdc:alpha=0.5");
  solver->set_unless_pinned(
      names::OptionDefaults{{"alpha", 0.1}, {"beta", 1.0 / 3.0}, {"dual", "constant"}, {"inner", 7.0}});
  int seen = 0;
  for (const auto &option : solver->options()) {
    seen += option.name == "alpha" || option.name == "beta" || option.name == "dual" ? 1 : 0;
    if (option.name == "alpha") {
      EXPECT_EQ(option.value, "0.5");
    } else if (option.name == "beta") {
      EXPECT_EQ(option.value, number_text(1.0 / 3.0));
    } else if (option.name == "dual") {
      EXPECT_EQ(option.value, "constant");
    }
  }
  EXPECT_EQ(seen, 3);
}

} // namespace
} // namespace duplex::testing
