#include "data/raw_table.hpp"

#include "data/cell_kinds.hpp"
#include "data/limits.hpp"
#include "data/text.hpp"

#include <duplex/core/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

namespace duplex::data {
namespace {

/// How the cells of one planned column become features.
class ColumnFeatures {
public:
  ColumnFeatures(const RawTable &table, const PlannedColumn &column, std::size_t at)
      : table_(table), column_(column), at_(at), width_(static_cast<std::size_t>(column.features())) {
    if (const auto found = table.precise.find(at); found != table.precise.end() && column.origin != 0.0) {
      precise_ = &found->second;
    }
    if (const auto found = table.texts.find(at); found != table.texts.end()) {
      read_texts(found->second);
    }
    for (std::size_t level = 0; level < column.levels.size(); ++level) {
      level_of_.emplace(column.levels[level], level);
    }
    for (const auto &level : column.rare) {
      level_of_.emplace(level, column.levels.size());
    }
    if (const auto found = table.texts.find(at); found != table.texts.end() && is_category()) {
      for (const auto &text : found->second.texts()) {
        levels_.push_back(level(text));
      }
    }
  }

  [[nodiscard]] std::size_t width() const { return width_; }
  [[nodiscard]] std::uint64_t unknown() const { return unknown_; }
  [[nodiscard]] const std::string &first_unknown() const { return first_unknown_; }

  /// The features of a row's cell; `out` is zero before.
  void write(std::size_t row, float *out) {
    const float cell = table_.cell(row, at_);
    if (is_missing_cell(cell)) {
      out[is_category() ? column_.usual : 0] = is_category() ? 1.0F : column_.fill;
      if (column_.has_indicator) {
        out[width_ - 1] = 1.0F;
      }
    } else if (is_category()) {
      write_level(row, cell, out);
    } else {
      out[0] = std::clamp(value(row, cell), column_.low, column_.high);
    }
  }

private:
  static constexpr std::size_t not_known = std::numeric_limits<std::size_t>::max();

  [[nodiscard]] bool is_category() const { return column_.kind == ColumnKind::category; }

  void read_texts(const ColumnTexts &texts) {
    if (is_category()) {
      return;
    }
    for (std::size_t i = 0; i < texts.texts().size(); ++i) {
      const std::string &text = texts.texts()[i];
      std::optional<double> found;
      if (column_.kind == ColumnKind::date) {
        found = days_of(text);
      } else if (column_.kind == ColumnKind::truth) {
        const auto truth = truth_of(text);
        found = truth ? std::optional(*truth ? 1.0 : 0.0) : std::nullopt;
      }
      if (!found) {
        throw InvalidInput(fmt::format("{}: found '{}', expected {}", table_.shown_place(at_, texts.place(i)),
                                       shown(text), expected()));
      }
      values_.push_back(static_cast<float>(*found - column_.origin));
    }
  }

  [[nodiscard]] std::string_view expected() const {
    constexpr std::array<std::string_view, 3> kinds = {
        "a finite number or a missing value (nothing, NA, N/A, NaN, null, ? or -)",
        "a date such as 2026-03-01 or 2026-03-01T09:30:00Z, or a missing value",
        "true, false, yes, no or a missing value"};
    return kinds[static_cast<std::size_t>(column_.kind)];
  }

  [[nodiscard]] float value(std::size_t row, float cell) const {
    if (!is_number_cell(cell)) {
      const std::size_t text = text_of_cell(cell);
      if (text >= values_.size()) {
        throw InvalidInput(fmt::format("{}: column {}: more than {} different texts, expected fewer", table_.source,
                                       table_.shown_name(at_), ColumnTexts::most));
      }
      return values_[text];
    }
    if (column_.kind != ColumnKind::number) {
      throw InvalidInput(fmt::format("{}: row {}, column {}: found {}, expected {}", table_.source, row + 1,
                                     table_.shown_name(at_), cell, expected()));
    }
    if (column_.origin == 0.0) {
      return cell;
    }
    return static_cast<float>((precise_ != nullptr ? (*precise_)[row] : static_cast<double>(cell)) - column_.origin);
  }

