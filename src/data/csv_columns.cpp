#include "data/csv_columns.hpp"

#include "data/cell_kinds.hpp"
#include "data/table_plan.hpp"
#include "data/text.hpp"
#include "names/suggest.hpp"

#include <duplex/core/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <string_view>
#include <tuple>
#include <unordered_map>

namespace duplex::data {
namespace {

constexpr std::array<std::string_view, 4> usual_label_names = {"label", "class", "target", "y"};

bool is_number(const std::string &cell) {
  float ignored = 0.0F;
  return parse_number(cell, ignored) != Parsed::not_a_number;
}

/// Stands for a number that is missing or not finite, and is no name of a column.
bool is_no_name(const std::string &cell) {
  const std::string lower = lower_case(cell.starts_with('-') ? std::string_view(cell).substr(1) : cell);
  return is_missing(lower) || lower == "inf" || lower == "infinity";
}

class Finder {
public:
  Finder(const std::string &file, const std::vector<std::string> &cells, const ReadOptions &options)
      : file_(file), cells_(cells), options_(options) {}

  CsvColumns find() {
    CsvColumns columns;
    columns.roles.assign(cells_.size(), ColumnRole::feature);
    if (options_.may_have_labels) {
      columns.label = options_.label.empty() ? usual_label() : chosen("label", options_.label, options_.expect_labels);
    }
    give(columns, columns.label, ColumnRole::label);
    const TablePlan *plan = options_.plan.get();
    const bool by_plan = plan != nullptr;
    give(columns, chosen("id", options_.id, options_.expect_id), ColumnRole::id);
    const std::string &source = by_plan ? plan->source_column : options_.source;
    give(columns, chosen("source", source, options_.expect_source && !by_plan), ColumnRole::source);
    const std::string &trusted = by_plan ? plan->trusted_column : options_.trusted_column;
    give(columns, chosen("trusted", trusted, !by_plan), ColumnRole::trusted);
    columns.has_header = named_ || (by_plan && has_all_names(*plan)) || looks_like_header(columns);
    if (!columns.label && options_.expect_labels) {
      throw InvalidInput(fmt::format("{}: no column is named label, class, target or y; say by --label which column "
                                     "holds the labels ({})",
                                     file_, listed(columns.has_header)));
    }
    if (columns.has_header) {
      refuse_equal_names();
      columns.names = cells_;
    }
    columns.width =
        static_cast<std::size_t>(std::count(columns.roles.begin(), columns.roles.end(), ColumnRole::feature));
    if (columns.width == 0) {
      throw InvalidInput(
          fmt::format("{}:1: found no column of features besides labels and ids, expected at least one", file_));
    }
    if (by_plan) {
      match(columns, *plan);
    } else {
      choose(columns);
    }
    return columns;
  }

private:
  /// Of two columns with one name it could not be told which is meant.
  void refuse_equal_names() const {
    std::unordered_map<std::string_view, std::size_t> places;
    for (std::size_t i = 0; i < cells_.size(); ++i) {
      if (const auto [first, is_new] = places.emplace(cells_[i], i); !is_new) {
        throw InvalidInput(fmt::format("{}:1: columns {} and {} are both named '{}', expected different names", file_,
                                       first->second + 1, i + 1, shown(cells_[i])));
      }
    }
  }

  void give(CsvColumns &columns, std::optional<std::size_t> column, ColumnRole role) const {
    constexpr std::array<std::string_view, 5> names = {"feature", "label", "id", "source", "trusted"};
    if (!column) {
      return;
    }
    if (const auto other = columns.roles[*column]; other != ColumnRole::feature) {
      throw InvalidInput(fmt::format("{}: column {} is both {} and {}, expected two columns", file_, *column + 1,
                                     names[static_cast<std::size_t>(other)], names[static_cast<std::size_t>(role)]));
    }
    columns.roles[*column] = role;
  }

