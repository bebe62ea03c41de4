#pragma once
// Pieces of SVG.

#include "report/axis.hpp"

#include <string>
#include <string_view>

namespace duplex::report::svg {

struct Box {
  double x;
  double y;
  double width;
  double height;
  [[nodiscard]] double right() const { return x + width; }
  [[nodiscard]] double bottom() const { return y + height; }
};

struct Type {
  double size;
  std::string_view anchor = "start"; ///< or "middle" or "end"
  std::string_view colour = "#222222";
  bool bold = false;
  double degrees = 0; ///< turned about its anchor
};

/// With two decimals, fewer where they are zero.
[[nodiscard]] std::string number(double value);

[[nodiscard]] std::string escaped(std::string_view text);

/// An estimate: a reader's fonts are not known here.
[[nodiscard]] double width_of(std::string_view text, double size);
[[nodiscard]] double width_of(const Tick &tick, double size);

/// Cut to the room with an ellipsis; the whole text is then shown on hovering.
[[nodiscard]] std::string text(double x, double y, std::string_view content, const Type &type, double room);
[[nodiscard]] std::string text(double x, double y, const Tick &tick, const Type &type);

[[nodiscard]] std::string line(double x1, double y1, double x2, double y2);

} // namespace duplex::report::svg
