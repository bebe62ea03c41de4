#pragma once
// Sizes beyond which a table is refused before memory is asked for.

#include "data/dataset.hpp"

#include <cstdint>
#include <string>

namespace duplex::data {

inline constexpr std::uint64_t most_columns = std::uint64_t{1} << 24U;

class TableLimit {
public:
  TableLimit(std::string source, const ReadOptions &options);
  /// Throws InvalidInput if there are none or too many.
  void require_columns(std::uint64_t columns) const;
  /// Throws InvalidInput if such a table is larger than memory.
  void require_rows(std::uint64_t rows, std::uint64_t columns, Storage storage) const;

private:
  std::string source_;
  std::uint64_t bytes_;
};

} // namespace duplex::data
