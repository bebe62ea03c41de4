#include "text.hpp"

#include "report/figure.hpp"
#include "report/text.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <clocale>
#include <cmath>
#include <limits>
#include <sstream>
#include <string>
#include <vector>

using namespace duplex::report;
using duplex::test::contains;

namespace {

constexpr double nan_value = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();

std::size_t occurrences(const std::string &text, const std::string &part) {
  std::size_t count = 0;
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + part.size())) {
    ++count;
  }
  return count;
}

Panel panel_of(std::vector<Curve> curves) {
  Panel panel;
  panel.title = "title";
  panel.curves = std::move(curves);
  return panel;
}

Figure figure_of(const Panel &panel) { return {.title = "figure", .panels = {panel}, .columns = 1}; }

std::string svg_of(const Panel &panel) { return to_svg(figure_of(panel)); }

std::string decade_label(const std::string &exponent) {
  return ">10<tspan dy=\"-4.41\" font-size=\"7.56\">" + exponent + "<";
}

/// Every element is closed, in order, and no text or attribute has a raw angle bracket.
::testing::AssertionResult is_well_formed(const std::string &svg) {
  std::vector<std::string> open;
  for (std::size_t at = svg.find('<'); at != std::string::npos; at = svg.find('<', at + 1)) {
    const std::size_t end = svg.find('>', at);
    if (end == std::string::npos || svg.find('<', at + 1) < end) {
      return ::testing::AssertionFailure() << "unfinished tag at " << at;
    }
    const std::string tag = svg.substr(at + 1, end - at - 1);
    const std::string name = tag.substr(0, tag.find_first_of(" /", 1));
    if (tag.starts_with('/')) {
      if (open.empty() || "/" + open.back() != tag) {
        return ::testing::AssertionFailure() << "stray <" << tag << ">";
      }
      open.pop_back();
    } else if (!tag.ends_with('/')) {
      open.push_back(name);
    }
  }
  if (!open.empty()) {
    return ::testing::AssertionFailure() << "<" << open.back() << "> is not closed";
  }
  if (contains(svg, "nan") || contains(svg, "inf\"")) {
    return ::testing::AssertionFailure() << "a coordinate is not a number";
  }
  return ::testing::AssertionSuccess();
}

} // namespace

TEST(Svg, OfAnEmptyFigureIsADocumentWithoutPanels) {
  const std::string svg = to_svg({});
  EXPECT_TRUE(is_well_formed(svg));
  EXPECT_TRUE(contains(svg, "viewBox=\"0 0 "));
  EXPECT_FALSE(contains(svg, "<text"));
}

TEST(Svg, SaysThatAPanelWithoutCurvesHasNothingToShow) {
  EXPECT_TRUE(contains(svg_of(panel_of({})), "no data to show"));
}

TEST(Svg, SaysThatThereIsNothingToShowWhereNoValueIsPositiveOnALogarithmicAxis) {
  const std::string svg = svg_of(panel_of({{"a", {1, 2, 3}, {0, -1, -2}}}));
  EXPECT_TRUE(is_well_formed(svg));
  EXPECT_TRUE(contains(svg, "no data to show"));
}

TEST(Svg, BreaksALineAtPointsThatCannotBeShown) {
  const std::string svg = svg_of(panel_of({{"a", {0, 1, 2, 3, 4, 5, 6, 7}, {1, 2, nan_value, 3, 5, infinity, 2, 9}}}));
  EXPECT_TRUE(is_well_formed(svg));
  const std::size_t data = svg.find("d=\"M");
  ASSERT_NE(data, std::string::npos);
  EXPECT_EQ(occurrences(svg.substr(data, svg.find('"', data + 3) - data), "M"), 3u);
}

TEST(Svg, MarksAPointThatHasNoNeighbours) {
  EXPECT_TRUE(contains(svg_of(panel_of({{"a", {1, 2, 3}, {nan_value, 2, nan_value}}})), "stroke=\"white\""));
}

TEST(Svg, IgnoresCoordinatesWithoutACounterpart) {
  EXPECT_EQ(svg_of(panel_of({{"a", {1, 2, 3, 4}, {1, 2}}})), svg_of(panel_of({{"a", {1, 2}, {1, 2}}})));
}

TEST(Svg, DrawsExtremeValuesAtPlacesThatAreNumbers) {
  constexpr double tiny = std::numeric_limits<double>::denorm_min();
  constexpr double huge = std::numeric_limits<double>::max();
  for (const bool log_y : {false, true}) {
    for (const std::vector<double> &y : {std::vector{tiny, huge},
                                         {0.0, tiny},
                                         {-huge, huge},
                                         {tiny, tiny},
                                         {0.0, 0.0},
                                         {1e300, -1e300},
                                         {1.0, std::nextafter(1.0, 2.0)},
                                         {huge, huge}}) {
      Panel panel = panel_of({{"a", {1, 2}, y}});
      panel.log_y = log_y;
      EXPECT_TRUE(is_well_formed(svg_of(panel)));
      panel.categories = {"p", "q"};
      EXPECT_TRUE(is_well_formed(svg_of(panel)));
    }
  }
}

TEST(Svg, EscapesMarkupInEveryKindOfLabel) {
  const std::string odd = "<a & \"b\">";
  Panel lines = panel_of({{odd, {1, 2}, {1, 2}}});
  lines.title = lines.x_label = lines.y_label = odd;
  Panel bars = lines;
  bars.categories = {odd, odd};
  const std::string svg = to_svg({.title = odd, .panels = {lines, bars}, .columns = 2});
  EXPECT_TRUE(is_well_formed(svg));
  EXPECT_TRUE(contains(svg, "&lt;a &amp; &quot;b&quot;&gt;"));
  EXPECT_FALSE(contains(svg, odd));
}

