#pragma once
// Rows that a table holds more than once. Whatever judges a row must not have been fitted to a copy of it, whose label
// would vouch for itself.

#include "clean/regression.hpp"

#include <vector>

namespace duplex::clean {

/// Rows that are not the same have the same one by a chance of 2⁻⁶⁴; they are then taken for copies, which does no
/// harm.
[[nodiscard]] std::size_t hash_of_row(const FeatureTable &table, Index row);

/// The order with copies of a row right behind the first of them, so that all but a few are in the same fold. Rows of
/// which there are very many copies stay where they are: there the features have few values.
[[nodiscard]] std::vector<Index> with_copies_together(const FeatureTable &table, const std::vector<Index> &order);

/// Which rows are in the other table as well. None where most of the other's rows have more than two copies here: there
/// the features have few values.
[[nodiscard]] std::vector<bool> copies_of(const FeatureTable &table, const FeatureTable &other);

} // namespace duplex::clean
