// Bounds on the entries of a vector: what is refused, where x is moved to, and what of a direction is free.

#include "support.hpp"

#include <limits>

namespace duplex::testing {
namespace {

Vec of(std::initializer_list<double> entries) {
  Vec out(static_cast<Index>(entries.size()));
  std::copy(entries.begin(), entries.end(), out.begin());
  return out;
}

std::string refusal_of_bounds(const Vec &lower, const Vec &upper, Index expected) {
  return refusal([&] { (void)Box<Vec>(lower, upper, expected); });
}

TEST(BoxOfBounds, RefusesThemByTheirEntry) {
  EXPECT_EQ(refusal_of_bounds(of({0, 0}), {}, 3), "bounds: the lower bound of x has 2 entries, expected 3");
  EXPECT_EQ(refusal_of_bounds({}, of({0}), 3), "bounds: the upper bound of x has 1 entries, expected 3");
  EXPECT_EQ(refusal_of_bounds(of({0, not_a_number}), {}, 2), "bounds: lower[1] = nan, expected a number or -inf");
  EXPECT_EQ(refusal_of_bounds(of({0, infinity}), {}, 2), "bounds: lower[1] = inf, expected a number or -inf");
  EXPECT_EQ(refusal_of_bounds({}, of({not_a_number}), 1), "bounds: upper[0] = nan, expected a number or inf");
  EXPECT_EQ(refusal_of_bounds({}, of({-infinity}), 1), "bounds: upper[0] = -inf, expected a number or inf");
  EXPECT_EQ(refusal_of_bounds(of({0, 2}), of({1, 1.5}), 2),
            "bounds: lower[1] = 2 and upper[1] = 1.5, expected lower <= upper");
  EXPECT_EQ(refusal_of_bounds(of({0, 1}), of({1, 1}), 2), "");
}

TEST(BoxOfBounds, IsNoneWhereEveryBoundIsInfinite) {
  EXPECT_FALSE(Box<Vec>().exists());
  EXPECT_FALSE(Box<Vec>({}, {}, 2).exists());
  EXPECT_FALSE(Box<Vec>(of({-infinity, -infinity}), of({infinity, infinity}), 2).exists());
  EXPECT_TRUE(Box<Vec>(of({-infinity, 0}), {}, 2).exists());
  Vec x = of({-5, 7});
  Box<Vec>().project(x);
  EXPECT_EQ(x, of({-5, 7}));
  Vec scratch;
  EXPECT_EQ(Box<Vec>().free_norm(x, of({3, 4}), scratch), 5.0);
  EXPECT_EQ(scratch.size(), 0);
}

TEST(BoxOfBounds, MovesXToItsNearestPointAndKeepsNan) {
  const Box<Vec> box(of({0, -infinity, 1, 0}), of({1, 2, 1, infinity}), 4);
  Vec x = of({-3, 5, 9, not_a_number});
  box.project(x);
  EXPECT_EQ(x.head(3), of({0, 2, 1}));
  EXPECT_TRUE(std::isnan(x[3]));
  Vec part = of({-3, 5, 9, -1});
  box.project(part, 1, 2);
  EXPECT_EQ(part, of({-3, 2, 1, -1}));
}

TEST(BoxOfBounds, LeavesFreeWhatDoesNotLeadOutOfIt) {
  const Box<Vec> box(of({0, 0, 0, 0, 0, 1}), of({2, 2, 2, 2, 2, 1}), 6);
  const Vec x = of({0, 0, 2, 2, 1, 1});
  const Vec d = of({1, -1, 1, -1, 3, 5}); // x follows −d
  Vec out;
  box.free_part(x, d, out);
  EXPECT_EQ(out, of({0, -1, 1, 0, 3, 0}));
  EXPECT_EQ(box.free_norm(x, d, out), std::sqrt(11.0));
  Vec with_nan = of({not_a_number, 0, 0, 0, 0, 0});
  box.keep_free(x, with_nan);
  EXPECT_TRUE(std::isnan(with_nan[0]));
}

TEST(BoxOfBounds, SaysWhichEntryIsOutside) {
  const Box<Vec> box(of({0, 0}), of({2, 2}), 2);
  EXPECT_EQ(box.outside_text(of({1, -0.5})), "x[1] = -0.5, expected at least its lower bound 0");
  EXPECT_EQ(box.outside_text(of({3, 0})), "x[0] = 3, expected at most its upper bound 2");
  EXPECT_TRUE(box.holds(of({0, 2})));
  EXPECT_FALSE(box.holds(of({0, not_a_number})));
  EXPECT_EQ(box.entries_at_bounds(of({0, 1})), 1);
  EXPECT_EQ(box.entries_at_bounds(of({0, 2})), 2);
}

TEST(BoxOfBounds, KnowsWhereNothingIsFreeWhateverTheError) {
  const Box<Vec> box(of({0, 0, 5}), of({2, 2, 5}), 3);
  const Vec corner = of({0, 2, 5});
  EXPECT_TRUE(box.leaves_nothing_free(corner, of({1, -1, 0}), 0.5));
  EXPECT_FALSE(box.leaves_nothing_free(corner, of({1, -1, 0}), 1.0));
  EXPECT_FALSE(box.leaves_nothing_free(corner, of({-1, -1, 0}), 0.5));
  EXPECT_FALSE(box.leaves_nothing_free(of({0, 1, 5}), of({1, -1, 0}), 0.5));
  EXPECT_FALSE(Box<Vec>().leaves_nothing_free(corner, of({0, 0, 0}), 0.0));
}

TEST(BoxOfBounds, PartsADirectionByTheRoomThatXHas) {
  const Box<Vec> box(of({0, 0, 0, 0, 1}), of({2, 2, 2, 0.1, 1}), 5);
  const Vec x = of({0.1, 1.0, 2.0, 0.05, 1.0});
  Vec both = of({0.3, 0.3, 0.3, 0.3, 0.3});
  Vec inward = of({-0.3, 0.3, 0.3, 0.3, 0.3});
  box.keep_room(x, 0.2, both);
  box.turn_inward(x, 0.2, inward);
  EXPECT_EQ(both, of({0, 0.3, 0, 0, 0}));
  EXPECT_EQ(inward, of({0.3, 0, -0.3, 0, 0}));
  Vec none = of({1, 1, 1, 1, 1});
  Box<Vec>().turn_inward(x, 0.2, none);
  EXPECT_EQ(none, Vec(Vec::Zero(5)));
}

TEST(BoxOfBounds, LiesWithinAnother) {
  const Box<Vec> wide(of({0, -infinity}), of({5, 5}), 2);
  const Box<Vec> other(of({1, 1}), of({infinity, 2}), 2);
  const auto both = wide.within(other);
  EXPECT_EQ(both.lower(), of({1, 1}));
  EXPECT_EQ(both.upper(), of({5, 2}));
  EXPECT_EQ(wide.within({}).upper(), wide.upper());
  EXPECT_EQ(Box<Vec>().within(other).lower(), other.lower());
  EXPECT_CONTAINS(refusal([&] {
                    (void)wide.within(Box<Vec>(of({6, 0}), {}, 2));
                  }),
                  "lower[0] = 6 and upper[0] = 5, expected lower <= upper");
}

TEST(BoxOfBounds, IsRefusedWhereTheSavedOneIsAnother) {
  const auto saved = [](Box<Vec> box) {
    SavedState state;
    StateWriter members(state);
    members("box", box);
    return state;
  };
  const auto refused = [](const SavedState &state, Box<Vec> box) {
    return refusal([&] {
      StateReader members(state);
      members("box", box);
    });
  };
  const Box<Vec> box(of({0, 0}), of({2, 2}), 2);
  EXPECT_EQ(refused(saved(box), Box<Vec>(of({0, 0}), of({2, 2}), 2)), "");
  EXPECT_EQ(refused(saved({}), {}), "");
  EXPECT_EQ(refused(saved(box), Box<Vec>(of({0, 0}), of({2, 3}), 2)), "the saved run has other bounds on x");
  EXPECT_EQ(refused(saved(box), {}), "the saved run has bounds on x, and this one has none");
  EXPECT_EQ(refused(saved({}), box), "the saved run has no bounds on x, and this one has");
}

TEST(BoxOfBounds, IsTheSameInSinglePrecision) {
  using VecF = Eigen::VectorXf;
  const Box<VecF> box(VecF::Zero(2), VecF::Ones(2), 2);
  VecF x(2);
  x << -1.0F, 3.0F;
  box.project(x);
  EXPECT_EQ(x, (VecF(2) << 0.0F, 1.0F).finished());
  VecF d(2);
  d << 1.0F, 1.0F;
  box.keep_free(x, d);
  EXPECT_EQ(d, (VecF(2) << 0.0F, 1.0F).finished());
}

} // namespace
} // namespace duplex::testing
