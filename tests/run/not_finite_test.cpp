// What a step made that is not finite, and whose fault that is.

#include "scripted_run.hpp"

#include <duplex/run/not_finite.hpp>

namespace duplex::testing {
namespace {

constexpr double no_number = std::numeric_limits<double>::quiet_NaN();
const StepOptions alpha_and_beta{{{Role::upper_step, "alpha", 0.1}, {Role::lower_step, "beta", 0.5}}};

Finding first_not_finite(const TwoSquares &problem, const State<Vec> &state, bool x_was_moved = false,
                         const State<Vec> *good = nullptr) {
  return find_first_not_finite<Vec>(ProblemView<Vec>(problem), alpha_and_beta,
                                    {.state = &state, .good = good, .steps = {.alpha = 0.1, .beta = 0.5}}, x_was_moved);
}

TEST(NotFinite, IsNothingWhereAllIsFinite) {
  EXPECT_FALSE(first_not_finite(TwoSquares(), numbers(1.0, 1.0, 1.0)).found());
}

TEST(NotFinite, IsTheFirstThatAStepComputes) {
  const auto found = [](double x, double y, double v, bool x_was_moved = false) {
    return first_not_finite(TwoSquares(), numbers(x, y, v), x_was_moved).what;
  };
  EXPECT_EQ(found(no_number, no_number, no_number), "upper level: x is not finite");
  EXPECT_EQ(found(no_number, no_number, no_number, true),
            "lower level: y is not finite"); // x has followed a direction from it
  EXPECT_EQ(found(1.0, no_number, no_number), "lower level: y is not finite");
  EXPECT_EQ(found(1.0, 1.0, no_number), "multiplier v is not finite");
  EXPECT_EQ(found(no_number, 1.0, 1.0, true), "upper level: x is not finite");
}

TEST(NotFinite, IsALossWhereItBreaksAtFiniteNumbers) {
  const TwoSquares lower(1.0, [](double, double y) { return y < 0.0; });
  const TwoSquares upper(1.0, {}, [](double, double y) { return y < 0.0; });
  EXPECT_EQ(first_not_finite(lower, numbers(1.0, -1.0, no_number)).what, "lower level: the loss f is NaN");
  EXPECT_EQ(first_not_finite(upper, numbers(1.0, -1.0, no_number)).what, "upper level: the loss F is NaN");
}

TEST(NotFinite, IsTheFaultOfXWhereXAloneBreaksTheLoss) {
  const TwoSquares problem(1.0, [](double x, double) { return x < 0.0; });
  const State<Vec> good = numbers(1.0, 1.0, 0.0);
  const auto found = first_not_finite(problem, numbers(-1.0, 0.5, no_number), false, &good);
  EXPECT_EQ(found.blamed, Role::upper_step);
  EXPECT_TRUE(found.guessed);
}

TEST(NotFinite, IsTheFaultOfYWhereItLeavesTheDomainByItself) {
  // From y = 1 a step of half the gradient goes to 0.75, and from there below.
  const TwoSquares problem(1.0, [](double, double y) { return y < 0.7; });
  const State<Vec> good = numbers(0.5, 1.0, 0.0);
  const auto found = first_not_finite(problem, numbers(0.5, 0.6, no_number), false, &good);
  EXPECT_EQ(found.blamed, Role::lower_step);
  EXPECT_FALSE(found.guessed);
}

TEST(NotFinite, IsTheFaultOfAStepThatIsKnownToBeTooLong) {
  const TwoSquares stiff(1000.0);
  const State<Vec> good = numbers(1.0, 0.0, 0.0);
  const State<Vec> state = numbers(1.0, no_number, no_number);
  const auto found = find_not_finite<Vec>(ProblemView<Vec>(stiff), alpha_and_beta,
                                          {.state = &state, .good = &good, .steps = {.beta = 0.5}}, false);
  EXPECT_EQ(found.what, "lower level: y is not finite");
  EXPECT_EQ(found.remedy, "a smaller beta");
  EXPECT_CONTAINS(found.reason, "the steps of y are too long, beta = 0.5 with 2/λ = 0.002");
  EXPECT_CONTAINS(found.at_step(7), "lower level: y is not finite at step 7: the steps of y are too long");
}

} // namespace
} // namespace duplex::testing
