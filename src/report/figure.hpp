#pragma once
// Figures: what a plot shows, apart from how it is drawn.

#include <string>
#include <vector>

namespace duplex::report {

/// A line through points. Points that are not finite, or not positive on a
/// logarithmic axis, break the line.
struct Curve {
  std::string label;
  std::vector<double> x;
  std::vector<double> y;
  bool dashed = false; ///< a reference (a closed form, a bound), not a measurement
  bool marked = false; ///< draw a marker at each point
};

struct Panel {
  std::string title;
  std::string x_label;
  std::string y_label;
  bool log_x = false;
  bool log_y = true;
  std::vector<Curve> curves;
  /// Where given, the panel shows bars instead: one group per category, one bar
  /// per curve, curve.y[i] being the height in category i.
  std::vector<std::string> categories = {};
};

/// Panels in rows of `columns`, with one legend for all of them: curves with the
/// same label share a colour.
struct Figure {
  std::string title;
  std::vector<Panel> panels;
  int columns = 2;
};

/// A self-contained SVG document.
[[nodiscard]] std::string to_svg(const Figure &figure);

} // namespace duplex::report
