#pragma once
// Tables that lie in somebody else's memory, such as NumPy's or pandas', read as files with the same content are.

#include "data/dataset.hpp"

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace duplex::data {

/// Elements one after the other, last index fastest, as a .npy file holds them after its header.
struct MemoryArray {
  std::string type; ///< as NumPy says it, such as <f4
  std::vector<Index> shape;
  std::span<const std::byte> bytes;
};

/// Throws InvalidInput, with the name, as of such a file.
[[nodiscard]] Dataset read_array(const MemoryArray &array, const std::string &name);

/// A table that is kept sparse where it is worth it. Throws InvalidInput where a value is not finite, or the entries
/// are not in order.
[[nodiscard]] Dataset read_entries(SparseEntries entries, Index columns, const std::string &name);

/// A column of a table: numbers, of which a NaN is a cell that is missing, or texts, where none is.
struct MemoryColumn {
  std::string name;
  std::span<const double> numbers = {};
  std::vector<std::optional<std::string>> texts = {}; ///< where there are no numbers
};

/// Of columns with as many cells each, as a CSV file without labels would be read: columns become features by the plan
/// of the options or, where that is null, by one that is chosen. Lines in messages are rows, from 1.
[[nodiscard]] Dataset read_columns(std::span<const MemoryColumn> columns, const std::string &name,
                                   const ReadOptions &options);

} // namespace duplex::data
