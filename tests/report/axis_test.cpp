#include "report/axis.hpp"
#include "report/trace.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

using namespace duplex::report;

namespace {

std::vector<std::string> labels_of(const Ticks &ticks) {
  std::vector<std::string> labels;
  for (const Tick &tick : ticks.major) {
    labels.push_back(tick.text + (tick.exponent ? "^" + std::to_string(*tick.exponent) : ""));
  }
  return labels;
}

Ticks ticks_over(bool logarithmic, std::vector<double> values, int at_most = 7) {
  return Axis(logarithmic, values, {0, 0}).ticks(at_most);
}

using Shown = std::vector<std::string>;

} // namespace

TEST(Ticks, ShowAWholeUnitAboutAValueThatIsTheSameEverywhere) {
  EXPECT_EQ(labels_of(ticks_over(false, {0, 0}, 2)), (Shown{"−1", "0", "1"}));
  EXPECT_FALSE(ticks_over(true, {3, 3}).major.empty());
  EXPECT_FALSE(ticks_over(false, {-1e-300, -1e-300}).major.empty());
}

TEST(Ticks, StandAtMultiplesOfOneTwoOrFive) {
  EXPECT_EQ(labels_of(ticks_over(false, {0, 1}, 5)), (Shown{"0", "0.2", "0.4", "0.6", "0.8", "1.0"}));
  EXPECT_EQ(labels_of(ticks_over(false, {-30, 65}, 5)), (Shown{"−20", "0", "20", "40", "60"}));
  EXPECT_EQ(labels_of(ticks_over(false, {0, 2400}, 5)), (Shown{"0", "500", "1000", "1500", "2000"}));
}

TEST(Ticks, ShowLargeAndSmallNumbersWithPowersOfTen) {
  EXPECT_EQ(labels_of(ticks_over(false, {0, 3e6}, 3)), (Shown{"0", "1×10^6", "2×10^6", "3×10^6"}));
  EXPECT_EQ(labels_of(ticks_over(false, {1e-7, 2e-7}, 2)), (Shown{"1.0×10^-7", "1.5×10^-7", "2.0×10^-7"}));
}

TEST(Ticks, SkipDecadesWhereThereAreTooManyForAll) {
  EXPECT_EQ(labels_of(ticks_over(true, {1e-12, 1}, 4)), (Shown{"10^-12", "10^-8", "10^-4", "10^0"}));
}

TEST(Ticks, DivideALogarithmicAxisThatHasLessThanTwoPowersOfTen) {
  EXPECT_EQ(labels_of(ticks_over(true, {0.15, 6})), (Shown{"0.2", "0.5", "1", "2", "5"}));
  EXPECT_EQ(labels_of(ticks_over(true, {100, 125}, 5)), (Shown{"100", "105", "110", "115", "120", "125"}));
}

TEST(Thinning, LeavesShortCurvesAsTheyAre) {
  const std::vector<Vertex> vertices{{0, 0, true}, {0.5, 1, false}, {1, 0, true}};
  EXPECT_EQ(capped(vertices, 3).size(), 3u);
}

TEST(Thinning, KeepsEndsExtremesAndWideBreaks) {
  constexpr int count = 100'000;
  std::vector<Vertex> vertices;
  for (int i = 0; i < count; ++i) {
    if (i < count / 3 || i > count / 2) {
      vertices.push_back({i / double(count), i == 777 ? 9.0 : std::sin(i), i == 0 || i == count / 2 + 1});
    }
  }
  const auto thin = capped(vertices, 1000);
  EXPECT_LE(thin.size(), 1000u);
  EXPECT_EQ(thin.front().x, vertices.front().x);
  EXPECT_EQ(thin.back().x, vertices.back().x);
  EXPECT_EQ(std::ranges::max(thin, {}, &Vertex::y).y, 9.0);
  EXPECT_EQ(std::ranges::count(thin, true, &Vertex::starts_line), 2);
}

TEST(Thinning, HoldsForACurveThatRunsBackAndForth) {
  std::vector<Vertex> vertices;
  for (int i = 0; i < 50'000; ++i) {
    vertices.push_back({0.5 + 0.4 * std::cos(i), 0.5 + 0.4 * std::sin(i), i == 0});
  }
  EXPECT_LE(capped(vertices, 1000).size(), 1000u);
}

TEST(Thinning, DropsWhatLiesOnALineAndKeepsCorners) {
  const std::vector<Vertex> vertices{{0, 0, true}, {1, 1, false}, {2, 2, false}, {3, 0, false}};
  const auto kept = simplified(vertices, 0.1);
  ASSERT_EQ(kept.size(), 3u);
  EXPECT_EQ(kept[1].x, 2);
}
