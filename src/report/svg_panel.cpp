#include "report/svg_panel.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

namespace duplex::report::svg {
namespace {

constexpr double tick_size = 10.5;
constexpr double label_size = 11.5;
constexpr double title_size = 12.5;
constexpr double tick_length = 4;
constexpr double minor_tick_length = 2.2;
constexpr double tick_gap = 3;

constexpr double longest_category = 105;
constexpr double slant = -35;
constexpr double width_for_slanted = 1.9 * tick_size;

constexpr std::size_t vertices_per_curve = 1000;
constexpr double invisible = 0.08;

constexpr std::string_view quiet_colour = "#777777";
constexpr std::string_view grid_stroke = "stroke=\"#E6E6E6\" stroke-width=\"0.8\"";
constexpr std::string_view axis_stroke = "stroke=\"#444444\" stroke-width=\"0.9\"";

std::string group(std::string_view attributes, const std::string &content) {
  return content.empty() ? "" : fmt::format("<g {}>\n{}</g>\n", attributes, content);
}

double widest(const Ticks &ticks) {
  double result = 0;
  for (const Tick &tick : ticks.major) {
    result = std::max(result, width_of(tick, tick_size));
  }
  return result;
}

/// As many ticks as their labels leave room for.
Ticks ticks_within(const Axis &axis, double width) {
  for (int at_most = 7; at_most > 2; --at_most) {
    Ticks ticks = axis.ticks(at_most);
    const double spacing = width / static_cast<double>(std::max<std::size_t>(ticks.major.size(), 1));
    if (widest(ticks) + 2 * tick_gap <= spacing) {
      return ticks;
    }
  }
  return axis.ticks(2);
}

double radians(double degrees) { return degrees * std::numbers::pi / 180; }

} // namespace

PanelDrawing::PanelDrawing(const Panel &panel, const Styles &styles, double cell_width, double cell_height)
    : panel_(panel), styles_(styles), axes_(shows_bars(panel) ? bar_axes(panel) : line_axes(panel)) {
  if (!axes_.nothing_to_show) {
    y_ticks_ = axes_.y.ticks(static_cast<int>(cell_height / 31));
  }
  margins_.top = panel.title.empty() ? 10 : 12 + title_size;
  margins_.right = 14;
  margins_.left = tick_length + tick_gap + widest(y_ticks_) + 8;
  if (!panel.y_label.empty()) {
    margins_.left += label_size + 6;
  }
  const double plot_width = cell_width - margins_.left - margins_.right;
  category_labels_ = category_labels(plot_width);
  margins_.left = std::max(margins_.left, category_overhang(plot_width));
  margins_.bottom = tick_length + tick_gap + (shows_bars(panel) ? category_depth() : tick_size) + 10;
  if (!panel.x_label.empty()) {
    margins_.bottom += label_size + 5;
  }
}

PanelDrawing::CategoryLabels PanelDrawing::category_labels(double plot_width) const {
  if (!shows_bars(panel_)) {
    return {};
  }
  const double width = plot_width / static_cast<double>(panel_.categories.size());
  double longest = 0;
  for (const std::string &category : panel_.categories) {
    longest = std::max(longest, width_of(category, tick_size));
  }
  if (longest + tick_gap <= width) {
    return {0, width, 1};
  }
  if (width >= width_for_slanted) {
    return {slant, longest_category, 1};
  }
  return {-90, longest_category, static_cast<std::size_t>(std::ceil(1.1 * tick_size / width))};
}

double PanelDrawing::category_overhang(double plot_width) const {
  if (category_labels_.degrees == 0) {
    return 0;
  }
  const double width = plot_width / static_cast<double>(panel_.categories.size());
  double overhang = 0;
  double centre = 0.5 * width;
  for (const std::string &category : panel_.categories) {
    const double length = std::min(width_of(category, tick_size), longest_category);
    overhang = std::max(overhang, length * std::cos(radians(category_labels_.degrees)) - centre);
    centre += width;
  }
  return overhang;
}

double PanelDrawing::category_depth() const {
  double longest = 0;
  for (const std::string &category : panel_.categories) {
    longest = std::max(longest, std::min(width_of(category, tick_size), longest_category));
  }
  return std::abs(std::sin(radians(category_labels_.degrees))) * longest + tick_size;
}

std::string PanelDrawing::at(const Box &plot) const {
  std::string content = titles(plot);
  if (axes_.nothing_to_show) {
    return content + frame(plot) +
           text(plot.x + plot.width / 2, plot.y + plot.height / 2, "no data to show",
                {.size = label_size, .anchor = "middle", .colour = quiet_colour}, plot.width);
  }
  content += y_scale(plot) + (shows_bars(panel_) ? category_names(plot) : x_scale(plot));

  // A nested document clips what it draws, and unlike a clip path needs no name, which
  // could clash with that of another figure on the same page.
  content += fmt::format("<svg x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" overflow=\"hidden\">\n", number(plot.x),
                         number(plot.y), number(plot.width), number(plot.height));
  if (shows_bars(panel_)) {
    content += bars(plot);
  } else {
    for (const bool references : {false, true}) {
      for (const Curve &each : panel_.curves) {
        content += each.dashed == references ? curve(each, plot) : "";
      }
    }
  }
  return content + "</svg>\n" + frame(plot);
}

std::string PanelDrawing::frame(const Box &plot) const {
  return group(axis_stroke,
               line(plot.x, plot.y, plot.x, plot.bottom()) + line(plot.x, plot.bottom(), plot.right(), plot.bottom()));
}

std::string PanelDrawing::titles(const Box &plot) const {
  const double centre = plot.x + plot.width / 2;
  std::string content;
  if (!panel_.title.empty()) {
    content += text(centre, plot.y - 9, panel_.title, {.size = title_size, .anchor = "middle", .bold = true},
                    plot.width + 2 * margins_.right);
  }
  if (!panel_.x_label.empty()) {
    content += text(centre, plot.bottom() + margins_.bottom - 9, panel_.x_label,
                    {.size = label_size, .anchor = "middle"}, plot.width + margins_.right);
  }
  if (!panel_.y_label.empty()) {
    content += text(plot.x - margins_.left + label_size + 3, plot.y + plot.height / 2, panel_.y_label,
                    {.size = label_size, .anchor = "middle", .degrees = -90}, plot.height + margins_.top);
  }
  return content;
}

std::string PanelDrawing::y_scale(const Box &plot) const {
  std::string grid;
  std::string marks;
  std::string labels;
  for (const Tick &tick : y_ticks_.major) {
    const double y = plot.bottom() - tick.fraction * plot.height;
    grid += line(plot.x, y, plot.right(), y);
    marks += line(plot.x - tick_length, y, plot.x, y);
    labels += text(plot.x - tick_length - tick_gap, y + 0.36 * tick_size, tick, {.size = tick_size, .anchor = "end"});
  }
  for (const double fraction : y_ticks_.minor) {
    const double y = plot.bottom() - fraction * plot.height;
    marks += line(plot.x - minor_tick_length, y, plot.x, y);
  }
  return group(grid_stroke, grid) + group(axis_stroke, marks) + labels;
}

std::string PanelDrawing::x_scale(const Box &plot) const {
  const Ticks ticks = ticks_within(axes_.x, plot.width);
  std::string grid;
  std::string marks;
  std::string labels;
  for (const Tick &tick : ticks.major) {
    const double x = plot.x + tick.fraction * plot.width;
    grid += line(x, plot.y, x, plot.bottom());
    marks += line(x, plot.bottom(), x, plot.bottom() + tick_length);
    labels += text(x, plot.bottom() + tick_length + tick_gap + 0.95 * tick_size, tick,
                   {.size = tick_size, .anchor = "middle"});
  }
  for (const double fraction : ticks.minor) {
    const double x = plot.x + fraction * plot.width;
    marks += line(x, plot.bottom(), x, plot.bottom() + minor_tick_length);
  }
  return group(grid_stroke, grid) + group(axis_stroke, marks) + labels;
}

std::string PanelDrawing::category_names(const Box &plot) const {
  const double width = plot.width / static_cast<double>(panel_.categories.size());
  const double top = plot.bottom() + tick_length + tick_gap;
  const double degrees = category_labels_.degrees;
  std::string content;
  for (std::size_t i = 0; i < panel_.categories.size(); i += category_labels_.every) {
    const double centre = plot.x + (static_cast<double>(i) + 0.5) * width;
    // A turned name ends below the middle of its group.
    const double x = degrees == 0 ? centre : centre + 0.35 * tick_size;
    const double y = degrees == 0 ? top + 0.95 * tick_size : top + 0.3 * tick_size;
    content +=
        text(x, y, panel_.categories[i],
             {.size = tick_size, .anchor = degrees == 0 ? "middle" : "end", .degrees = degrees}, category_labels_.room);
  }
  return content;
}

std::string PanelDrawing::curve(const Curve &curve, const Box &plot) const {
  std::vector<Vertex> vertices = capped(trace(curve, axes_), vertices_per_curve);
  for (Vertex &vertex : vertices) {
    vertex = {vertex.x * plot.width, (1 - vertex.y) * plot.height, vertex.starts_line};
  }
  if (!curve.marked) {
    vertices = simplified(vertices, invisible);
  }

  std::string path;
  std::string markers;
  const Style style = styles_.of(curve);
  for (std::size_t i = 0; i < vertices.size(); ++i) {
    const Vertex &vertex = vertices[i];
    path += fmt::format("{}{},{}", vertex.starts_line ? 'M' : 'L', number(vertex.x), number(vertex.y));
    const bool alone = vertex.starts_line && (i + 1 == vertices.size() || vertices[i + 1].starts_line);
    if (curve.marked || alone) {
      markers += marker(style, vertex.x, vertex.y);
    }
  }
  const std::string name = curve.label.empty() ? "" : fmt::format("<title>{}</title>", escaped(curve.label));
  std::string content;
  if (!path.empty()) {
    content += fmt::format("<path {} d=\"{}\">{}</path>\n", stroke(style, curve.dashed), path, name);
  }
  if (!markers.empty()) {
    content += fmt::format("<path fill=\"{}\" stroke=\"white\" stroke-width=\"0.6\" d=\"{}\">{}</path>\n", style.colour,
                           markers, name);
  }
  return content;
}

std::string PanelDrawing::bars(const Box &plot) const {
  const double group_width = plot.width / static_cast<double>(panel_.categories.size());
  const double bar_width = 0.78 * group_width / static_cast<double>(panel_.curves.size());
  const double zero = axes_.y.fraction(0);
  const double base = (1 - (std::isnan(zero) ? 0 : zero)) * plot.height;
  std::string content;
  for (std::size_t k = 0; k < panel_.curves.size(); ++k) {
    const Curve &curve = panel_.curves[k];
    std::string rectangles;
    for (std::size_t i = 0; i < std::min(curve.y.size(), panel_.categories.size()); ++i) {
      const double end = (1 - axes_.y.fraction(curve.y[i])) * plot.height;
      if (std::isnan(end)) {
        continue;
      }
      const double left = (static_cast<double>(i) + 0.11) * group_width + static_cast<double>(k) * bar_width;
      rectangles +=
          fmt::format("<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"/>\n", number(left + 0.04 * bar_width),
                      number(std::min(base, end)), number(0.92 * bar_width), number(std::abs(base - end)));
    }
    content += group(filling(styles_.of(curve), curve.dashed), rectangles);
  }
  return content + (std::isnan(zero) ? "" : group(axis_stroke, line(0, base, plot.width, base)));
}

} // namespace duplex::report::svg
