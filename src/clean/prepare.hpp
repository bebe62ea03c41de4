#pragma once
// Features as softmax regression likes them: centred, and of one size.

#include "data/dataset.hpp"

#include <duplex/softmax_loss.hpp>

#include <span>
#include <string_view>
#include <vector>

namespace duplex::clean {

/// value = shift_j + scale_j · stored
struct Scaling {
  std::vector<float> scale;
  std::vector<float> shift;
  std::string_view kind; ///< for people
};

/// Pixels keep their common unit and are centred; other features are centred and divided by their
/// standard deviation, one that never varies is left out (scale 0).
[[nodiscard]] Scaling choose_scaling(const data::Dataset &training);

/// float32 features are rewritten, others scaled when they are used.
void apply(const Scaling &scaling, FeatureTable &features);

/// A model of scaled features as a model of features as stored: K × (D + 1).
[[nodiscard]] std::vector<float> unscaled(const Eigen::VectorXf &model, Index classes, const Scaling &scaling);

/// Rows, labels and ids in a new order.
void reorder(data::Dataset &dataset, std::span<const Index> order);

/// The samples, taken out of the dataset without a copy; its labels stay.
[[nodiscard]] LabelledSamples take_samples(data::Dataset &dataset);

} // namespace duplex::clean
