#include "report/trace.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace duplex::report {
namespace {

constexpr std::size_t kept_per_group = 4;

/// Appends the first, the last, the lowest and the highest of a group.
void keep_outline(const std::vector<Vertex> &vertices, std::size_t begin, std::size_t end, std::vector<Vertex> &kept) {
  const auto first = vertices.begin() + static_cast<std::ptrdiff_t>(begin);
  const auto last = vertices.begin() + static_cast<std::ptrdiff_t>(end);
  const auto [low, high] = std::minmax_element(first, last, [](const Vertex &a, const Vertex &b) { return a.y < b.y; });
  auto outline = {first, std::min(low, high), std::max(low, high), last - 1};
  auto previous = last;
  for (const auto vertex : outline) {
    if (vertex == previous) {
      continue;
    }
    kept.push_back(*vertex);
    kept.back().starts_line = vertex == first && first->starts_line;
    previous = vertex;
  }
}

template <typename GroupOf>
std::vector<Vertex> outline_of_groups(const std::vector<Vertex> &vertices, const GroupOf &group_of) {
  std::vector<Vertex> kept;
  for (std::size_t begin = 0, end = 0; begin < vertices.size(); begin = end) {
    while (end < vertices.size() && group_of(end) == group_of(begin)) {
      ++end;
    }
    keep_outline(vertices, begin, end, kept);
  }
  return kept;
}

double distance_to_segment(const Vertex &p, const Vertex &a, const Vertex &b) {
  const double dx = b.x - a.x;
  const double dy = b.y - a.y;
  const double square = dx * dx + dy * dy;
  const double along = square > 0 ? std::clamp(((p.x - a.x) * dx + (p.y - a.y) * dy) / square, 0.0, 1.0) : 0.0;
  return std::hypot(p.x - a.x - along * dx, p.y - a.y - along * dy);
}

void mark_needed(const std::vector<Vertex> &vertices, std::size_t first, std::size_t last, double tolerance,
                 std::vector<bool> &needed) {
  needed[first] = needed[last] = true;
  std::vector<std::pair<std::size_t, std::size_t>> open{{first, last}};
  while (!open.empty()) {
    const auto [begin, end] = open.back();
    open.pop_back();
    double farthest = tolerance;
    std::size_t split = begin;
    for (std::size_t i = begin + 1; i < end; ++i) {
      const double distance = distance_to_segment(vertices[i], vertices[begin], vertices[end]);
      if (distance > farthest) {
        farthest = distance;
        split = i;
      }
    }
    if (split == begin) {
      continue;
    }
    needed[split] = true;
    open.emplace_back(begin, split);
    open.emplace_back(split, end);
  }
}

} // namespace

bool shows_bars(const Panel &panel) { return !panel.categories.empty(); }

Axes line_axes(const Panel &panel) {
  std::vector<double> xs;
  std::vector<double> ys;
  for (const Curve &curve : panel.curves) {
    for (std::size_t i = 0; i < std::min(curve.x.size(), curve.y.size()); ++i) {
      if (!Axis::can_show(panel.log_x, curve.x[i]) || !Axis::can_show(panel.log_y, curve.y[i])) {
        continue;
      }
      xs.push_back(curve.x[i]);
      ys.push_back(curve.y[i]);
    }
  }
  return {Axis(panel.log_x, xs, {0.025, 0.025}), Axis(panel.log_y, ys, {0.05, 0.05}), xs.empty()};
}

Axes bar_axes(const Panel &panel) {
  std::vector<double> heights;
  double lowest_y = std::numeric_limits<double>::infinity();
  for (const Curve &curve : panel.curves) {
    for (std::size_t i = 0; i < std::min(curve.y.size(), panel.categories.size()); ++i) {
      if (!Axis::can_show(panel.log_y, curve.y[i])) {
        continue;
      }
      heights.push_back(curve.y[i]);
      lowest_y = std::min(lowest_y, curve.y[i]);
    }
  }
  const bool empty = heights.empty();
  // The lowest bar of a logarithmic panel stands at least half a decade above the floor.
  const double floor = panel.log_y && !empty ? std::pow(10.0, std::floor(std::log10(lowest_y) - 0.5)) : 0.0;
  heights.push_back(floor);
  const double room_below = !panel.log_y && lowest_y < 0 ? 0.05 : 0.0;
  const std::vector<double> ends{0.0, static_cast<double>(panel.categories.size())};
  return {Axis(false, ends, {0, 0}), Axis(panel.log_y, heights, {room_below, 0.05}), empty};
}

std::vector<Vertex> trace(const Curve &curve, const Axes &axes) {
  std::vector<Vertex> vertices;
  bool broken = true;
  for (std::size_t i = 0; i < std::min(curve.x.size(), curve.y.size()); ++i) {
    const double x = axes.x.fraction(curve.x[i]);
    const double y = axes.y.fraction(curve.y[i]);
    if (std::isnan(x) || std::isnan(y)) {
      broken = true;
      continue;
    }
    vertices.push_back({x, y, std::exchange(broken, false)});
  }
  return vertices;
}

std::vector<Vertex> capped(std::vector<Vertex> vertices, std::size_t limit) {
  const std::size_t groups = std::max<std::size_t>(1, limit / kept_per_group);
  if (vertices.size() > limit) {
    vertices = outline_of_groups(
        vertices, [&](std::size_t i) { return std::floor(vertices[i].x * static_cast<double>(groups)); });
  }
  // A curve that runs back and forth visits a slice many times.
  if (vertices.size() > limit) {
    vertices = outline_of_groups(vertices, [&](std::size_t i) { return i * groups / vertices.size(); });
  }
  return vertices;
}

std::vector<Vertex> simplified(const std::vector<Vertex> &vertices, double tolerance) {
  std::vector<bool> needed(vertices.size(), false);
  for (std::size_t begin = 0, end = 0; begin < vertices.size(); begin = end) {
    end = begin + 1;
    while (end < vertices.size() && !vertices[end].starts_line) {
      ++end;
    }
    mark_needed(vertices, begin, end - 1, tolerance, needed);
  }
  std::vector<Vertex> kept;
  for (std::size_t i = 0; i < vertices.size(); ++i) {
    if (needed[i]) {
      kept.push_back(vertices[i]);
    }
  }
  return kept;
}

} // namespace duplex::report
