#pragma once
// Dots and letters on a grid of terminal cells.

#include <string>
#include <vector>

namespace duplex::report {

/// Each cell holds two by four dots, as a Braille character, or a letter.
class Canvas {
public:
  static constexpr int dots_across = 2;
  static constexpr int dots_down = 4;

  Canvas(int columns, int rows);

  [[nodiscard]] int width_in_dots() const { return columns_ * dots_across; }
  [[nodiscard]] int height_in_dots() const { return rows_ * dots_down; }

  /// Dots count from the top left; those outside are not drawn.
  void dot(int x, int y);

  /// False where there is a letter already.
  bool letter(int column, int row, char letter);

  [[nodiscard]] std::string row(int row) const;

private:
  struct Cell {
    unsigned dots = 0;
    char letter = 0;
  };
  [[nodiscard]] Cell &cell(int column, int row);

  int columns_;
  int rows_;
  std::vector<Cell> cells_;
};

} // namespace duplex::report