TEST(Svg, ReplacesBytesThatAreNotText) {
  Panel panel = panel_of({{"a", {1}, {1}}});
  panel.title = "x\xC3(\x01\xFF";
  EXPECT_TRUE(contains(svg_of(panel), ">x\uFFFD( \uFFFD<"));
}

TEST(Svg, CutsLongLabelsAndKeepsTheWholeForHovering) {
  const std::string tail = "its very end";
  Panel panel = panel_of({{std::string(500, 'm') + tail, {1, 2}, {1, 2}}});
  panel.title = std::string(500, 't') + tail;
  const std::string svg = svg_of(panel);
  EXPECT_TRUE(is_well_formed(svg));
  EXPECT_EQ(occurrences(svg, "…<title>"), 2u);
  EXPECT_TRUE(contains(svg, tail + "</title>"));
}

TEST(Svg, TreatsANumberOfColumnsBelowOneAsOne) {
  Figure figure = figure_of(panel_of({{"a", {1, 2}, {1, 2}}}));
  const std::string expected = to_svg(figure);
  for (const int columns : {0, -3}) {
    figure.columns = columns;
    EXPECT_EQ(to_svg(figure), expected);
  }
}

TEST(Svg, HasNoLegendEntryForACurveWithoutALabel) {
  EXPECT_EQ(occurrences(svg_of(panel_of({{"", {1, 2}, {1, 2}}})), "<path"), 1u);
}

TEST(Svg, ShowsADecadeTickForEveryPowerOfTen) {
  const std::string svg = svg_of(panel_of({{"a", {1, 2}, {1e-3, 1e2}}}));
  for (const std::string exponent : {"−3", "−2", "−1", "0", "1", "2"}) {
    EXPECT_EQ(occurrences(svg, decade_label(exponent)), 1u) << exponent;
  }
}

TEST(Svg, GivesCurvesWithTheSameLabelOneColourAndOneLegendEntry) {
  const Panel first = panel_of({{"a", {1, 2}, {1, 2}}, {"b", {1, 2}, {2, 3}}});
  const Panel second = panel_of({{"b", {1, 2}, {3, 4}}});
  const std::string svg = to_svg({.title = "", .panels = {first, second}, .columns = 2});
  EXPECT_EQ(occurrences(svg, "stroke=\"#D55E00\""), 3u);
  EXPECT_EQ(occurrences(svg, ">b</text>"), 1u);
}

TEST(Svg, TellsMoreCurvesApartThanThereAreColours) {
  std::vector<Curve> curves;
  for (int i = 0; i < 20; ++i) {
    curves.push_back({"curve " + std::to_string(i), {1, 2}, {1.0 + i, 2.0 + i}});
  }
  const std::string svg = svg_of(panel_of(curves));
  std::vector<std::string> strokes;
  for (auto at = svg.find("<path "); at != std::string::npos; at = svg.find("<path ", at + 1)) {
    strokes.push_back(svg.substr(at, svg.find(" d=", at) - at));
  }
  std::ranges::sort(strokes);
  strokes.erase(std::unique(strokes.begin(), strokes.end()), strokes.end());
  EXPECT_EQ(strokes.size(), 20u);
}

TEST(Svg, DashesReferences) {
  const Panel measured = panel_of({{"a", {1, 2}, {1, 2}}});
  const Panel reference = panel_of({{"a", {1, 2}, {1, 2}, true}});
  EXPECT_FALSE(contains(svg_of(measured), "stroke-dasharray"));
  EXPECT_TRUE(contains(svg_of(reference), "stroke-dasharray"));
}

TEST(Svg, ThinsLongCurves) {
  Curve noisy{"a", {}, {}};
  for (int i = 1; i <= 200'000; ++i) {
    noisy.x.push_back(i);
    noisy.y.push_back(1 + (i * 7919L % 1000));
  }
  EXPECT_LT(svg_of(panel_of({noisy})).size(), 30'000u);
}

TEST(Svg, DrawsABarForEachCategoryWithAValue) {
  Panel panel = panel_of({{"a", {}, {1, 10, 100}}, {"b", {}, {2, nan_value}}});
  panel.categories = {"p", "q", "r"};
  const std::string svg = svg_of(panel);
  constexpr std::size_t background_and_legend = 3;
  EXPECT_EQ(occurrences(svg, "<rect"), 4 + background_and_legend);
}

TEST(Svg, TurnsCategoryNamesThatAreTooLongForTheirGroup) {
  Panel panel = panel_of({{"a", {}, {1, 2}}});
  panel.categories = {"short", "names"};
  EXPECT_FALSE(contains(svg_of(panel), "rotate("));
  panel.categories = {"a name that is far too long for the room below its bars", "another"};
  EXPECT_TRUE(contains(svg_of(panel), "rotate(-35"));
}

TEST(Svg, DoesNotDependOnTheLocale) {
  const Panel panel = panel_of({{"a", {0.5, 1.5}, {0.25, 3.125}}});
  const std::string expected = svg_of(panel);
  const char *set = nullptr;
  for (const char *name : {"de_DE.UTF-8", "fr_FR.UTF-8", "de_DE"}) {
    set = set ? set : std::setlocale(LC_ALL, name);
  }
  EXPECT_EQ(svg_of(panel), expected);
  std::setlocale(LC_ALL, "C");
  EXPECT_FALSE(contains(expected, "0,5<"));
}
