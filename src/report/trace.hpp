#pragma once
// The points of a curve as a drawing needs them.

#include "report/axis.hpp"
#include "report/figure.hpp"

#include <cstddef>
#include <vector>

namespace duplex::report {

struct Vertex {
  double x;
  double y;
  bool starts_line; ///< not joined to the vertex before
};

[[nodiscard]] bool shows_bars(const Panel &panel);

/// Axes that cover the panel's points; empty room for lines to end in.
struct Axes {
  Axis x;
  Axis y;
  bool nothing_to_show;
};
[[nodiscard]] Axes line_axes(const Panel &panel);
[[nodiscard]] Axes bar_axes(const Panel &panel);

/// In fractions of the axes.
[[nodiscard]] std::vector<Vertex> trace(const Curve &curve, const Axes &axes);

/// No more than about `limit` vertices: of those that share a slice of the x axis,
/// the first, the last and the extremes.
[[nodiscard]] std::vector<Vertex> capped(std::vector<Vertex> vertices, std::size_t limit);

/// Without the vertices that lie within `tolerance` of the line through others
/// (Douglas and Peucker).
[[nodiscard]] std::vector<Vertex> simplified(const std::vector<Vertex> &vertices, double tolerance);

} // namespace duplex::report
