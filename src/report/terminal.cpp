#include "report/canvas.hpp"
#include "report/figure.hpp"
#include "report/text.hpp"
#include "report/trace.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

namespace duplex::report {
namespace {

constexpr int narrowest = 24;
constexpr int lowest = 4;
constexpr int rows_per_tick = 3;
constexpr int letters_per_curve = 4;

std::size_t size(int count) { return static_cast<std::size_t>(count); }

char letter_of(std::size_t curve) {
  constexpr std::string_view letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
  return letters[curve % letters.size()];
}

std::string label(const Tick &tick) { return tick.text + (tick.exponent ? superscript(*tick.exponent) : ""); }

std::string without_trailing_spaces(std::string line) {
  line.erase(line.find_last_not_of(' ') + 1);
  return line + '\n';
}

std::string optional_line(const std::string &text, int indent, int width) {
  if (text.empty()) {
    return "";
  }
  return without_trailing_spaces(std::string(size(indent), ' ') + elided(text, size(std::max(width - indent, 1))));
}

/// Joins the dots of a curve and remembers which row it crosses in each column.
class Pen {
public:
  Pen(Canvas &canvas, bool dashed) : canvas_(canvas), dashed_(dashed) {}

  void draw(const std::vector<Vertex> &vertices) {
    for (const Vertex &vertex : vertices) {
      const int x = dot_at(vertex.x, canvas_.width_in_dots());
      const int y = dot_at(1 - vertex.y, canvas_.height_in_dots());
      if (vertex.starts_line) {
        touch(x, y);
      } else {
        line_to(x, y);
      }
      x_ = x;
      y_ = y;
    }
  }

  [[nodiscard]] const std::map<int, int> &row_of_column() const { return row_of_column_; }

private:
  static int dot_at(double fraction, int dots) { return static_cast<int>(std::lround(fraction * (dots - 1))); }

  void line_to(int x, int y) {
    const int steps = std::max(std::abs(x - x_), std::abs(y - y_));
    for (int i = 1; i <= steps; ++i) {
      const double along = static_cast<double>(i) / steps;
      touch(x_ + static_cast<int>(std::lround(along * (x - x_))), y_ + static_cast<int>(std::lround(along * (y - y_))));
    }
  }

  void touch(int x, int y) {
    constexpr int dash = 3;
    if (!dashed_ || (drawn_++ / dash) % 2 == 0) {
      canvas_.dot(x, y);
    }
    row_of_column_.try_emplace(x / Canvas::dots_across, y / Canvas::dots_down);
  }