  [[nodiscard]] bool has_all_names(const TablePlan &plan) const {
    return plan.has_names && std::all_of(plan.columns.begin(), plan.columns.end(), [&](const PlannedColumn &column) {
             return std::find(cells_.begin(), cells_.end(), column.name) != cells_.end();
           });
  }

  /// Features are all columns but those to drop, or those to keep.
  void choose(CsvColumns &columns) {
    std::vector<bool> is_kept(cells_.size(), options_.keep.empty());
    for (const auto &[option, list, keeps] :
         {std::tuple{"keep", &options_.keep, true}, std::tuple{"drop", &options_.drop, false}}) {
      for (const auto &name : *list) {
        const std::size_t column = *chosen(option, name, true);
        if (keeps && columns.roles[column] != ColumnRole::feature) {
          throw InvalidInput(fmt::format("{}: keep = '{}', expected a column of features", file_, shown(name)));
        }
        is_kept[column] = keeps;
      }
    }
    if (named_ && !columns.has_header) { // found out just now
      columns.has_header = true;
      refuse_equal_names();
      columns.names = cells_;
    }
    std::size_t order = 0;
    for (std::size_t i = 0; i < cells_.size(); ++i) {
      const bool might_be = columns.roles[i] == ColumnRole::feature;
      if (might_be && is_kept[i]) {
        columns.order.push_back(order);
      } else {
        columns.roles[i] = might_be ? ColumnRole::ignored : columns.roles[i];
        columns.set_aside.push_back(columns.has_header ? cells_[i] : std::string());
      }
      order += might_be ? 1 : 0;
    }
    if (columns.order.empty()) {
      throw InvalidInput(fmt::format("{}: no column is left to be a feature, expected at least one", file_));
    }
  }

  /// The plan's columns by name, where both have names, else by their places.
  void match(CsvColumns &columns, const TablePlan &plan) const {
    const bool by_name = plan.has_names && columns.has_header;
    std::unordered_map<std::string_view, std::size_t> places;
    for (std::size_t i = 0; i < plan.columns.size(); ++i) {
      places.emplace(plan.columns[i].name, i);
    }
    std::vector<std::size_t> planned_at(plan.width, plan.columns.size());
    for (std::size_t i = 0; i < plan.columns.size(); ++i) {
      planned_at[plan.columns[i].place] = i;
    }
    if (!by_name && columns.width != plan.width) {
      throw InvalidInput(fmt::format("{}: found {} columns that may be features, expected {} as in the training data",
                                     file_, columns.width, plan.width));
    }
    constexpr std::size_t nowhere = std::numeric_limits<std::size_t>::max();
    columns.column_of.assign(plan.columns.size(), nowhere);
    std::size_t order = 0;
    for (std::size_t i = 0; i < cells_.size(); ++i) {
      if (columns.roles[i] != ColumnRole::feature) {
        continue;
      }
      const auto found = places.find(cells_[i]);
      const std::size_t planned = !by_name ? planned_at[order] : found == places.end() ? nowhere : found->second;
      if (planned < plan.columns.size()) {
        columns.column_of[planned] = columns.order.size();
        columns.order.push_back(order);
      } else {
        columns.roles[i] = ColumnRole::ignored;
        if (by_name && std::find(plan.set_aside.begin(), plan.set_aside.end(), cells_[i]) == plan.set_aside.end()) {
          columns.unknown.push_back(cells_[i]);
        }
      }
      ++order;
    }
    std::vector<std::string> lacking;
    for (std::size_t i = 0; i < plan.columns.size(); ++i) {
      if (columns.column_of[i] == nowhere) {
        lacking.push_back(plan.columns[i].name);
      }
    }
    if (!lacking.empty()) {
      throw InvalidInput(fmt::format("{}: has no column {}, expected all {} of the training data ({})", file_,
                                     quoted_list(lacking), plan.columns_are, listed(columns.has_header)));
    }
  }

