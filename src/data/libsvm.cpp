#include "data/labels.hpp"
#include "data/limits.hpp"
#include "data/quick_number.hpp"
#include "data/readers.hpp"
#include "data/sparsity.hpp"
#include "data/text.hpp"
#include "data/text_reader.hpp"

#include <duplex/core/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <system_error>
#include <utility>

namespace duplex::data {
namespace {

/// +1, 1 and 1.0 are one class, as LIBSVM's tools see them.
std::string class_name(std::string_view label) {
  constexpr double exact = 9007199254740992.0; // 2^53
  const std::string_view digits = label.starts_with('+') ? label.substr(1) : label;
  double value = 0.0;
  const auto [stop, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  const bool whole = error == std::errc{} && stop == digits.data() + digits.size() && std::abs(value) <= exact &&
                     value == std::floor(value);
  return whole ? std::to_string(static_cast<std::int64_t>(value)) : std::string(label);
}

/// Entries as they come; the table is made when its width is known.
class LibsvmReader {
public:
  LibsvmReader(ByteSource &source, const ReadOptions &options)
      : text_(source), options_(options), limit_(source.name(), options) {
    dataset_.source = source.name();
    skip_byte_order_mark(text_);
  }

  Dataset read() {
    while (text_.at(0) >= 0) {
      read_line();
      ++line_;
    }
    if (row_ends_.empty()) {
      throw InvalidInput(fmt::format("{}: holds no rows, expected at least one", text_.name()));
    }
    fill_table();
    labels_.finish(dataset_);
    return std::move(dataset_);
  }

private:
  void read_line() {
    std::string_view token = next_token();
    if (token.empty()) {
      if (!pass_line_end() && blank_line_ == 0) {
        blank_line_ = line_;
      }
      return;
    }
    if (blank_line_ > 0) {
      throw InvalidInput(fmt::format("{}:{}: found a blank line, expected a row", text_.name(), blank_line_));
    }
    const bool has_label = token.find(':') == std::string_view::npos;
    if (!has_label && options_.expect_labels) {
      refuse(token, "a label before the features");
    }
    if (!row_ends_.empty() && has_label != has_labels_) {
      refuse(token, has_labels_ ? "a label as in the rows before" : "no label as in the rows before");
    }
    has_labels_ = has_label;
    if (has_label) {
      if (!is_utf8(token) || token.find('\0') != std::string_view::npos) {
        refuse(token, "UTF-8 text");
      }
      labels_.add(class_name(token));
      token = next_token();
    }
    for (std::uint64_t last = 0; !token.empty(); token = next_token()) {
      last = read_entry(token, last);
    }
    row_ends_.push_back(indexes_.size());
    (void)pass_line_end();
  }

  /// The next run without blanks, or nothing at a comment and at the end of the line. Good until the next call.
  std::string_view next_token() {
    const auto is_blank = [](int c) { return c == ' ' || c == '\t' || c == '\r'; };
    while (is_blank(text_.at(0))) {
      text_.skip(1);
    }
    std::size_t length = 0;
    int c = text_.at(0);
    while (c >= 0 && c != '\n' && c != '#' && !is_blank(c)) {
      c = text_.at(++length);
    }
    if (c < 0 && text_.is_full()) {
      throw InvalidInput(fmt::format("{}:{}: found a word of more than {} bytes, expected a shorter one", text_.name(),
                                     line_, TextReader::widest));
    }
    const std::string_view token(text_.begin(), length);
    text_.skip(length);
    return token;
  }

  /// Says whether there was a comment.
  bool pass_line_end() {
    const bool comment = text_.at(0) == '#';
    while (text_.at(0) >= 0 && text_.at(0) != '\n') {
      text_.skip(1);
    }
    text_.skip(std::min<std::size_t>(1, text_.size()));
    return comment;
  }

  std::uint64_t read_entry(std::string_view token, std::uint64_t last) {
    if (token.starts_with("qid:")) {
      refuse(token, "features only: queries of ranking problems are not read");
    }
    const std::size_t colon = token.find(':');
    if (colon == std::string_view::npos) {
      refuse(token, "index:value");
    }
    std::uint64_t index = 0;
    const auto [stop, error] = std::from_chars(token.data(), token.data() + colon, index);
    if (stop != token.data() + colon || error == std::errc::invalid_argument) {
      refuse(token, "index:value with a whole number before the colon");
    }
    const std::uint64_t most = options_.columns > 0 ? static_cast<std::uint64_t>(options_.columns) : most_columns;
    if (index < 1 || index > most || error != std::errc{}) {
      refuse(token, fmt::format("an index from 1 to {}", most));
    }
    if (index <= last) {
      refuse(token, fmt::format("an index above {}, the one before it", last));
    }
    float value = 0.0F;
    const char *const end = token.data() + token.size();
    if (quick_number(token.data() + colon + 1, end, value) != end) {
      const Parsed parsed = parse_number(token.substr(colon + 1), value);
      if (parsed != Parsed::ok) {
        refuse(token, parsed == Parsed::too_large
                          ? fmt::format("a value of at most {:.8g} in size", std::numeric_limits<float>::max())
                          : "a finite number after the colon");
      }
    }
    widest_ = std::max(widest_, index);
    indexes_.push_back(static_cast<std::uint32_t>(index - 1));
    values_.push_back(value);
    return index;
  }

  void fill_table() {
    const std::uint64_t columns = options_.columns > 0 ? static_cast<std::uint64_t>(options_.columns) : widest_;
    limit_.require_columns(columns);
    if (is_sparse(values_.size(), row_ends_.size(), columns)) {
      dataset_.features = FeatureTable(SparseEntries{std::move(row_ends_), std::move(indexes_), std::move(values_)},
                                       static_cast<Index>(columns));
      return;
    }
    limit_.require_rows(row_ends_.size(), columns, Storage::float32);
    dataset_.features = FeatureTable(Storage::float32, static_cast<Index>(columns));
    dataset_.features.reserve(static_cast<Index>(row_ends_.size()));
    std::size_t entry = 0;
    for (const std::size_t row_end : row_ends_) {
      std::byte *row = dataset_.features.append_rows(1);
      std::memset(row, 0, columns * sizeof(float));
      for (; entry < row_end; ++entry) {
        std::memcpy(row + indexes_[entry] * sizeof(float), &values_[entry], sizeof(float));
      }
    }
  }

  [[noreturn]] void refuse(std::string_view found, std::string_view expected) const {
    throw InvalidInput(fmt::format("{}:{}: found '{}', expected {}", text_.name(), line_, shown(found), expected));
  }

  TextReader text_;
  const ReadOptions &options_;
  TableLimit limit_;
  Dataset dataset_;
  LabelCollector labels_;
  std::vector<std::uint32_t> indexes_;
  std::vector<float> values_;
  std::vector<std::size_t> row_ends_;
  std::uint64_t widest_ = 0;
  std::uint64_t line_ = 1;
  std::uint64_t blank_line_ = 0;
  bool has_labels_ = false;
};

} // namespace

Dataset read_libsvm(ByteSource &source, const ReadOptions &options) { return LibsvmReader(source, options).read(); }

} // namespace duplex::data
