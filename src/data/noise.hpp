#pragma once
// Wrong labels on purpose, with a record of where they are.

#include <duplex/core/fields.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace duplex::data {

/// What a chosen row's label c becomes, with K classes:
///   uniform        any of the K, c among them
///   always-wrong   any of the K − 1 others
///   pair           (c + 1) mod K
enum class NoiseKind : std::uint8_t { uniform, always_wrong, pair };
inline constexpr std::array<std::string_view, 3> noise_kind_names = {"uniform", "always-wrong", "pair"};
constexpr const auto &names_of(NoiseKind /*unused*/) { return noise_kind_names; }

struct NoiseOptions {
  double fraction = 0.5; ///< of the rows, rounded to whole ones
  NoiseKind kind = NoiseKind::uniform;
  std::uint64_t seed = 0;
};

struct NoisyLabels {
  std::vector<std::uint32_t> labels;
  std::vector<bool> chosen; ///< a chosen row may have kept its label where the noise is uniform
};

/// Chooses exactly round(fraction·N) rows. Throws InvalidInput where fraction or labels are out of range.
[[nodiscard]] NoisyLabels add_noise(std::span<const std::uint32_t> labels, std::size_t classes,
                                    const NoiseOptions &options);

struct SourceNoise {
  std::size_t sources = 20;
  double worst = 0.9; ///< part of its labels that the last source gets wrong
  std::uint64_t seed = 0;
};

struct SourcedLabels {
  std::vector<std::uint32_t> labels;
  std::vector<std::uint32_t> sources; ///< who gave each of them, from 0
};

/// Every row is labelled by one of the sources, drawn at random. Source s gets a label wrong with probability
/// worst·s/(sources − 1), and takes any of the other classes then. Throws as add_noise(), and where there is no source.
[[nodiscard]] SourcedLabels add_noise_by_source(std::span<const std::uint32_t> labels, std::size_t classes,
                                                const SourceNoise &options);

} // namespace duplex::data
