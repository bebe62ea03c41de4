// Bounds are part of a problem: every wrapper passes them on, and a start outside is refused.

#include "support.hpp"

#include <cstdint>
#include <random>

namespace duplex::testing {
namespace {

/// bent() with bounds of its own.
struct BentWithin : Bent<> {
  BentWithin(Vec low, Vec high) : Bent<>(bent()), low_(std::move(low)), high_(std::move(high)) {}
  [[nodiscard]] const Vec &lower_bound() const { return low_; }
  [[nodiscard]] Vec upper_bound() const { return high_; }
  Vec low_;
  Vec high_;
};

/// bent() that only knows what x must be at least.
struct BentAbove : Bent<> {
  BentAbove() : Bent<>(bent()) {}
  [[nodiscard]] static Vec lower_bound() { return Vec::Zero(2); }
};

template <class P> void expect_bounds(const P &problem, double low, double high) {
  const auto box = box_of(problem);
  ASSERT_TRUE(box.exists());
  EXPECT_EQ(box.lower(), Vec(Vec::Constant(box.lower().size(), low)));
  EXPECT_EQ(box.upper(), Vec(Vec::Constant(box.upper().size(), high)));
}

TEST(BoundsOfAProblem, AreRefusedWhereTheyAreNone) {
  const auto refused = [](Vec low, Vec high) {
    const BentWithin problem(std::move(low), std::move(high));
    auto state = problem.start();
    return refusal([&] { (void)run_steps(problem, Nosa{}, state, 1); });
  };
  EXPECT_EQ(refused(Vec::Zero(3), Vec::Ones(2)), "bounds: the lower bound of x has 3 entries, expected 2");
  EXPECT_EQ(refused(Vec::Zero(2), -Vec::Ones(2)), "bounds: lower[0] = 0 and upper[0] = -1, expected lower <= upper");
  EXPECT_EQ(refused(Vec::Zero(2), 0.5 * Vec::Ones(2)), "start: x[0] = 0.9, expected at most its upper bound 0.5");
  EXPECT_EQ(refused(0.5 * Vec::Ones(2), {}), "start: x[1] = 0.3, expected at least its lower bound 0.5");
  EXPECT_EQ(refused(Vec::Zero(2), Vec::Ones(2)), "");
}

TEST(BoundsOfAProblem, AreAskedForWhereverAStartIs) {
  const BentWithin problem(Vec::Zero(2), Vec::Constant(2, 0.5));
  EXPECT_CONTAINS(refusal([&] { (void)check(problem, problem.start()); }), "x[0] = 0.9, expected at most");
  EXPECT_CONTAINS(refusal([&] { (void)certify(problem, problem.start(), problem.start()); }), "x[0] = 0.9");
}

TEST(BoundsOfAProblem, ArePassedOnByEveryWrapper) {
  const BentWithin problem(Vec::Zero(2), Vec::Ones(2));
  Counters counters;
  expect_bounds(problem, 0, 1);
  expect_bounds(ProblemView<Vec>(problem), 0, 1);
  expect_bounds(AnyProblem<Vec>(problem), 0, 1);
  expect_bounds(Counted<BentWithin>(problem, counters), 0, 1);
  expect_bounds(Aggregated<BentWithin>(problem, 0.1, 1.0), 0, 1);
  expect_bounds(ProblemView<Vec>(AnyProblem<Vec>(problem)), 0, 1);
  EXPECT_FALSE(box_of(bent()).exists());
  EXPECT_FALSE(box_of(AnyProblem<Vec>(bent())).exists());
  EXPECT_FALSE(ProblemView<Vec>(bent()).box().exists());
}

TEST(BoundsOfAProblem, MayBeOnOneSideAlone) { expect_bounds(BentAbove(), 0, infinity); }

/// bent(), which draws a number that nothing depends on.
struct Drawing : Bent<> {
  Drawing() : Bent<>(bent()) {}
  using Draw = std::uint64_t;
  static void draw(std::mt19937_64 &generator, Draw &number) { number = generator(); }
  [[nodiscard]] Lower lower(const Draw & /*number*/) const { return Bent<>::lower(); }
  [[nodiscard]] Upper upper(const Draw & /*number*/) const { return Bent<>::upper(); }
};

TEST(BoundsOfAProblem, ThatDrawsSamplesArePassedOnToo) {
  static_assert(StochasticProblem<Drawing> && StochasticProblem<Bounded<Drawing>>);
  const auto problem = bounded(Drawing(), 0.0, 0.95);
  expect_bounds(problem, 0, 0.95);
  const Drawn<Bounded<Drawing>> drawn(problem, 1);
  expect_bounds(drawn, 0, 0.95);
  EXPECT_EQ(drawn.start().x, bent().start().x);
  auto state = problem.start();
  (void)solve(problem, Bagdc{.alpha = 10.0, .beta = 0.1}, state, {.max_iterations = 3});
  EXPECT_TRUE(box_of(problem).holds(state.x));
  EXPECT_GT(box_of(problem).entries_at_bounds(state.x), 0);
}

TEST(BoundedProblem, IsTheProblemWithinABox) {
  const auto inner = CounterExample(IdentityMatrix(3), Vec(Vec::Ones(3)), 0.0);
  const auto problem = bounded(inner, 0.25, 2.0);
  static_assert(FusedProblem<std::remove_cvref_t<decltype(problem)>>);
  static_assert(ClosedFormLower<std::remove_cvref_t<decltype(problem)>>);
  expect_bounds(problem, 0.25, 2.0);
  EXPECT_EQ(problem.start().x, Vec(Vec::Constant(3, 0.25))); // its own start, moved inside
  EXPECT_EQ(problem.start().y, inner.start().y);
  ASSERT_TRUE(problem.answer());
  EXPECT_EQ(problem.answer()->x, inner.answer()->x);
  EXPECT_FALSE(bounded(inner, 0.25, 0.4).answer()); // which lies at one half, outside of these
  EXPECT_TRUE(AnyProblem<Vec>(problem).fused_bagdc());
  EXPECT_FALSE(bounded(inner, -infinity, infinity).box().exists());
}

TEST(BoundedProblem, NarrowsBoundsThatThereAreAlready) {
  const BentWithin inner(Vec::Zero(2), Vec::Ones(2));
  expect_bounds(bounded(inner, -1.0, 0.95), 0, 0.95);
  expect_bounds(bounded(bounded(bent(), 0.0, infinity), -infinity, 0.95), 0, 0.95);
  EXPECT_CONTAINS(refusal([&] { (void)bounded(inner, 2.0, 3.0); }), "lower[0] = 2 and upper[0] = 1");
  EXPECT_CONTAINS(refusal([&] { (void)bounded(inner, Vec(Vec::Zero(5)), Vec()); }), "has 5 entries, expected 2");
}

} // namespace
} // namespace duplex::testing
