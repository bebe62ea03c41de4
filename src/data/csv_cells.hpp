#pragma once
// The cells of a CSV text (RFC 4180) one after the other.

#include "data/text_reader.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace duplex::data {

enum class CellEnd : std::uint8_t { cell, record, text }; ///< what the cell is followed by

struct Cell {
  std::string_view text; ///< good until the next call; without blanks around it unless it was quoted
  CellEnd end = CellEnd::cell;
};

class CsvCells {
public:
  /// Finds out the delimiter from the first line: the most frequent of , ; | and tab outside quotes.
  explicit CsvCells(TextReader &text);

  [[nodiscard]] char delimiter() const { return delimiter_; }
  /// Where the next cell begins, from 1.
  [[nodiscard]] std::uint64_t line() const { return line_; }
  [[nodiscard]] std::uint64_t column() const { return column_; }

  /// Passes over lines without any cell; gives the first one's number, or 0.
  [[nodiscard]] std::uint64_t skip_blank_lines();
  [[nodiscard]] bool at_end() { return text_->at(0) < 0; }

  [[nodiscard]] Cell next();
  /// From now on the bytes of every cell that next() takes are appended to this, with what ends it; null: no more.
  void copy_into(std::string *bytes) { bytes_ = bytes; }
  /// Takes cells of this record as long as they are plain numbers that lie in view, and says how many;
  /// what comes then needs next().
  [[nodiscard]] std::size_t next_numbers(float *values, std::size_t most, CellEnd &end);

  /// "file:line, column N"
  [[nodiscard]] std::string place() const;

private:
  [[nodiscard]] Cell plain_cell();
  [[nodiscard]] Cell quoted_cell(std::size_t opening);
  [[nodiscard]] CellEnd pass_cell_end(std::size_t cell_bytes);
  [[noreturn]] void refuse_too_long() const;

  TextReader *text_;
  char delimiter_ = ',';
  std::uint64_t line_ = 1;
  std::uint64_t column_ = 1;
  std::string unquoted_;
  std::string *bytes_ = nullptr;
};

} // namespace duplex::data
