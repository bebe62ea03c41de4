#pragma once
// How the columns of a table become features. A plan is chosen from the training file, and all other files, those that
// are predicted later too, are read by it.

#include <duplex/space/space.hpp>

#include <array>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace duplex::data {

enum class ColumnKind : std::uint8_t { number, date, truth, category };
inline constexpr std::array<std::string_view, 4> column_kind_names{"number", "date", "boolean", "category"};
constexpr const auto &names_of(ColumnKind /*unused*/) { return column_kind_names; }

struct PlannedColumn {
  std::string name = {}; ///< empty where the file has no names
  std::size_t place = 0; ///< among the columns of the file that might have been features, from 0
  ColumnKind kind = ColumnKind::number;
  bool has_indicator = false; ///< one more feature, 1 where the cell is missing

  // Of a number, a date (days since 1970) or a boolean (0 or 1) the feature is min(max(value − origin, low), high).
  double origin = 0.0;
  float low = -std::numeric_limits<float>::infinity();
  float high = std::numeric_limits<float>::infinity();
  float fill = 0.0F; ///< the feature where the cell is missing: the median

  // Of a category there is a feature for each level, and one for all rare levels together.
  std::vector<std::string> levels = {}; ///< in the order of their bytes
  std::vector<std::string> rare = {};   ///< alike
  std::uint32_t usual = 0;              ///< the level that stands in where the cell is missing

  [[nodiscard]] Index features() const;
  /// A number that is the feature as it stands.
  [[nodiscard]] bool is_plain() const;
  /// Appends the features' names.
  void append_names(std::vector<std::string> &names) const;
};

struct TablePlan {
  bool has_names = false;
  std::size_t width = 0; ///< columns of the file that might have been features
  std::vector<PlannedColumn> columns = {};
  std::vector<std::string> set_aside = {}; ///< other columns of that file: labels, ids, and what is no feature
  std::string source_column = {};          ///< as the reader was told, by name or number
  std::string trusted_column = {};
  std::string_view columns_are = "features"; ///< of the training data, for messages

  [[nodiscard]] Index features() const;
  [[nodiscard]] bool is_plain() const;
  /// Empty where the file has no names and every column is a feature as it stands.
  [[nodiscard]] std::vector<std::string> feature_names() const;
};

/// The plan of data that are numbers already.
[[nodiscard]] std::shared_ptr<const TablePlan> plan_of_numbers(Index columns, const std::vector<std::string> &names);

} // namespace duplex::data
