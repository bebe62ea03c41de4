#include "report/svg_style.hpp"

#include "report/svg_markup.hpp"

#include <fmt/format.h>

#include <array>
#include <initializer_list>
#include <utility>

namespace duplex::report::svg {
namespace {

// Okabe and Ito, without yellow, which is too light for lines, and without black,
// which is kept for references; purple and brown in their place.
constexpr std::array<std::string_view, 8> palette{"#0072B2", "#D55E00", "#009E73", "#CC79A7",
                                                  "#E69F00", "#56B4E9", "#5D3A9B", "#7A4B1E"};
constexpr std::array<std::string_view, 4> line_dashes{"", "7 2 1.5 2", "1.5 2", "11 3"};

constexpr std::array<std::string_view, 2> reference_palette{"#222222", "#8A8A8A"};
constexpr std::array<std::string_view, 4> reference_dashes{"5 3", "1.5 2.5", "8 3 2 3", "10 4"};

Style line_style(std::size_t i) {
  const std::size_t cycle = i / palette.size();
  return {palette[i % palette.size()], line_dashes[cycle % line_dashes.size()], i, cycle % 2 == 1};
}

Style reference_style(std::size_t i) {
  const std::size_t cycle = i / reference_dashes.size();
  return {reference_palette[(i + cycle) % reference_palette.size()], reference_dashes[i % reference_dashes.size()], i,
          cycle % 2 == 1};
}

std::string polygon(double x, double y, std::initializer_list<std::pair<double, double>> corners) {
  std::string result;
  for (const auto &[dx, dy] : corners) {
    result += fmt::format("{}{},{}", result.empty() ? 'M' : 'L', number(x + dx), number(y + dy));
  }
  return result + 'Z';
}

} // namespace

Styles::Styles(const Figure &figure) {
  for (const Panel &panel : figure.panels) {
    for (const Curve &curve : panel.curves) {
      const auto [found, is_new] = entry_of_label_.try_emplace(curve.label, entries_.size());
      if (is_new) {
        entries_.push_back({.label = curve.label, .style = {}});
      }
      LegendEntry &entry = entries_[found->second];
      (panel.categories.empty() ? entry.line : entry.bar) = true;
      entry.marked |= curve.marked && panel.categories.empty();
      entry.reference &= curve.dashed;
    }
  }
  std::size_t lines = 0;
  std::size_t references = 0;
  for (LegendEntry &entry : entries_) {
    entry.style = entry.reference ? reference_style(references++) : line_style(lines++);
  }
}

Style Styles::of(const Curve &curve) const {
  Style style = entries_[entry_of_label_.at(curve.label)].style;
  if (curve.dashed && style.dashes.empty()) {
    style.dashes = reference_dashes.front();
  }
  return style;
}

std::string stroke(const Style &style, bool reference) {
  std::string result = fmt::format("fill=\"none\" stroke=\"{}\" stroke-width=\"{}\" stroke-linejoin=\"round\"",
                                   style.colour, reference ? "1.3" : "1.7");
  if (!style.dashes.empty()) {
    result += fmt::format(" stroke-dasharray=\"{}\"", style.dashes);
  }
  return result;
}

std::string filling(const Style &style, bool reference) {
  if (reference) {
    return fmt::format("fill=\"none\" stroke=\"{}\" stroke-width=\"1\" stroke-dasharray=\"3 2\"", style.colour);
  }
  return fmt::format("fill=\"{}\"{}", style.colour, style.faint ? " fill-opacity=\"0.45\"" : "");
}

std::string marker(const Style &style, double x, double y) {
  constexpr double r = 3;
  switch (style.marker % 6) {
  case 0:
    return fmt::format("M{},{}a{},{} 0 1,0 {},0a{},{} 0 1,0 {},0Z", number(x - r), number(y), r, r, 2 * r, r, r,
                       -2 * r);
  case 1:
    return polygon(x, y, {{-0.9 * r, -0.9 * r}, {0.9 * r, -0.9 * r}, {0.9 * r, 0.9 * r}, {-0.9 * r, 0.9 * r}});
  case 2:
    return polygon(x, y, {{0, -1.2 * r}, {1.15 * r, 0.8 * r}, {-1.15 * r, 0.8 * r}});
  case 3:
    return polygon(x, y, {{0, -1.3 * r}, {1.3 * r, 0}, {0, 1.3 * r}, {-1.3 * r, 0}});
  case 4:
    return polygon(x, y, {{0, 1.2 * r}, {1.15 * r, -0.8 * r}, {-1.15 * r, -0.8 * r}});
  default:
    return polygon(x, y, {{-1.2 * r, 0}, {-0.6 * r, -r}, {0.6 * r, -r}, {1.2 * r, 0}, {0.6 * r, r}, {-0.6 * r, r}});
  }
}

} // namespace duplex::report::svg
