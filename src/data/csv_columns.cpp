#include "data/csv_columns.hpp"

#include "data/text.hpp"
#include "names/suggest.hpp"

#include <duplex/core/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <unordered_map>

namespace duplex::data {
namespace {

constexpr std::array<std::string_view, 4> usual_label_names = {"label", "class", "target", "y"};

bool is_number(const std::string &cell) {
  float ignored = 0.0F;
  return parse_number(cell, ignored) != Parsed::not_a_number;
}

/// Stands for a number that is missing or not finite, and is no name of a column.
bool is_missing_number(const std::string &cell) {
  constexpr std::array<std::string_view, 8> missing = {"", "na", "n/a", "nan", "null", "?", "inf", "infinity"};
  const std::string lower = lower_case(cell);
  const std::string_view unsigned_cell = std::string_view(lower).substr(lower.starts_with('-') ? 1 : 0);
  return std::find(missing.begin(), missing.end(), unsigned_cell) != missing.end();
}

class Finder {
public:
  Finder(const std::string &file, const std::vector<std::string> &cells, const ReadOptions &options)
      : file_(file), cells_(cells), options_(options) {}

  CsvColumns find() {
    CsvColumns columns;
    columns.count = cells_.size();
    columns.label = options_.label.empty() ? usual_label() : chosen("label", options_.label, options_.expect_labels);
    columns.id = options_.id.empty() ? std::nullopt : chosen("id", options_.id, options_.expect_id);
    if (columns.label && columns.label == columns.id) {
      throw InvalidInput(
          fmt::format("{}: column {} is both label and id, expected two columns", file_, *columns.label + 1));
    }
    columns.has_header = named_ || looks_like_header(columns);
    if (!columns.label && options_.expect_labels) {
      throw InvalidInput(fmt::format("{}: no column is named label, class, target or y; say which column holds the "
                                     "labels ({})",
                                     file_, listed(columns.has_header)));
    }
    if (columns.features() == 0) {
      throw InvalidInput(
          fmt::format("{}:1: found no column of features besides labels and ids, expected at least one", file_));
    }
    if (columns.has_header) {
      refuse_equal_names();
      columns.names = cells_;
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

  std::optional<std::size_t> usual_label() {
    for (const auto name : usual_label_names) {
      const auto found =
          std::find_if(cells_.begin(), cells_.end(), [&](const std::string &cell) { return lower_case(cell) == name; });
      if (found != cells_.end()) {
        named_ = true;
        return static_cast<std::size_t>(found - cells_.begin());
      }
    }
    return std::nullopt;
  }

  std::optional<std::size_t> chosen(std::string_view role, const std::string &column, bool required) {
    std::int64_t number = 0;
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

  [[nodiscard]] bool looks_like_header(const CsvColumns &columns) const {
    const std::string *number = nullptr;
    const std::string *name = nullptr;
    for (std::size_t i = 0; i < cells_.size(); ++i) {
      if (columns.is_feature(i) && !is_missing_number(cells_[i])) {
        (is_number(cells_[i]) ? number : name) = &cells_[i];
      }
    }
    if (name != nullptr && number != nullptr) {
      throw InvalidInput(
          fmt::format("{}:1: found '{}' beside '{}', expected either numbers or the names of the columns "
                      "(if they are names, choose the label column by its name)",
                      file_, shown(*name), shown(*number)));
    }
    return name != nullptr;
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

CsvColumns find_columns(const std::string &file, const std::vector<std::string> &first_line,
                        const ReadOptions &options) {
  return Finder(file, first_line, options).find();
}

} // namespace duplex::data
