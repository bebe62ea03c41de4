#include "data/cell_kinds.hpp"
#include "data/csv_cells.hpp"
#include "data/csv_columns.hpp"
#include "data/labels.hpp"
#include "data/limits.hpp"
#include "data/raw_table.hpp"
#include "data/readers.hpp"
#include "data/text.hpp"

#include <duplex/core/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <unordered_map>
#include <utility>

namespace duplex::data {
namespace {

class CsvReader {
public:
  CsvReader(ByteSource &source, const ReadOptions &options)
      : text_(source), cells_(started(text_)), options_(options), limit_(source.name(), options),
        first_line_(first_record()), columns_(find_columns(source.name(), first_line_, options)) {
    limit_.require_columns(columns_.features());
    dataset_.source = source.name();
    dataset_.label_column = columns_.label;
    table_.source = source.name();
    table_.order = columns_.order;
    table_.width = columns_.width;
    table_.cells = FeatureTable(Storage::float32, static_cast<Index>(columns_.features()));
    for (std::size_t i = 0; i < columns_.count(); ++i) {
      if (columns_.roles[i] == ColumnRole::feature) {
        table_.place.push_back(i);
      }
    }
    if (options.plan) {
      for (std::size_t i = 0; i < columns_.column_of.size(); ++i) {
        const PlannedColumn &column = options.plan->columns[i];
        if (column.kind == ColumnKind::number && column.origin != 0.0) {
          table_.precise[columns_.column_of[i]];
        }
      }
    }
    count_runs();
  }

  Dataset read() {
    if (columns_.has_header) {
      for (std::size_t i = 0; i < columns_.count(); ++i) {
        require_text(first_line_[i], {1, i + 1});
        if (columns_.roles[i] == ColumnRole::feature) {
          table_.names.push_back(first_line_[i]);
        }
      }
      if (next_row_begins()) {
        read_row(true);
      }
    } else {
      take_first_line();
    }
    if (!options_.plan) {
      follow_large_numbers();
    }
    while (next_row_begins()) {
      read_row(false);
    }
    if (table_.rows() == 0) {
      throw InvalidInput(fmt::format("{}: holds no rows below its header, expected at least one", text_.name()));
    }
    make_features();
    labels_.finish(dataset_);
    sources_.finish(dataset_.sources, dataset_.source_names);
    return std::move(dataset_);
  }

private:
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
      refuse_blank_line(blank, fmt::format("{} cells", columns_.count()));
    }
    return true;
  }

  /// How many columns from each one on may be read as numbers at once.
  void count_runs() {
    runs_.assign(columns_.count() + 1, 0);
    std::size_t feature = columns_.features();
    for (std::size_t i = columns_.count(); i-- > 0;) {
      const bool is_feature = columns_.roles[i] == ColumnRole::feature;
      feature -= is_feature ? 1 : 0;
      runs_[i] = is_feature && !table_.precise.contains(feature) ? runs_[i + 1] + 1 : 0;
    }
  }

  /// By the first row: columns whose numbers are kept to all their digits, until they are seen to differ enough.
  void follow_large_numbers() {
    for (std::size_t i = 0;
         i < columns_.features() && table_.precise.size() < most_followed_columns && table_.rows() == 1; ++i) {
      if (const float cell = table_.cell(0, i); is_number_cell(cell) && std::abs(cell) >= large_number) {
        const double value = first_row_[i];
        table_.precise[i].push_back(value);
        range_[i] = {value, value};
      }
    }
    if (!table_.precise.empty()) {
      count_runs();
    }
    first_row_ = {};
  }

  float *new_row() {
    limit_.require_rows(table_.rows() + 1, columns_.features(), Storage::float32);
    feature_ = 0;
    return reinterpret_cast<float *>(table_.cells.append_rows(1));
  }

  void take_first_line() {
    float *row = new_row();
    first_row_.resize(columns_.features());
    for (std::size_t i = 0; i < columns_.count(); ++i) {
      take(first_line_[i], i, {1, i + 1}, row);
    }
  }

  void read_row(bool first) {
    const std::uint64_t line = cells_.line();
    float *row = new_row();
    first_row_.resize(first ? columns_.features() : 0);
    CellEnd end = CellEnd::cell;
    std::size_t column = 0;
    for (; column < columns_.count() && end == CellEnd::cell; ++column) {
      const std::size_t numbers = first ? 0 : cells_.next_numbers(row + feature_, runs_[column], end);
      feature_ += numbers;
      column += numbers;
      if (end != CellEnd::cell || column == columns_.count()) {
        break;
      }
      const CellPlace place{cells_.line(), cells_.column()};
      const Cell cell = cells_.next();
      end = cell.end;
      take(cell.text, column, place, row);
    }
    for (; end == CellEnd::cell; ++column) {
      end = cells_.next().end;
    }
    if (column != columns_.count()) {
      throw InvalidInput(fmt::format("{}:{}: found {} cells, expected {} as in line 1 (separated by {})", text_.name(),
                                     line, column, columns_.count(),
                                     cells_.delimiter() == '\t' ? "tabs" : fmt::format("'{}'", cells_.delimiter())));
    }
  }

