#include "report/canvas.hpp"

#include <array>
#include <cstddef>

namespace duplex::report {
namespace {

/// U+2800 and on, a bit for each dot.
std::string braille(unsigned dots) {
  const unsigned code = 0x2800 + dots;
  return {static_cast<char>(0xE0 | (code >> 12)), static_cast<char>(0x80 | ((code >> 6) & 0x3F)),
          static_cast<char>(0x80 | (code & 0x3F))};
}

constexpr std::array<std::array<unsigned, Canvas::dots_across>, Canvas::dots_down> bit{
    {{0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}}};

} // namespace

Canvas::Canvas(int columns, int rows)
    : columns_(columns), rows_(rows), cells_(static_cast<std::size_t>(columns) * static_cast<std::size_t>(rows)) {}

void Canvas::dot(int x, int y) {
  if (x < 0 || y < 0 || x >= width_in_dots() || y >= height_in_dots()) {
    return;
  }
  cell(x / dots_across, y / dots_down).dots |=
      bit[static_cast<std::size_t>(y % dots_down)][static_cast<std::size_t>(x % dots_across)];
}

bool Canvas::letter(int column, int row, char letter) {
  if (column < 0 || row < 0 || column >= columns_ || row >= rows_ || cell(column, row).letter != 0) {
    return false;
  }
  cell(column, row).letter = letter;
  return true;
}

std::string Canvas::row(int row) const {
  std::string result;
  for (int column = 0; column < columns_; ++column) {
    const Cell &shown =
        cells_[static_cast<std::size_t>(row) * static_cast<std::size_t>(columns_) + static_cast<std::size_t>(column)];
    if (shown.letter != 0) {
      result += shown.letter;
    } else {
      result += shown.dots == 0 ? " " : braille(shown.dots);
    }
  }
  return result;
}

Canvas::Cell &Canvas::cell(int column, int row) {
  return cells_[static_cast<std::size_t>(row) * static_cast<std::size_t>(columns_) + static_cast<std::size_t>(column)];
}

} // namespace duplex::report
