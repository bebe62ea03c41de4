#pragma once
// Where classes meet: how near each row is to another class than its own, by its nearest neighbours. For labels that
// are wrong because a row looks like one of another class.

#include "data/noise.hpp"

#include <duplex/kernels/feature_table.hpp>

namespace duplex::data {

/// For each row.
struct NearestOther {
  std::vector<std::uint32_t> label; ///< the class other than its own that is nearest
  /// Distance to that over the distance to its own class, a distance being the mean one to the five nearest other rows
  /// of the class: below 1 where the row lies among those of the other class. Infinite where one is not known.
  std::vector<double> ratio;
};

/// Features count in units of their standard deviation, those of a sparse table as they are. No row is a neighbour of
/// itself, so that what is said of a row does not rest on its own label. Takes time ∝ rows². Throws InvalidInput where
/// labels are out of range.
[[nodiscard]] NearestOther nearest_other_classes(const FeatureTable &features, std::span<const std::uint32_t> labels,
                                                 std::size_t classes);

/// The round(fraction·N) rows of the least ratio get the label of the class that they are nearest to.
[[nodiscard]] NoisyLabels add_noise_near_boundaries(std::span<const std::uint32_t> labels, const NearestOther &nearest,
                                                    double fraction);

} // namespace duplex::data
