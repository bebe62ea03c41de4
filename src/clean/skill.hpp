#pragma once
// How much features tell of labels that a model has not seen: 0 where nothing, 1 where everything.

#include "clean/regression.hpp"

#include <cstdint>
#include <vector>

namespace duplex::clean {

/// Of a model that has less of it, nothing can be said but that it guesses.
inline constexpr double skill_of_a_guess = 0.02;
/// A model that has less of it hardly fits.
inline constexpr double little_skill = 0.15;

/// 1 − its loss over that of the classes' shares alone, where labels are right.
[[nodiscard]] double skill_on_right_labels(const Matrix &log_p, const std::vector<std::uint32_t> &labels);

/// Part of what given labels would tell if those that are wrong were wrong by chance, and models right of all others:
/// (H − loss)/(H − least), H the entropy of labels, least that of chance alone.
[[nodiscard]] double skill_on_given_labels(const Matrix &log_p, const std::vector<std::uint32_t> &labels);

} // namespace duplex::clean
