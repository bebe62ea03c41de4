#pragma once
// Features as softmax regression likes them: centred, and of one size.

#include "clean/source_weights.hpp"
#include "data/dataset.hpp"

#include <duplex/kernels/softmax_loss.hpp>

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace duplex::clean {

/// How features are kept in memory: pixels as bytes where that is exact (automatic), or as asked.
enum class KeptAs : std::uint8_t { automatic, float32, float16 };
inline constexpr std::array<std::string_view, 3> kept_as_names{"auto", "float32", "float16"};
constexpr const auto &names_of(KeptAs /*unused*/) { return kept_as_names; }

/// value = shift_j + scale_j · stored
struct Scaling {
  std::vector<float> scale;
  std::vector<float> shift;
  std::vector<float> constant; ///< the value of a feature that is left out because it never varies
  std::string_view kind;       ///< for people
};

/// Pixels keep their common unit and are centred; other features are centred and divided by their standard deviation,
/// values that are far out counting as at the end of the usual range; one that never varies is left out (scale 0).
[[nodiscard]] Scaling choose_scaling(const data::Dataset &training);

/// float32 features are rewritten, others scaled when they are used.
void apply(const Scaling &scaling, FeatureTable &features);

/// A layer on scaled features, outputs × (D + 1), as a layer on features as stored.
[[nodiscard]] std::vector<float> unscaled(std::span<const float> layer, Index outputs, const Scaling &scaling);

/// What a cleaning starts from. The datasets keep their labels, names and ids, in the order of their files.
struct Prepared {
  LabelledSamples training; ///< in the interleaved order
  LabelledSamples trusted;  ///< without rows where none is trusted
  Scaling scaling;
  std::vector<Index> order; ///< the row of the file that each training sample was
  Index classes = 0;
  bool pixels = false;
  SourcesOfRows sources; ///< of the training samples, in their order; empty where the data have none
};

/// Takes the features out of the datasets without a copy: scaled, stored as asked and put in order.
/// Throws InvalidInput where there is one class only or a value does not fit the storage.
[[nodiscard]] Prepared prepare(data::Dataset &training, data::Dataset &trusted, KeptAs kept_as, std::uint64_t seed);

} // namespace duplex::clean
