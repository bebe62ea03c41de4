#pragma once
// One panel of a figure.

#include "report/figure.hpp"
#include "report/svg_markup.hpp"
#include "report/svg_style.hpp"
#include "report/trace.hpp"

#include <string>

namespace duplex::report::svg {

/// Room for labels around the plot.
struct Margins {
  double left = 0;
  double top = 0;
  double right = 0;
  double bottom = 0;
};

class PanelDrawing {
public:
  /// The cell is what the plot and its margins may fill.
  PanelDrawing(const Panel &panel, const Styles &styles, double cell_width, double cell_height);

  [[nodiscard]] const Margins &margins() const { return margins_; }
  [[nodiscard]] std::string at(const Box &plot) const;

private:
  struct CategoryLabels {
    double degrees = 0;
    double room = 0;
    std::size_t every = 1;
  };

  [[nodiscard]] CategoryLabels category_labels(double plot_width) const;
  [[nodiscard]] double category_overhang(double plot_width) const;
  [[nodiscard]] double category_depth() const;

  [[nodiscard]] std::string frame(const Box &plot) const;
  [[nodiscard]] std::string titles(const Box &plot) const;
  [[nodiscard]] std::string y_scale(const Box &plot) const;
  [[nodiscard]] std::string x_scale(const Box &plot) const;
  [[nodiscard]] std::string category_names(const Box &plot) const;
  [[nodiscard]] std::string curve(const Curve &curve, const Box &plot) const;
  [[nodiscard]] std::string bars(const Box &plot) const;

  const Panel &panel_;
  const Styles &styles_;
  Axes axes_;
  Ticks y_ticks_;
  CategoryLabels category_labels_;
  Margins margins_;
};

} // namespace duplex::report::svg
