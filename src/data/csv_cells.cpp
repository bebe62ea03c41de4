#include "data/csv_cells.hpp"

#include "data/quick_number.hpp"
#include "data/text.hpp"

#include <duplex/core/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace duplex::data {
namespace {

char most_frequent_delimiter(TextReader &text) {
  constexpr std::string_view candidates = ",;\t|";
  std::array<std::size_t, candidates.size()> counts{};
  bool quoted = false;
  for (std::size_t i = 0;; ++i) {
    const int c = text.at(i);
    if (c < 0 || (c == '\n' && !quoted)) {
      break;
    }
    quoted = quoted != (c == '"');
    const std::size_t candidate = candidates.find(static_cast<char>(c));
    if (!quoted && candidate != std::string_view::npos) {
      ++counts[candidate];
    }
  }
  return candidates[static_cast<std::size_t>(std::max_element(counts.begin(), counts.end()) - counts.begin())];
}

} // namespace

CsvCells::CsvCells(TextReader &text) : text_(&text), delimiter_(most_frequent_delimiter(text)) {}

std::string CsvCells::place() const { return fmt::format("{}:{}, column {}", text_->name(), line_, column_); }

void CsvCells::refuse_too_long() const {
  throw InvalidInput(
      fmt::format("{}: found a cell of more than {} bytes, expected a shorter one (is a quote not closed?)", place(),
                  TextReader::widest));
}

std::uint64_t CsvCells::skip_blank_lines() {
  std::uint64_t first = 0;
  for (;;) {
    std::size_t blanks = 0;
    int c = text_->at(0);
    while (c == ' ' || c == '\r' || (c == '\t' && delimiter_ != '\t')) {
      c = text_->at(++blanks);
    }
    if ((c >= 0 && c != '\n') || (c < 0 && text_->size() == 0)) {
      return first;
    }
    if (c < 0 && text_->is_full()) {
      refuse_too_long();
    }
    first = first == 0 ? line_ : first;
    ++line_;
    text_->skip(std::min(blanks + 1, text_->size()));
  }
}

std::size_t CsvCells::next_numbers(float *values, std::size_t most, CellEnd &end) {
  const char *at = text_->begin();
  const char *const last = text_->end();
  std::size_t taken = 0;
  end = CellEnd::cell;
  while (taken < most && end == CellEnd::cell) {
    const char *stop = quick_number(at, last, values[taken]);
    if (stop == nullptr || last - stop < 2) {
      break;
    }
    if (*stop != delimiter_) {
      stop += *stop == '\r' ? 1 : 0;
      if (*stop != '\n') {
        break;
      }
      end = CellEnd::record;
    }
    at = stop + 1;
    ++taken;
  }
  text_->skip(static_cast<std::size_t>(at - text_->begin()));
  column_ = end == CellEnd::record ? 1 : column_ + taken;
  line_ += end == CellEnd::record ? 1 : 0;
  return taken;
}

Cell CsvCells::next() {
  std::size_t blanks = 0;
  while (text_->at(blanks) == ' ') {
    ++blanks;
  }
  return text_->at(blanks) == '"' ? quoted_cell(blanks) : plain_cell();
}

Cell CsvCells::plain_cell() {
  std::size_t length = 0;
  do {
    const auto ends_cell = [this](char c) { return c == delimiter_ || c == '\n'; };
    length = static_cast<std::size_t>(std::find_if(text_->begin() + length, text_->end(), ends_cell) - text_->begin());
  } while (length == text_->size() && text_->more());
  if (length == text_->size() && text_->is_full()) {
    refuse_too_long();
  }
  const std::string_view text(text_->begin(), length);
  return {trimmed(text), pass_cell_end(length)};
}

Cell CsvCells::quoted_cell(std::size_t opening) {
  unquoted_.clear();
  std::size_t at = opening + 1;
  std::uint64_t lines = 0;
  for (;; ++at) {
    const int c = text_->at(at);
    if (c < 0) {
      if (text_->is_full()) {
        refuse_too_long();
      }
      throw InvalidInput(fmt::format("{}: the quote that opens here is never closed, expected another '\"'", place()));
    }
    if (c == '"' && text_->at(++at) != '"') {
      break;
    }
    lines += c == '\n' ? 1 : 0;
    unquoted_ += static_cast<char>(c);
  }
  int c = text_->at(at);
  while (c == ' ' || c == '\r' || (c == '\t' && delimiter_ != '\t')) {
    c = text_->at(++at);
  }
  if (c < 0 && text_->is_full()) {
    refuse_too_long();
  }
  if (c >= 0 && c != delimiter_ && c != '\n') {
    const char found = static_cast<char>(c);
    throw InvalidInput(fmt::format("{}: found '{}' after the closing quote, expected the end of the cell", place(),
                                   shown({&found, 1})));
  }
  line_ += lines;
  return {unquoted_, pass_cell_end(at)};
}

CellEnd CsvCells::pass_cell_end(std::size_t cell_bytes) {
  const int c = cell_bytes < text_->size() ? text_->begin()[cell_bytes] : -1;
  if (bytes_ != nullptr) {
    bytes_->append(text_->begin(), std::min(cell_bytes + 1, text_->size()));
  }
  text_->skip(std::min(cell_bytes + 1, text_->size()));
  if (c >= 0 && c == delimiter_) {
    ++column_;
    return CellEnd::cell;
  }
  ++line_;
  column_ = 1;
  return c == '\n' ? CellEnd::record : CellEnd::text;
}

} // namespace duplex::data
