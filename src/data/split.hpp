#pragma once
// Parts of a dataset.

#include "data/dataset.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace duplex::data {

/// Copies of these rows in this order, with storage, scaling and names kept. Throws InvalidInput where a row is
/// not there.
[[nodiscard]] Dataset take_rows(const Dataset &dataset, std::span<const Index> rows);

/// Disjoint parts of the given sizes, drawn at random: for each part its rows, from 0. Throws InvalidInput where
/// a size is below 1 or there are too few rows.
[[nodiscard]] std::vector<std::vector<Index>> split_rows(const Dataset &dataset, std::span<const Index> sizes,
                                                         std::uint64_t seed);

/// split_rows(), then take_rows() for each part.
[[nodiscard]] std::vector<Dataset> split(const Dataset &dataset, std::span<const Index> sizes, std::uint64_t seed);

} // namespace duplex::data
