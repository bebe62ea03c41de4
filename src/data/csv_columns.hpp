#pragma once
// Which column of a CSV file is what, from its first line and the options.

#include "data/dataset.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace duplex::data {

enum class ColumnRole : std::uint8_t { feature, label, id, source, trusted, ignored };

struct CsvColumns {
  bool has_header = false;
  std::vector<std::string> names; ///< empty without a header
  std::vector<ColumnRole> roles;
  std::optional<std::size_t> label;
  std::size_t width = 0; ///< columns that might be features, read or not
  /// Of those that are read: their places among the columns that might be features.
  std::vector<std::size_t> order;
  /// Where there is a plan: which of the columns that are read each one of the plan is.
  std::vector<std::size_t> column_of;
  std::vector<std::string> set_aside; ///< names of columns that are not read as features
  std::vector<std::string> unknown;   ///< names of columns of which the plan knows nothing

  [[nodiscard]] std::size_t count() const { return roles.size(); }
  [[nodiscard]] std::size_t features() const { return order.size(); }
};

/// "'a', 'b' and 7 more", for messages.
[[nodiscard]] std::string quoted_list(const std::vector<std::string> &names);

/// Throws InvalidInput where the options do not fit the file.
[[nodiscard]] CsvColumns find_columns(const std::string &file, const std::vector<std::string> &first_line,
                                      const ReadOptions &options);

} // namespace duplex::data
