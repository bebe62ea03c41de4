#pragma once
// Which column of a CSV file is what, from its first line and the options.

#include "data/dataset.hpp"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace duplex::data {

struct CsvColumns {
  std::size_t count = 0;
  bool has_header = false;
  std::vector<std::string> names; ///< empty without a header
  std::optional<std::size_t> label;
  std::optional<std::size_t> id;

  [[nodiscard]] bool is_feature(std::size_t column) const { return column != label && column != id; }
  /// How many columns from this one on are features without another between them.
  [[nodiscard]] std::size_t features_from(std::size_t column) const {
    const auto before = [&](std::optional<std::size_t> other) { return other && *other >= column ? *other : count; };
    return std::min(before(label), before(id)) - column;
  }
  [[nodiscard]] std::size_t features() const { return count - (label ? 1 : 0) - (id ? 1 : 0); }
};

/// Throws InvalidInput where the options do not fit the file.
[[nodiscard]] CsvColumns find_columns(const std::string &file, const std::vector<std::string> &first_line,
                                      const ReadOptions &options);

} // namespace duplex::data
