#pragma once
// Which colour, dashes and marker stand for which label.

#include "report/figure.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace duplex::report::svg {

struct Style {
  std::string_view colour;
  std::string_view dashes; ///< empty for a solid line
  std::size_t marker = 0;  ///< the number of a shape
  bool faint = false;      ///< for bars, where the colour is taken already
};

struct LegendEntry {
  std::string label;
  Style style;
  bool line = false;
  bool marked = false;
  bool bar = false;
  bool reference = true; ///< all its curves are references
};

class Styles {
public:
  explicit Styles(const Figure &figure);

  [[nodiscard]] Style of(const Curve &curve) const;
  [[nodiscard]] const std::vector<LegendEntry> &entries() const { return entries_; }

private:
  std::vector<LegendEntry> entries_; ///< in the order of first appearance
  std::unordered_map<std::string, std::size_t> entry_of_label_;
};

/// Attributes of a stroke in this style.
[[nodiscard]] std::string stroke(const Style &style, bool reference);

/// Attributes of a bar in this style.
[[nodiscard]] std::string filling(const Style &style, bool reference);

/// Path data of a marker about a point.
[[nodiscard]] std::string marker(const Style &style, double x, double y);

} // namespace duplex::report::svg
