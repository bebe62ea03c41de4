#pragma once
// A model on disk, for features as they come in files. model.json says what it is, and model.npy holds K × (D + 1)
// numbers, so that class = argmax(model[:, :-1] @ features + model[:, -1]). Of a network with H hidden units, the
// features of model.npy, K × (H + 1), are max(0, hidden[:, :-1] @ features + hidden[:, -1]) by model-hidden.npy,
// H × (D + 1).

#include "data/dataset.hpp"

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace duplex::clean {

inline constexpr std::uint64_t most_hidden = 65536;

struct Model {
  std::vector<std::string> classes;
  std::vector<std::string> feature_names; ///< empty if there are none
  std::string label_column = {};          ///< of the training file, where it was named
  std::string id_column = {};
  Index features = 0;
  Index hidden = 0;                       ///< units of the hidden layer; 0: there is none
  std::vector<float> hidden_weights = {}; ///< H × (D + 1)
  std::vector<float> weights = {};        ///< K × (D + 1), or K × (H + 1)
};

/// Removes what another kind of model has left in the folder.
void write_model(const std::filesystem::path &folder, const Model &model);

/// Throws InvalidInput, naming the file and what is wrong with it.
[[nodiscard]] Model read_model(const std::filesystem::path &folder);

struct Prediction {
  std::uint32_t label = 0;
  float probability = 0.0F;
};

/// A dataset without rows that has the model's features and classes, for the readers' checks.
[[nodiscard]] data::Dataset schema_of(const Model &model, std::string source);

/// Throws InvalidInput where the data's features are not the model's.
[[nodiscard]] std::vector<Prediction> predict(const Model &model, const data::Dataset &dataset);

/// row,id,label,predicted,probability: ids and labels where the data have them.
[[nodiscard]] std::string predictions_csv(const Model &model, const data::Dataset &dataset,
                                          const std::vector<Prediction> &predictions);

/// Part of the labels that the predictions match; the labels are numbers of the model's classes.
[[nodiscard]] double accuracy(const std::vector<Prediction> &predictions, std::span<const std::uint32_t> labels);

} // namespace duplex::clean
