#include "data/csv_cells.hpp"
#include "data/csv_columns.hpp"
#include "data/labels.hpp"
#include "data/limits.hpp"
#include "data/readers.hpp"
#include "data/text.hpp"

#include <duplex/core/error.hpp>

#include <fmt/format.h>

#include <limits>
#include <utility>

namespace duplex::data {
namespace {

class CsvReader {
public:
  CsvReader(ByteSource &source, const ReadOptions &options)
      : text_(source), cells_(started(text_)), limit_(source.name(), options), first_line_(first_record()),
        columns_(find_columns(source.name(), first_line_, options)) {
    limit_.require_columns(columns_.features());
    dataset_.source = source.name();
    dataset_.features = FeatureTable(Storage::float32, static_cast<Index>(columns_.features()));
  }

  Dataset read() {
    if (columns_.has_header) {
      for (std::size_t i = 0; i < columns_.count; ++i) {
        require_text(first_line_[i], {1, i + 1});
        if (columns_.is_feature(i)) {
          dataset_.feature_names.push_back(first_line_[i]);
        }
      }
    } else {
      take_first_line();
    }
    while (next_row_begins()) {
      read_row();
    }
    if (dataset_.features.rows() == 0) {
      throw InvalidInput(fmt::format("{}: holds no rows below its header, expected at least one", text_.name()));
    }
    dataset_.features.shrink();
    labels_.finish(dataset_);
    return std::move(dataset_);
  }

private:
  struct Place {
    std::uint64_t line;
    std::uint64_t column;
  };

  static TextReader &started(TextReader &text) {
    skip_byte_order_mark(text);
    return text;
  }

  std::vector<std::string> first_record() {
    if (const std::uint64_t blank = cells_.skip_blank_lines(); blank > 0) {
      refuse_blank_line(blank, "the first row");
    }
    std::vector<std::string> record;
    for (CellEnd end = CellEnd::cell; end == CellEnd::cell;) {
      const Cell cell = cells_.next();
      record.emplace_back(cell.text);
      end = cell.end;
      limit_.require_columns(record.size());
    }
    return record;
  }

  [[noreturn]] void refuse_blank_line(std::uint64_t line, const std::string &expected) {
    throw InvalidInput(cells_.at_end()
                           ? fmt::format("{}: holds blank lines only, expected rows of data", text_.name())
                           : fmt::format("{}:{}: found a blank line, expected {}", text_.name(), line, expected));
  }

  bool next_row_begins() {
    const std::uint64_t blank = cells_.skip_blank_lines();
    if (cells_.at_end()) {
      return false;
    }
    if (blank > 0) {
      refuse_blank_line(blank, fmt::format("{} cells", columns_.count));
    }
    return true;
  }

  float *new_row() {
    limit_.require_rows(static_cast<std::uint64_t>(dataset_.features.rows()) + 1, columns_.features(),
                        Storage::float32);
    return reinterpret_cast<float *>(dataset_.features.append_rows(1));
  }

  void take_first_line() {
    float *feature = new_row();
    for (std::size_t i = 0; i < columns_.count; ++i) {
      take(first_line_[i], i, {1, i + 1}, feature);
    }
  }

  void read_row() {
    const std::uint64_t line = cells_.line();
    float *feature = new_row();
    CellEnd end = CellEnd::cell;
    std::size_t column = 0;
    for (; column < columns_.count && end == CellEnd::cell; ++column) {
      const std::size_t numbers = cells_.next_numbers(feature, columns_.features_from(column), end);
      feature += numbers;
      column += numbers;
      if (end != CellEnd::cell || column == columns_.count) {
        break;
      }
      const Place place{cells_.line(), cells_.column()};
      const Cell cell = cells_.next();
      end = cell.end;
      take(cell.text, column, place, feature);
    }
    for (; end == CellEnd::cell; ++column) {
      end = cells_.next().end;
    }
    if (column != columns_.count) {
      throw InvalidInput(fmt::format("{}:{}: found {} cells, expected {} as in line 1 (separated by {})", text_.name(),
                                     line, column, columns_.count,
                                     cells_.delimiter() == '\t' ? "tabs" : fmt::format("'{}'", cells_.delimiter())));
    }
  }

  void take(std::string_view text, std::size_t column, Place place, float *&feature) {
    if (column == columns_.label) {
      require_text(text, place);
      if (text.empty()) {
        refuse(text, place, "a label");
      }
      labels_.add(text);
    } else if (column == columns_.id) {
      require_text(text, place);
      dataset_.ids.emplace_back(text);
    } else {
      const Parsed parsed = parse_number(text, *feature++);
      if (parsed == Parsed::too_large) {
        refuse(text, place, fmt::format("a number of at most {:.8g} in size", std::numeric_limits<float>::max()));
      }
      if (parsed == Parsed::not_a_number) {
        refuse(text, place, "a finite number");
      }
    }
  }

  void require_text(std::string_view text, Place place) const {
    if (!is_utf8(text) || text.find('\0') != std::string_view::npos) {
      refuse(text, place, "UTF-8 text");
    }
  }

  [[noreturn]] void refuse(std::string_view found, Place place, std::string_view expected) const {
    const std::string name =
        columns_.has_header && place.line > 1 ? fmt::format(" ('{}')", shown(columns_.names[place.column - 1])) : "";
    throw InvalidInput(fmt::format("{}:{}, column {}{}: found '{}', expected {}", text_.name(), place.line,
                                   place.column, name, shown(found), expected));
  }

  TextReader text_;
  CsvCells cells_;
  TableLimit limit_;
  std::vector<std::string> first_line_;
  CsvColumns columns_;
  LabelCollector labels_;
  Dataset dataset_;
};

} // namespace

Dataset read_csv(ByteSource &source, const ReadOptions &options) { return CsvReader(source, options).read(); }

} // namespace duplex::data
