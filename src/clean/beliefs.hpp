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

/// How guesses agree with labels.
struct Agreement {
  double found = 0.0;     ///< part of the labels that they match
  double by_chance = 0.0; ///< what that would be if they had nothing to do with one another

  /// Cohen's κ: 1 where all match, 0 where no more do than by chance.
  [[nodiscard]] double beyond_chance() const { return by_chance < 1.0 ? (found - by_chance) / (1.0 - by_chance) : 1.0; }
};
[[nodiscard]] Agreement agreement_of(std::span<const std::uint32_t> guesses, std::span<const std::uint32_t> labels,
                                     Index classes);

/// Throws NotAvailable where one is not.
void require_finite(const Matrix &log_p);

/// Of the labels under log p.
[[nodiscard]] double mean_loss(const Matrix &log_p, const std::vector<std::uint32_t> &labels);

/// Of the classes' shares among the labels.
[[nodiscard]] double entropy_of(const std::vector<std::uint32_t> &labels, Index classes);

} // namespace duplex::clean
