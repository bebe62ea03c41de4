// Which step is longer than gradient descent bears, judged where the run was good.

#include "scripted_run.hpp"

#include <duplex/run/too_long_step.hpp>

namespace duplex::testing {
namespace {

const StepOptions steps_of_three{
    {{Role::upper_step, "alpha", 0.1}, {Role::lower_step, "beta", 0.2}, {Role::multiplier_step, "eta", 0.3}}};

Finding too_long(const TwoSquares &problem, StepSizes steps, const State<Vec> &state, const State<Vec> *good) {
  return find_too_long_step<Vec>(ProblemView<Vec>(problem), steps_of_three,
                                 {.state = &state, .good = good, .steps = steps});
}

/// f = ½c(x)(y − x)² with c = 1 for x below one and `beyond` from there on: by steps of x that are too long y comes to
/// where its own are.
class StiffBeyondOne {
public:
  using Vector = Vec;
  explicit StiffBeyondOne(double beyond) : beyond_(beyond) {}
  class Lower : public Point<Vec> {
  public:
    explicit Lower(double beyond) : beyond_(beyond) {}
    [[nodiscard]] double value() const { return 0.5 * c() * (y() - x()).squaredNorm(); }
    void grad_y(Vec &out) const { out = c() * (y() - x()); }
    void hess_yy(const Vec &v, Vec &out) const { out = c() * v; }
    void cross_xy(const Vec &v, Vec &out) const { out = -c() * v; }

  private:
    [[nodiscard]] double c() const { return x()[0] < 1.0 ? 1.0 : beyond_; }
    double beyond_;
  };
  [[nodiscard]] Lower lower() const { return Lower(beyond_); }
  [[nodiscard]] TwoSquares::Upper upper() const { return squares_.upper(); }
  [[nodiscard]] static Index x_size() { return 1; }
  [[nodiscard]] static Index y_size() { return 1; }

private:
  double beyond_;
  TwoSquares squares_;
};

TEST(TooLongStep, IsNotFoundWhereStepsAreBelowTwoOverTheCurvature) {
  const State<Vec> good = numbers(1.0, 0.5, 0.0);
  EXPECT_FALSE(too_long(TwoSquares(4.0), {.beta = 0.49, .eta = 0.49}, good, &good).found());
  EXPECT_FALSE(too_long(TwoSquares(4.0), {.beta = 0.49, .eta = 0.49}, good, nullptr).found());
}

TEST(TooLongStep, IsThatOfYOrThatOfVWithTheStepThatWouldDo) {
  const State<Vec> good = numbers(1.0, 0.5, 0.0);
  const auto y = too_long(TwoSquares(4.0), {.beta = 0.51, .eta = 0.1}, good, &good);
  EXPECT_EQ(y.blamed, Role::lower_step);
  EXPECT_CONTAINS(y.what, "the steps of y are too long, beta = 0.51 with 2/λ = 0.5");
  EXPECT_NEAR(y.right_step, 0.051, 1e-12); // a tenth of it, which is less than half of 1/λ
  const auto v = too_long(TwoSquares(4.0), {.beta = 0.1, .eta = 51.0}, good, &good);
  EXPECT_EQ(v.blamed, Role::multiplier_step);
  EXPECT_NEAR(v.right_step, 0.125, 1e-6); // half of 1/λ, which is less than a tenth of it
}

TEST(TooLongStep, IsMeasuredWhereTheRunIsIfNoGoodStateWasKept) {
  const auto found = too_long(TwoSquares(4.0), {.beta = 0.51}, numbers(1.0, 0.5, 0.0), nullptr);
  EXPECT_EQ(found.blamed, Role::lower_step);
  EXPECT_EQ(found.right_step, 0.0); // which only a good state could tell
}

TEST(TooLongStep, WhereXWentIsThatOfYIfATenthOfItWouldDo) {
  const StiffBeyondOne problem(10.0);
  const State<Vec> good = numbers(0.5, 0.5, 0.0);
  const State<Vec> state = numbers(2.0, 0.5, 0.0);
  const auto found = find_too_long_step<Vec>(ProblemView<Vec>(problem), steps_of_three,
                                             {.state = &state, .good = &good, .steps = {.beta = 0.5}});
  EXPECT_EQ(found.blamed, Role::lower_step);
  EXPECT_CONTAINS(found.what, "too long where x went");
}

TEST(TooLongStep, WhereXWentIsThatOfXIfNoneOfYWouldDo) {
  const StiffBeyondOne problem(1e6);
  const State<Vec> good = numbers(0.5, 0.5, 0.0);
  const State<Vec> state = numbers(2.0, 0.5, 0.0);
  const auto found = find_too_long_step<Vec>(ProblemView<Vec>(problem), steps_of_three,
                                             {.state = &state, .good = &good, .steps = {.beta = 0.5}});
  EXPECT_EQ(found.blamed, Role::upper_step);
  EXPECT_TRUE(found.guessed);
  EXPECT_CONTAINS(found.what, "x ran to where the lower level's curvature is 1e+06");
}

TEST(WhoMovedY, IsYWhereItDoesNotStayWithXHeld) {
  const TwoSquares problem;
  const State<Vec> good = numbers(0.5, 0.6, 0.0);
  const State<Vec> state = numbers(0.5, 1e3, 0.0);
  const auto blamed = [&](double beta) {
    return who_moved_y<Vec>(ProblemView<Vec>(problem), steps_of_three,
                            {.state = &state, .good = &good, .steps = {.beta = beta}});
  };
  EXPECT_EQ(blamed(3.0).blamed, Role::lower_step);
  EXPECT_FALSE(blamed(3.0).guessed);
  EXPECT_EQ(blamed(0.5).blamed, Role::upper_step);
  EXPECT_TRUE(blamed(0.5).guessed);
}

} // namespace
} // namespace duplex::testing
