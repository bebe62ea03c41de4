// Who is blamed where all numbers are finite and one has grown.

#include "scripted_run.hpp"

#include <duplex/run/growth.hpp>

namespace duplex::testing {
namespace {

const StepOptions three_steps{
    {{Role::upper_step, "alpha", 0.1}, {Role::lower_step, "beta", 0.2}, {Role::multiplier_step, "eta", 0.3}}};

Finding most_grown(const StepOptions &steps, const State<Vec> &state, double direction, StartNorms start = {}) {
  return find_most_grown<Vec>(steps, {.state = &state, .start = start, .direction = direction});
}

TEST(MostGrown, IsTheVariableThatIsLargestBesideItsStart) {
  const auto x = most_grown(three_steps, numbers(1e6, 10.0, 10.0), 10.0);
  EXPECT_EQ(x.what, "x grew most, to 1e+06");
  EXPECT_EQ(x.remedy, "a smaller alpha");
  EXPECT_EQ(most_grown(three_steps, numbers(10.0, 1e6, 10.0), 10.0).remedy, "a smaller beta");
  EXPECT_EQ(most_grown(three_steps, numbers(10.0, 10.0, 1e6), 10.0).remedy, "a smaller eta");
  EXPECT_EQ(most_grown(three_steps, numbers(1e6, 10.0, 10.0), 10.0, {.x = 1e6}).blamed, Role::lower_step);
}

TEST(MostGrown, IsNobodysFaultWhereTheDirectionAloneGrew) {
  EXPECT_FALSE(most_grown(three_steps, numbers(1.0, 1.0, 1.0), 1e6).found());
  EXPECT_FALSE(most_grown(three_steps, numbers(1.0, infinity, 1.0), 1.0).found());
}

TEST(MostGrown, BlamesXForAMultiplierThatIsComputedAnewInEveryStep) {
  const StepOptions without_eta{{{Role::upper_step, "alpha", 0.1}, {Role::lower_step, "beta", 0.2}}};
  const auto v = most_grown(without_eta, numbers(1.0, 1.0, 1e6), 1.0);
  EXPECT_EQ(v.what, "v grew most, to 1e+06");
  EXPECT_EQ(v.remedy, "a smaller alpha");
}

TEST(AMultiplier, FollowsWhereItSolvesItsEquationBesideItsTerms) {
  const TwoSquares problem(4.0); // ∇yF = y and ∇²yy f·v = 4v
  const ProblemView<Vec> view(problem);
  EXPECT_TRUE(multiplier_follows(view, numbers(1.0, 8.0, 2.0)));
  EXPECT_FALSE(multiplier_follows(view, numbers(1.0, 8.0, -2.0)));
}

TEST(AMultiplier, FollowsNothingWhereTheLossIsRefused) {
  const TwoSquares problem(1.0, [](double, double) -> bool { throw std::runtime_error("out of its domain"); });
  EXPECT_FALSE(multiplier_follows(ProblemView<Vec>(problem), numbers(1.0, 1.0, 1.0)));
}

} // namespace
} // namespace duplex::testing
