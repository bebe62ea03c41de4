#pragma once
// The cells of clean-anywhere: rows drawn from a table, some of them trusted, the labels of the others made wrong.

#include "data/boundaries.hpp"
#include "data/dataset.hpp"

#include <array>
#include <filesystem>
#include <string_view>

namespace duplex::reproduce {

enum class AnywhereNoise : std::uint8_t { uniform20, uniform40, pair, boundary, source };
inline constexpr std::array<std::string_view, 5> anywhere_noise_names{"uniform20", "uniform40", "pair", "boundary",
                                                                      "source"};
inline constexpr std::array<std::string_view, 5> anywhere_noise_titles{"uniform 20 %", "uniform 40 %", "pair",
                                                                       "boundary", "by source"};
inline constexpr std::array<Index, 4> anywhere_trusted{20, 50, 100, 500};
inline constexpr Index anywhere_most_rows = 3000; ///< that are cleaned at once

struct AnywhereCell {
  std::string table;
  AnywhereNoise noise = AnywhereNoise::uniform20;
  Index trusted = 0;
  std::uint64_t seed = 0;
};

/// Rows drawn from a table by a seed: the first ones are trusted, the next ones are cleaned.
struct AnywherePool {
  std::string table;
  std::uint64_t seed = 0;
  data::Dataset rows;
  data::NearestOther nearest; ///< by the true labels
};

[[nodiscard]] AnywherePool draw_pool(const std::string &name, const data::Dataset &table, Index most_rows,
                                     std::uint64_t seed);

struct AnywhereCase {
  data::Dataset training; ///< with wrong labels
  data::Dataset trusted;
  std::vector<std::uint32_t> true_labels;
  std::vector<std::uint32_t> sources; ///< of each training row, where labels are wrong by source
  [[nodiscard]] std::vector<bool> wrong() const;
};

/// A fifth of the labels are wrong by uniform20 and near boundaries, .4 by uniform40, .3 by pairs, and 0 to 90 % of
/// those of each of twenty sources.
[[nodiscard]] AnywhereCase make_case(const AnywherePool &pool, const AnywhereCell &cell, Index most_rows);

/// Whether at least half of the rows are left to be cleaned.
[[nodiscard]] bool has_cell(const AnywherePool &pool, Index trusted);

/// For other tools. TABLE-SEED.csv (or .libsvm): the features of the pool's rows.
void export_pool(const AnywherePool &pool, const std::filesystem::path &folder);
/// TABLE-SEED-NOISE-TRUSTED.csv: row of the pool (from 0), 1 where it is trusted, label as given, true label, source.
void export_case(const AnywhereCell &cell, const AnywhereCase &made, const std::filesystem::path &folder);

} // namespace duplex::reproduce
