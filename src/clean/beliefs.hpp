#pragma once
// What models believe of samples' classes, against labels.

#include "clean/regression.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace duplex::clean {

/// Most probable class of each sample.
[[nodiscard]] std::vector<std::uint32_t> predicted(const Matrix &probabilities);

/// Part of the labels that the guesses match.
[[nodiscard]] double share_of_equal(std::span<const std::uint32_t> guesses, std::span<const std::uint32_t> labels);

/// Of the labels under log p.
[[nodiscard]] double mean_loss(const Matrix &log_p, const std::vector<std::uint32_t> &labels);

/// Of the classes' shares among the labels.
[[nodiscard]] double entropy_of(const std::vector<std::uint32_t> &labels, Index classes);

} // namespace duplex::clean