  std::optional<std::size_t> usual_label() {
    for (const auto name : usual_label_names) {
      const auto found = std::find_if(cells_.begin(), cells_.end(), [&](const std::string &cell) {
        return lower_case(cell) == name && !is_planned(cell);
      });
      if (found != cells_.end()) {
        named_ = true;
        return static_cast<std::size_t>(found - cells_.begin());
      }
    }
    return std::nullopt;
  }

  /// A feature that is named y is no label.
  [[nodiscard]] bool is_planned(const std::string &name) const {
    return options_.plan && options_.plan->has_names &&
           std::any_of(options_.plan->columns.begin(), options_.plan->columns.end(),
                       [&](const PlannedColumn &column) { return column.name == name; });
  }

  /// None where no column is asked for.
  std::optional<std::size_t> chosen(std::string_view role, const std::string &column, bool required) {
    std::int64_t number = 0;
    if (column.empty()) {
      return std::nullopt;
    }
    if (parse_whole(column, number)) {
      if (number >= 1 && static_cast<std::uint64_t>(number) <= cells_.size()) {
        return static_cast<std::size_t>(number) - 1;
      }
      if (!required && number >= 1) {
        return std::nullopt;
      }
      throw InvalidInput(fmt::format("{}: {} = column {}, expected a number from 1 to {} or a name", file_, role,
                                     number, cells_.size()));
    }
    const auto found = std::find(cells_.begin(), cells_.end(), column);
    if (found == cells_.end()) {
      if (!required) {
        return std::nullopt;
      }
      throw InvalidInput(
          fmt::format("{}: {}", file_, names::unknown_name(fmt::format("{} column", role), column, shown_names())));
    }
    if (std::find(found + 1, cells_.end(), column) != cells_.end()) {
      throw InvalidInput(
          fmt::format("{}:1: two columns are named '{}', expected one for the {}", file_, shown(column), role));
    }
    named_ = true;
    return static_cast<std::size_t>(found - cells_.begin());
  }

  /// A number among them makes it a row of data.
  [[nodiscard]] bool looks_like_header(const CsvColumns &columns) const {
    bool has_name = false;
    for (std::size_t i = 0; i < cells_.size(); ++i) {
      if (columns.roles[i] == ColumnRole::feature && !is_no_name(cells_[i])) {
        if (is_number(cells_[i])) {
          return false;
        }
        has_name = true;
      }
    }
    return has_name;
  }

  [[nodiscard]] std::vector<std::string> shown_names() const {
    constexpr std::size_t most = 20;
    std::vector<std::string> names;
    for (std::size_t i = 0; i < std::min(most, cells_.size()); ++i) {
      names.push_back(shown(cells_[i]));
    }
    if (cells_.size() > most) {
      names.push_back(fmt::format("... {} in all", cells_.size()));
    }
    return names;
  }

  [[nodiscard]] std::string listed(bool has_header) const {
    if (!has_header) {
      return fmt::format("{} columns without names", cells_.size());
    }
    std::string text = "columns: ";
    const std::vector<std::string> names = shown_names();
    for (std::size_t i = 0; i < names.size(); ++i) {
      text += (i > 0 ? ", " : "") + names[i];
    }
    return text;
  }

  const std::string &file_;
  const std::vector<std::string> &cells_;
  const ReadOptions &options_;
  bool named_ = false;
};

} // namespace

std::string quoted_list(const std::vector<std::string> &names) {
  constexpr std::size_t most = 10;
  std::string text;
  for (std::size_t i = 0; i < std::min(most, names.size()); ++i) {
    text += fmt::format("{}'{}'", i > 0 ? ", " : "", shown(names[i]));
  }
  return names.size() > most ? fmt::format("{} and {} more", text, names.size() - most) : text;
}

CsvColumns find_columns(const std::string &file, const std::vector<std::string> &first_line,
                        const ReadOptions &options) {
  return Finder(file, first_line, options).find();
}

} // namespace duplex::data
