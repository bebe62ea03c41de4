#include "report/figure.hpp"
#include "report/svg_markup.hpp"
#include "report/svg_panel.hpp"
#include "report/svg_style.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <numeric>
#include <vector>

namespace duplex::report {
namespace {

using svg::LegendEntry;
using svg::Margins;
using svg::number;
using svg::PanelDrawing;

constexpr double page_margin = 8;
constexpr double title_size = 15;
constexpr double legend_size = 11.5;
constexpr double legend_row = 18;
constexpr double legend_gap = 22;
constexpr double swatch_width = 26;
constexpr double swatch_gap = 6;

struct Cell {
  double width;
  double height;
};

Cell cell_for(std::size_t columns) {
  if (columns == 1) {
    return {540, 360};
  }
  return columns == 2 ? Cell{410, 290} : Cell{350, 260};
}

/// Panels in rows and columns, with the plots of a column as wide as one another and
/// those of a row as high.
class Grid {
public:
  Grid(const Figure &figure, const svg::Styles &styles)
      : columns_(std::min(static_cast<std::size_t>(std::max(figure.columns, 1)),
                          std::max<std::size_t>(figure.panels.size(), 1))),
        cell_(cell_for(columns_)) {
    panels_.reserve(figure.panels.size());
    for (const Panel &panel : figure.panels) {
      panels_.emplace_back(panel, styles, cell_.width, cell_.height);
    }
  }

  [[nodiscard]] double width() const { return static_cast<double>(columns_) * cell_.width; }

  [[nodiscard]] double height() const {
    const std::size_t rows = (panels_.size() + columns_ - 1) / columns_;
    return static_cast<double>(rows) * cell_.height;
  }

  [[nodiscard]] std::string at(double x, double y) const {
    std::string content;
    for (std::size_t i = 0; i < panels_.size(); ++i) {
      const Margins around = margins(i);
      const double left = x + static_cast<double>(i % columns_) * cell_.width;
      const std::size_t row = i / columns_;
      const double top = y + static_cast<double>(row) * cell_.height;
      content += panels_[i].at({left + around.left, top + around.top, cell_.width - around.left - around.right,
                                cell_.height - around.top - around.bottom});
    }
    return content;
  }

private:
  [[nodiscard]] Margins margins(std::size_t panel) const {
    Margins result;
    for (std::size_t i = 0; i < panels_.size(); ++i) {
      const Margins &other = panels_[i].margins();
      if (i % columns_ == panel % columns_) {
        result.left = std::max(result.left, other.left);
        result.right = std::max(result.right, other.right);
      }
      if (i / columns_ == panel / columns_) {
        result.top = std::max(result.top, other.top);
        result.bottom = std::max(result.bottom, other.bottom);
      }
    }
    return result;
  }

  std::size_t columns_;
  Cell cell_;
  std::vector<PanelDrawing> panels_;
};

/// Entries in aligned columns, filled row by row.
class Legend {
public:
  Legend(const std::vector<LegendEntry> &entries, double width) : width_(width) {
    std::ranges::copy_if(entries, std::back_inserter(entries_), [](const auto &e) { return !e.label.empty(); });
    for (std::size_t columns = entries_.size(); columns > 0; --columns) {
      column_widths_ = widths(columns);
      if (total() <= width_) {
        break;
      }
    }
    if (!entries_.empty()) {
      column_widths_ = widths((entries_.size() + rows() - 1) / rows());
    }
  }

  [[nodiscard]] double height() const { return entries_.empty() ? 0 : static_cast<double>(rows()) * legend_row + 6; }

  [[nodiscard]] std::string at(double left, double top) const {
    std::string content;
    const double start = left + std::max(0.0, (width_ - total()) / 2);
    double x = start;
    for (std::size_t i = 0; i < entries_.size(); ++i) {
      const std::size_t column = i % column_widths_.size();
      x = column == 0 ? start : x;
      const std::size_t row = i / column_widths_.size();
      const double middle = top + 6 + (static_cast<double>(row) + 0.5) * legend_row;
      content += swatch(entries_[i], x, middle);
      content += svg::text(x + swatch_width + swatch_gap, middle + 0.35 * legend_size, entries_[i].label,
                           {.size = legend_size}, width_ - swatch_width - swatch_gap);
      x += column_widths_[column];
    }
    return content;
  }

private:
  [[nodiscard]] std::size_t rows() const {
    return (entries_.size() + column_widths_.size() - 1) / column_widths_.size();
  }

  [[nodiscard]] double total() const {
    return std::accumulate(column_widths_.begin(), column_widths_.end(), 0.0) - legend_gap;
  }

  [[nodiscard]] std::vector<double> widths(std::size_t columns) const {
    std::vector<double> result(columns, 0.0);
    for (std::size_t i = 0; i < entries_.size(); ++i) {
      const double entry = swatch_width + swatch_gap + svg::width_of(entries_[i].label, legend_size);
      result[i % columns] = std::max(result[i % columns], std::min(entry, width_) + legend_gap);
    }
    return result;
  }

  [[nodiscard]] static std::string swatch(const LegendEntry &entry, double x, double y) {
    if (!entry.line) {
      return fmt::format("<rect x=\"{}\" y=\"{}\" width=\"11\" height=\"11\" {}/>\n", number(x + swatch_width - 13),
                         number(y - 5.5), svg::filling(entry.style, entry.reference));
    }
    std::string content = fmt::format("<path {} d=\"M{},{}h{}\"/>\n", svg::stroke(entry.style, entry.reference),
                                      number(x), number(y), number(swatch_width));
    if (entry.marked) {
      content += fmt::format("<path fill=\"{}\" stroke=\"white\" stroke-width=\"0.6\" d=\"{}\"/>\n", entry.style.colour,
                             svg::marker(entry.style, x + swatch_width / 2, y));
    }
    return content;
  }

  double width_;
  std::vector<LegendEntry> entries_;
  std::vector<double> column_widths_;
};

} // namespace

std::string to_svg(const Figure &figure) {
  const svg::Styles styles(figure);
  const Grid grid(figure, styles);
  const Legend legend(styles.entries(), grid.width());
  const double title_height = figure.title.empty() ? 0 : title_size + 12;
  const double width = grid.width() + 2 * page_margin;
  const double height = title_height + grid.height() + legend.height() + 2 * page_margin;

  std::string document =
      fmt::format("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" width=\"100%\" "
                  "style=\"max-width:{0}px\" role=\"img\" "
                  "font-family=\"Helvetica, Arial, 'Liberation Sans', 'DejaVu Sans', sans-serif\">\n",
                  number(width), number(height));
  if (!figure.title.empty()) {
    document += fmt::format("<title>{}</title>\n", svg::escaped(figure.title));
  }
  document += fmt::format("<rect width=\"{}\" height=\"{}\" fill=\"white\"/>\n", number(width), number(height));
  if (!figure.title.empty()) {
    document += svg::text(width / 2, page_margin + title_size, figure.title,
                          {.size = title_size, .anchor = "middle", .bold = true}, grid.width());
  }
  document += grid.at(page_margin, page_margin + title_height);
  document += legend.at(page_margin, page_margin + title_height + grid.height());
  return document + "</svg>\n";
}

} // namespace duplex::report