  Canvas &canvas_;
  bool dashed_;
  int drawn_ = 0;
  int x_ = 0;
  int y_ = 0;
  std::map<int, int> row_of_column_;
};

/// Puts the letter on its curve here and there, at other places than those of the other
/// curves, so that curves that coincide are told apart too.
void place_letters(Canvas &canvas, const std::map<int, int> &row_of_column, std::size_t curve, std::size_t curves) {
  const int columns = canvas.width_in_dots() / Canvas::dots_across;
  const int spacing = std::max(columns / letters_per_curve, 1);
  const int offset = static_cast<int>(size(spacing) * (2 * curve + 1) / (2 * curves));
  bool placed = false;
  for (int column = offset; column < columns; column += spacing) {
    if (const auto found = row_of_column.find(column); found != row_of_column.end()) {
      placed |= canvas.letter(column, found->second, letter_of(curve));
    }
  }
  for (auto place = row_of_column.begin(); !placed && place != row_of_column.end(); ++place) {
    placed = canvas.letter(place->first, place->second, letter_of(curve));
  }
}

std::string x_scale(const Axis &axis, int columns) {
  const Ticks ticks = axis.ticks(std::max(columns / 12, 2));
  std::vector<std::string> rule(size(columns), "─");
  std::string labels;
  for (const Tick &tick : ticks.major) {
    const auto column = size(std::clamp(static_cast<int>(std::lround(tick.fraction * (columns - 1))), 0, columns - 1));
    rule[column] = "┬";
    const std::size_t width = display_width(label(tick));
    const std::size_t start =
        std::min(column - std::min(column, width / 2), size(columns) - std::min(width, size(columns)));
    const std::size_t used = display_width(labels);
    if (used == 0 || start > used) {
      labels += std::string(start - used, ' ') + label(tick);
    }
  }
  std::string result;
  for (const std::string &piece : rule) {
    result += piece;
  }
  return result + '\n' + labels;
}

std::string legend(const Panel &panel, int width) {
  std::string result;
  std::string line;
  for (std::size_t i = 0; i < panel.curves.size(); ++i) {
    const Curve &curve = panel.curves[i];
    const std::string entry =
        elided(fmt::format("{} {}{}", letter_of(i), curve.label, curve.dashed ? " (dashed)" : ""), size(width - 2));
    if (!line.empty() && display_width(line) + 3 + display_width(entry) > size(width)) {
      result += without_trailing_spaces(line);
      line.clear();
    }
    line += (line.empty() ? "  " : "   ") + entry;
  }
  return line.empty() ? result : result + without_trailing_spaces(line);
}

std::string lines_in_terminal(const Panel &panel, int width, int height) {
  const Axes axes = line_axes(panel);
  std::map<int, std::string> label_of_row;
  std::size_t label_width = 0;
  const Ticks ticks = axes.nothing_to_show ? Ticks{} : axes.y.ticks(height / rows_per_tick);
  for (const Tick &tick : ticks.major) {
    label_of_row[std::clamp(static_cast<int>((1 - tick.fraction) * height), 0, height - 1)] = label(tick);
    label_width = std::max(label_width, display_width(label(tick)));
  }
  const int indent = static_cast<int>(label_width) + 2;
  const int columns = std::max(width - indent - 1, narrowest / 2);

  Canvas canvas(columns, height);
  for (std::size_t i = 0; i < panel.curves.size(); ++i) {
    Pen pen(canvas, panel.curves[i].dashed);
    pen.draw(trace(panel.curves[i], axes));
    place_letters(canvas, pen.row_of_column(), i, panel.curves.size());
  }

  std::string result = optional_line(panel.title, indent, width) + optional_line(panel.y_label, indent, width);
  for (int row = 0; row < height; ++row) {
    const auto found = label_of_row.find(row);
    const std::string margin = right_aligned(found == label_of_row.end() ? "" : found->second, label_width + 1);
    const bool says_empty = axes.nothing_to_show && row == height / 2;
    result += without_trailing_spaces(margin + (found == label_of_row.end() ? " │" : " ┤") +
                                      (says_empty ? "  no data to show" : canvas.row(row)));
  }
  const std::string margin(size(indent), ' ');
  if (axes.nothing_to_show) {
    result += margin + "└" + repeated("─", size(columns)) + '\n';
  } else {
    const std::string scale = x_scale(axes.x, columns);
    const std::size_t end_of_rule = scale.find('\n');
    result += margin + "└" + scale.substr(0, end_of_rule + 1) + margin + ' ' +
              without_trailing_spaces(scale.substr(end_of_rule + 1));
  }
  return result + optional_line(panel.x_label, indent + 1, width) + legend(panel, width);
}

std::size_t widest(const std::vector<std::string> &names) {
  std::size_t result = 0;
  for (const std::string &name : names) {
    result = std::max(result, display_width(name));
  }
  return result;
}

/// A bar lying on its side, from zero or from the low end of a logarithmic axis.
std::string lying_bar(const Axis &axis, double value, bool dashed, std::size_t room) {
  const double end = axis.fraction(value);
  if (std::isnan(end)) {
    return " –";
  }
  const double zero = axis.fraction(0);
  const auto cell = [room](double fraction) {
    return size(static_cast<int>(std::lround(fraction * static_cast<double>(room))));
  };
  const auto [left, right] = std::minmax({cell(end), cell(std::isnan(zero) ? 0 : zero)});
  return std::string(left, ' ') + repeated(dashed ? "░" : "█", right - left) + fmt::format(" {:.3g}", value);
}

std::string bars_in_terminal(const Panel &panel, int width) {
  std::vector<std::string> labels;
  for (const Curve &curve : panel.curves) {
    labels.push_back(curve.label);
  }
  const std::size_t category_width = std::min(widest(panel.categories), size(width) / 4);
  const std::size_t label_width = std::min(widest(labels), size(width) / 4);
  constexpr std::size_t value_width = 10;
  const std::size_t taken = category_width + label_width + value_width + 4;
  const std::size_t room = size(width) - std::min(taken, size(width) - 1);

  const Axes axes = bar_axes(panel);
  std::string result = optional_line(panel.title, 0, width) + optional_line(panel.y_label, 0, width);
  for (std::size_t i = 0; i < panel.categories.size(); ++i) {
    for (std::size_t k = 0; k < panel.curves.size(); ++k) {
      const Curve &curve = panel.curves[k];
      const std::string category = k == 0 ? elided(panel.categories[i], category_width) : "";
      const double value = i < curve.y.size() ? curve.y[i] : std::nan("");
      result += without_trailing_spaces(left_aligned(category, category_width) + "  " +
                                        left_aligned(elided(curve.label, label_width), label_width) + " │" +
                                        lying_bar(axes.y, value, curve.dashed, room));
    }
  }
  return result + optional_line(panel.x_label, 0, width);
}

} // namespace

std::string to_terminal(const Panel &panel, int width, int height) {
  width = std::max(width, narrowest);
  return shows_bars(panel) ? bars_in_terminal(panel, width) : lines_in_terminal(panel, width, std::max(height, lowest));
}

} // namespace duplex::report
