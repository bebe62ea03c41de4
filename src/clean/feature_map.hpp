#pragma once
// Features as a model sees them, column by column and without a look at labels: as they are, within ± 6 of them, so
// that no value however far out leads a fit, or by their ranks, Φ⁻¹(rank/n), so that a column may have any unit and any
// skew. Each gives a FeatureTable for the kernels that read features.

#include <duplex/kernels/feature_table.hpp>

#include <array>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

namespace duplex::clean {

enum class ColumnMap : std::uint8_t { as_it_is, clipped, ranks };
inline constexpr std::array<std::string_view, 3> column_map_names{"as it is", "clipped", "ranks"};
constexpr const auto &names_of(ColumnMap /*unused*/) { return column_map_names; }
/// What becomes of features, for people; the names above are those in files.
inline constexpr std::array<std::string_view, 3> shown_column_maps{"as they are", "clipped", "as ranks"};

/// Of scaled features, in their unit.
inline constexpr float farthest_feature = 6.0F;
/// Of a column's ranks: between two knots they are on a straight line.
inline constexpr Index knots_of_ranks = 48;

struct ColumnRule {
  ColumnMap kind = ColumnMap::as_it_is;
  /// Of ranks: for each column its knots, growing, then what they become; a column with fewer repeats the last.
  std::vector<float> knots = {};

  [[nodiscard]] float operator()(Index column, float value) const;
  bool operator==(const ColumnRule &) const = default;
};

/// As they are where none lies beyond ± 6, or where they are pixels, which have one range; else clipped.
[[nodiscard]] ColumnMap robust_map(const FeatureTable &table, bool pixels);

/// From the table's rows, or some thousand of them where there are more. A column that never varies becomes zero.
[[nodiscard]] ColumnRule ranks_of(const FeatureTable &table);

/// A table of its own, or the same one where features stay as they are.
[[nodiscard]] std::shared_ptr<const FeatureTable> mapped(const ColumnRule &rule,
                                                         const std::shared_ptr<const FeatureTable> &table);

} // namespace duplex::clean
