#include "data/csv_copy.hpp"

#include "data/csv_cells.hpp"
#include "data/csv_write.hpp"

#include <duplex/core/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

namespace duplex::data {
namespace {

constexpr std::size_t piece_bytes = std::size_t{1} << 20U;

/// What ends a record: "\n", "\r\n", or nothing at the end of the text.
std::string_view ending_of(std::string_view record) {
  const std::size_t bytes = record.ends_with("\r\n") ? 2 : record.ends_with('\n') ? 1 : 0;
  return record.substr(record.size() - bytes);
}

class Copier {
public:
  Copier(ByteSource &source, const CsvCopy &copy, const std::function<void(std::string_view)> &write)
      : text_(source), copy_(copy), write_(write), has_mark_(has_mark(text_)), cells_(text_) {}

  void run() {
    if (has_mark_) {
      out_ += byte_order_mark;
    }
    if (copy_.has_header) {
      copy_header();
    }
    std::size_t row = 0;
    for (; begins(); ++row) {
      if (row == copy_.rows) {
        refuse(row + 1);
      }
      copy_row(copy_.change(row));
    }
    if (row != copy_.rows) {
      refuse(row);
    }
    write_(out_);
  }

private:
  static constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";

  static bool has_mark(TextReader &text) {
    (void)text.at(byte_order_mark.size() - 1);
    const bool is_there = std::string_view(text.begin(), text.size()).starts_with(byte_order_mark);
    skip_byte_order_mark(text);
    return is_there;
  }

  [[noreturn]] void refuse(std::size_t found) const {
    throw InvalidInput(fmt::format("{}: found {} rows or more, expected {} as before: it was changed meanwhile",
                                   text_.name(), found, copy_.rows));
  }

  bool begins() {
    (void)cells_.skip_blank_lines();
    if (out_.size() >= piece_bytes) {
      write_(std::exchange(out_, {}));
    }
    return !cells_.at_end();
  }

  void add(std::string_view record, const std::vector<std::string> &added) {
    const std::string_view ending = ending_of(record);
    out_ += record.substr(0, record.size() - ending.size());
    for (const auto &cell : added) {
      out_ += cells_.delimiter();
      out_ += cell;
    }
    out_ += ending;
  }

  void copy_header() {
    std::vector<std::string> names;
    std::string record;
    cells_.copy_into(&record);
    for (CellEnd end = CellEnd::cell; end == CellEnd::cell;) {
      const Cell cell = cells_.next();
      names.emplace_back(cell.text);
      end = cell.end;
    }
    cells_.copy_into(nullptr);
    std::vector<std::string> added;
    for (std::string name : copy_.added) {
      while (std::find(names.begin(), names.end(), name) != names.end()) {
        name = "duplex_" + name;
      }
      added.push_back(csv_cell(name));
    }
    add(record, added);
  }

  /// A record without quotes ends with its line.
  [[nodiscard]] std::string_view plain_record() {
    for (std::size_t seen = 0;;) {
      const auto *newline = static_cast<const char *>(std::memchr(text_.begin() + seen, '\n', text_.size() - seen));
      if (newline != nullptr) {
        const std::string_view line(text_.begin(), static_cast<std::size_t>(newline - text_.begin()) + 1);
        return std::memchr(line.data(), '"', line.size()) == nullptr ? line : std::string_view();
      }
      seen = text_.size();
      if (!text_.more()) {
        return {};
      }
    }
  }

  void copy_row(const CopiedRow &change) {
    if (change.label == nullptr) {
      if (const auto record = plain_record(); !record.empty()) {
        if (!change.is_left_out) {
          add(record, change.added);
        }
        text_.skip(record.size());
        return;
      }
    }
    std::string record;
    cells_.copy_into(&record);
    std::size_t column = 0;
    for (CellEnd end = CellEnd::cell; end == CellEnd::cell; ++column) {
      const std::size_t before = record.size();
      end = cells_.next().end;
      if (change.label != nullptr && column == copy_.label) {
        put_label(record, before, end, *change.label);
      }
    }
    cells_.copy_into(nullptr);
    if (!change.is_left_out) {
      add(record, change.added);
    }
  }

  /// Quoted where the cell was, or where it must be.
  void put_label(std::string &record, std::size_t from, CellEnd end, const std::string &label) const {
    const std::string cell = record.substr(from);
    const std::string_view behind =
        end == CellEnd::cell ? std::string_view(cell).substr(cell.size() - 1) : ending_of(cell);
    const bool was_quoted = cell.find('"') != std::string::npos;
    record.resize(from + std::min(cell.find_first_not_of(' '), cell.size() - behind.size())); // blanks before it stay
    record += was_quoted ? quoted_cell(label) : cell_as_it_is(label);
    record += behind;
  }

  TextReader text_;
  const CsvCopy &copy_;
  const std::function<void(std::string_view)> &write_;
  bool has_mark_;
  CsvCells cells_;
  std::string out_;
};

} // namespace

void copy_csv(ByteSource &source, const CsvCopy &copy, const std::function<void(std::string_view)> &write) {
  Copier(source, copy, write).run();
}

} // namespace duplex::data
