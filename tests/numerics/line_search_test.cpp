// Backtracking line searches on functions of one number.

#include "support.hpp"

#include <duplex/numerics/line_search.hpp>

namespace duplex::testing {
namespace {

TEST(FallsEnough, RefusesWhatIsNotFinite) {
  EXPECT_FALSE(falls_enough(1.0, std::nan(""), -1.0));
  EXPECT_FALSE(falls_enough(1.0, -infinity, -1.0));
  EXPECT_FALSE(falls_enough(1.0, infinity, -1.0, infinity));
}

TEST(FallsEnough, AsksForAShareOfWhatTheSlopePromises) {
  EXPECT_FALSE(falls_enough(1.0, 1.0, -1.0));
  EXPECT_FALSE(falls_enough(1.0, 1.0 - 0.9e-4, -1.0));
  EXPECT_TRUE(falls_enough(1.0, 1.0 - 1.1e-4, -1.0));
  EXPECT_TRUE(falls_enough(1.0, 1.0, -1.0, 2e-4)) << "the values are not known better than that";
}

TEST(Backtracking, GivesZeroWhereNoLengthIsAccepted) {
  int attempts = 0;
  EXPECT_EQ(backtrack(7,
                      [&](double t) {
                        EXPECT_EQ(t, std::ldexp(1.0, -attempts));
                        ++attempts;
                        return TrialStep::rejected;
                      }),
            0.0);
  EXPECT_EQ(attempts, 7);
}

TEST(Backtracking, EndsWhereAShorterStepIsHopeless) {
  int attempts = 0;
  EXPECT_EQ(backtrack(7, [&](double) { return ++attempts == 2 ? TrialStep::hopeless : TrialStep::rejected; }), 0.0);
  EXPECT_EQ(attempts, 2);
}

TEST(Backtracking, ComesBackFromFarBeyondTheDomainOfTheValue) {
  // −log of what is left: a step of 10³⁰ needs a hundred halvings to be inside, whatever number of attempts is given.
  const auto barrier = [](double y) { return y < 1.0 ? -std::log(1.0 - y) - 2.0 * y : std::nan(""); };
  const double found = backtrack(3, [&](double t) { return judged(barrier(0.0), barrier(t * 1e30), -t * 1e30); });
  EXPECT_GT(found * 1e30, 0.1);
  EXPECT_LT(found * 1e30, 1.0);
}

TEST(Backtracking, EndsWhereTheValueExistsNowhere) {
  int attempts = 0;
  const double found = backtrack(3, [&](double) {
    ++attempts;
    return judged(0.0, std::nan(""), -1.0);
  });
  EXPECT_EQ(found, 0.0);
  EXPECT_EQ(attempts, 200);
}

TEST(Backtracking, TakesTheFirstLengthThatIsAccepted) {
  // From x = 1 along −s on ½x², a length t falls enough where ½(1 − ts)² ≤ ½ − 10⁻⁴ts: ts ≤ 2 − 2·10⁻⁴.
  for (const double s : {0.5, 1.9, 2.1, 10.0, 100.0}) {
    const double found = backtrack(20, [&](double t) {
      const double reached = 1.0 - t * s;
      return falls_enough(0.5, 0.5 * reached * reached, -t * s) ? TrialStep::accepted : TrialStep::rejected;
    });
    EXPECT_LE(found * s, 2.0 - 2e-4) << s;
    EXPECT_TRUE(found == 1.0 || 2.0 * found * s > 2.0 - 2e-4) << s;
  }
}

} // namespace
} // namespace duplex::testing