  void take(std::string_view text, std::size_t column, CellPlace place, float *row) {
    switch (columns_.roles[column]) {
    case ColumnRole::feature:
      take_feature(text, place, row[feature_]);
      ++feature_;
      break;
    case ColumnRole::label:
      require_text(text, place);
      if (text.empty()) {
        refuse(text, place, "a label");
      }
      labels_.add(text);
      break;
    case ColumnRole::id:
      require_text(text, place);
      dataset_.ids.emplace_back(text);
      break;
    case ColumnRole::source:
      require_text(text, place);
      sources_.add(is_missing(text) ? std::string_view() : text);
      break;
    case ColumnRole::trusted:
      dataset_.marked.push_back(is_marked(text, place));
      break;
    case ColumnRole::ignored:
      break;
    }
  }

  void take_feature(std::string_view text, CellPlace place, float &cell) {
    const Parsed parsed = parse_number(text, cell);
    if (parsed == Parsed::too_large) {
      refuse(text, place, fmt::format("a number of at most {:.8g} in size", std::numeric_limits<float>::max()));
    }
    const bool is_number = parsed == Parsed::ok;
    if (!first_row_.empty()) {
      first_row_[feature_] = is_number ? precise_number(text) : 0.0;
    }
    if (const auto precise = table_.precise.find(feature_); precise != table_.precise.end()) {
      take_precise(is_number ? std::optional(precise_number(text)) : std::nullopt, precise->second);
    }
    if (is_number) {
      return;
    }
    ColumnTexts &texts = table_.texts[feature_];
    if (is_missing(text)) {
      texts.add_missing();
      cell = missing_cell();
    } else {
      require_text(text, place);
      cell = text_cell(texts.add(text, place));
    }
  }

  /// Numbers that turn out to differ enough are followed no more.
  void take_precise(std::optional<double> value, std::vector<double> &values) {
    values.push_back(value.value_or(0.0));
    const auto range = range_.find(feature_);
    if (!value || range == range_.end()) {
      return;
    }
    auto &[least, largest] = range->second;
    least = std::min(least, *value);
    largest = std::max(largest, *value);
    if (largest - least >= narrow_range * std::max(std::abs(least), std::abs(largest)) && largest > least) {
      table_.precise.erase(feature_);
      count_runs();
    }
  }

  [[nodiscard]] bool is_marked(std::string_view text, CellPlace place) const {
    if (is_missing(text) || text == "0" || text == "1") {
      return text == "1";
    }
    const auto truth = truth_of(text);
    if (!truth) {
      refuse(text, place, "1, true or yes where the label is trusted, else 0, false, no or nothing");
    }
    return *truth;
  }

  void make_features() {
    std::vector<std::size_t> column_of = columns_.column_of;
    dataset_.plan = options_.plan;
    if (!options_.plan) {
      auto chosen = choose_plan(table_, options_, dataset_.remarks);
      chosen.plan.set_aside.insert(chosen.plan.set_aside.end(), columns_.set_aside.begin(), columns_.set_aside.end());
      chosen.plan.source_column = name_or(options_.source, ColumnRole::source);
      chosen.plan.trusted_column = name_or(options_.trusted_column, ColumnRole::trusted);
      column_of = std::move(chosen.column_of);
      dataset_.plan = std::make_shared<const TablePlan>(std::move(chosen.plan));
    } else if (!columns_.unknown.empty()) {
      dataset_.remarks.push_back(
          {"extra-columns", fmt::format("{}: {} {} not among the training data's columns, and ignored", text_.name(),
                                        quoted_list(columns_.unknown), columns_.unknown.size() > 1 ? "are" : "is")});
    }
    dataset_.features = features_of(table_, *dataset_.plan, column_of, options_, dataset_.remarks);
    dataset_.feature_names = dataset_.plan->feature_names();
  }

  /// A column by its name, so that it is found in other files, or as it was asked for where columns have none.
  [[nodiscard]] std::string name_or(const std::string &asked, ColumnRole role) const {
    const auto found = std::find(columns_.roles.begin(), columns_.roles.end(), role);
    return columns_.has_header && found != columns_.roles.end()
               ? columns_.names[static_cast<std::size_t>(found - columns_.roles.begin())]
               : asked;
  }

  void require_text(std::string_view text, CellPlace place) const {
    if (!is_utf8(text) || text.find('\0') != std::string_view::npos) {
      refuse(text, place, "UTF-8 text");
    }
  }

  [[noreturn]] void refuse(std::string_view found, CellPlace place, std::string_view expected) const {
    const std::string name =
        columns_.has_header && place.line > 1 ? fmt::format(" ('{}')", shown(columns_.names[place.column - 1])) : "";
    throw InvalidInput(fmt::format("{}:{}, column {}{}: found '{}', expected {}", text_.name(), place.line,
                                   place.column, name, shown(found), expected));
  }

  TextReader text_;
  CsvCells cells_;
  const ReadOptions &options_;
  TableLimit limit_;
  std::vector<std::string> first_line_;
  CsvColumns columns_;
  RawTable table_;
  std::vector<std::size_t> runs_;
  std::size_t feature_ = 0;       ///< the next one of the row
  std::vector<double> first_row_; ///< to all digits; empty when it is done
  std::unordered_map<std::size_t, std::pair<double, double>> range_;
  LabelCollector labels_;
  LabelCollector sources_;
  Dataset dataset_;
};

} // namespace

Dataset read_csv(ByteSource &source, const ReadOptions &options) { return CsvReader(source, options).read(); }

} // namespace duplex::data