  [[nodiscard]] std::size_t level(const std::string &text) const {
    const auto found = level_of_.find(text);
    return found == level_of_.end() ? not_known : found->second;
  }

  void write_level(std::size_t /*row*/, float cell, float *out) {
    std::size_t place = not_known;
    std::string text;
    if (is_number_cell(cell)) {
      text = fmt::format("{}", cell + 0.0F); // −0 is 0
      place = level(text);
    } else if (text_of_cell(cell) < levels_.size()) {
      place = levels_[text_of_cell(cell)];
      text = place == not_known ? table_.texts.at(at_).texts()[text_of_cell(cell)] : std::string();
    }
    if (place != not_known) {
      out[place] = 1.0F;
    } else if (unknown_++ == 0) {
      first_unknown_ = std::move(text);
    }
  }

  const RawTable &table_;
  const PlannedColumn &column_;
  std::size_t at_;
  std::size_t width_;
  const std::vector<double> *precise_ = nullptr;
  std::vector<float> values_;       ///< of the texts, where they stand for numbers
  std::vector<std::size_t> levels_; ///< of the texts of a category
  std::unordered_map<std::string, std::size_t> level_of_;
  std::uint64_t unknown_ = 0;
  std::string first_unknown_;
};

bool are_the_cells(const RawTable &table, const TablePlan &plan, const std::vector<std::size_t> &column_of) {
  bool same = table.texts.empty() && plan.is_plain() && column_of.size() == table.columns();
  for (std::size_t i = 0; same && i < column_of.size(); ++i) {
    same = column_of[i] == i;
  }
  return same;
}

} // namespace

std::uint32_t ColumnTexts::add(std::string_view text, CellPlace place) {
  auto found = known_.find(text);
  if (found == known_.end()) {
    if (texts_.size() == most) {
      has_too_many_ = true;
      return most;
    }
    found = known_.emplace(std::string(text), static_cast<std::uint32_t>(texts_.size())).first;
    texts_.emplace_back(text);
    places_.push_back(place);
  }
  return found->second;
}

std::string RawTable::shown_name(std::size_t column) const {
  return names.empty() || names[column].empty() ? fmt::format("column {}", place[column] + 1)
                                                : fmt::format("'{}'", shown(names[column]));
}

std::string RawTable::shown_place(std::size_t column, CellPlace at) const {
  return fmt::format("{}:{}, column {}{}", source, at.line, at.column,
                     names.empty() || at.line == 1 ? "" : fmt::format(" ('{}')", shown(names[column])));
}

FeatureTable features_of(RawTable &table, const TablePlan &plan, const std::vector<std::size_t> &column_of,
                         const ReadOptions &options, std::vector<Remark> &remarks) {
  if (are_the_cells(table, plan, column_of)) {
    table.cells.shrink();
    return std::move(table.cells);
  }
  std::vector<ColumnFeatures> columns;
  columns.reserve(plan.columns.size());
  for (std::size_t i = 0; i < plan.columns.size(); ++i) {
    columns.emplace_back(table, plan.columns[i], column_of[i]);
  }
  const TableLimit limit(table.source, options);
  const Index width = plan.features();
  limit.require_columns(static_cast<std::uint64_t>(width));
  limit.require_rows(table.rows(), static_cast<std::uint64_t>(width), Storage::float32);
  FeatureTable features(Storage::float32, width);
  features.reserve(static_cast<Index>(table.rows()));
  for (std::size_t row = 0; row < table.rows(); ++row) {
    auto *out = reinterpret_cast<float *>(features.append_rows(1));
    std::fill_n(out, width, 0.0F);
    for (auto &column : columns) {
      column.write(row, out);
      out += column.width();
    }
  }
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (columns[i].unknown() > 0) {
      remarks.push_back({"unknown-levels",
                         fmt::format("{}: {} of {} rows have a value of {} that the training data do not have, such "
                                     "as '{}': it counts as none of the known ones",
                                     table.source, columns[i].unknown(), table.rows(), table.shown_name(column_of[i]),
                                     shown(columns[i].first_unknown()))});
    }
  }
  return features;
}

} // namespace duplex::data
