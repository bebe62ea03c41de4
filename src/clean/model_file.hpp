#pragma once
// A model on disk, for features as they come in files, or as model.json says that columns become features. model.json
// says what it is, and model.npy holds K × (D + 1) numbers, so that class = argmax(model[:, :-1] @ features + model[:,
// -1]). Of a network with H hidden units, the features of model.npy, K × (H + 1), are max(0, hidden[:, :-1] @ features
// + hidden[:, -1]) by model-hidden.npy, H × (D + 1). Of a model of mapped features, model-columns.npy, D × 2 or
// D × (2 + 2Q), has a scale and a shift for each feature and, where it becomes its ranks, Q knots and what they become:
// a feature is shift + scale · value, then clipped to ± 6 or interpolated between the knots. Of a kernel model, the
// features of model.npy, K × (R + 1), are exp(−‖a − l‖²/s) for the rows l of model-landmarks.npy, R × D, which are
// mapped. model.json knows the size and the checksum of the others and of itself, so that files that are damaged, or
// not of one another, are refused.

#include "clean/feature_map.hpp"
#include "data/dataset.hpp"
#include "data/table_plan.hpp"
#include "report/files.hpp"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace duplex::clean {

inline constexpr std::uint64_t most_hidden = 65536;

struct Model {
  std::vector<std::string> classes;
  std::vector<std::string> feature_names; ///< empty if there are none
  std::string label_column = {};          ///< of the training file, where it was named
  std::string id_column = {};
  std::shared_ptr<const data::TablePlan> plan = {}; ///< of the training file's columns; null: it was no CSV file
  Index features = 0;
  Index hidden = 0;                       ///< units of the hidden layer; 0: there is none
  std::vector<float> hidden_weights = {}; ///< H × (D + 1)
  ColumnRule columns = {};                ///< what becomes of a feature once it is scaled
  std::vector<float> scales = {};         ///< D × 2, scale and shift; none: features are taken as they are in the file
  std::vector<float> landmarks = {};      ///< R × D; none: there is no kernel
  double kernel_scale = 0.0;              ///< s
  std::vector<float> weights = {};        ///< K × (D + 1), K × (H + 1) or K × (R + 1)

  [[nodiscard]] Index landmark_count() const { return static_cast<Index>(landmarks.size()) / features; }
};

/// model.json and the files that it names.
[[nodiscard]] std::vector<report::NamedContent> model_files(const Model &model);

/// Throws InvalidInput, naming the file and what is wrong with it.
[[nodiscard]] Model read_model(const std::filesystem::path &folder);

/// The same of bytes in memory: those of model.json, and of the others as bytes_of(name) gives them. Messages name
/// files as if they lay in `folder`.
[[nodiscard]] Model parse_model(std::string_view json, const std::filesystem::path &folder,
                                const std::function<std::string(const char *name)> &bytes_of);

struct Prediction {
  std::uint32_t label = 0;
  float probability = 0.0F;
};

/// How a file is read whose rows are to be predicted: by the columns of the training file.
[[nodiscard]] std::shared_ptr<const data::TablePlan> plan_of(const Model &model);

/// A dataset without rows that has the model's features and classes, for the readers' checks.
[[nodiscard]] data::Dataset schema_of(const Model &model, std::string source);

/// P(class) of every row, rows by classes. Throws InvalidInput where the data's features are not the model's,
/// NotAvailable where they are so far from those that it was made from that there are none.
[[nodiscard]] Eigen::MatrixXd probabilities_of(const Model &model, const data::Dataset &dataset);

/// The same, of the most probable class alone.
[[nodiscard]] std::vector<Prediction> predict(const Model &model, const data::Dataset &dataset);

/// row,id,label,predicted,probability: ids and labels where the data have them.
[[nodiscard]] std::string predictions_csv(const Model &model, const data::Dataset &dataset,
                                          const std::vector<Prediction> &predictions);

/// Part of the labels that the predictions match; the labels are numbers of the model's classes.
[[nodiscard]] double accuracy(const std::vector<Prediction> &predictions, std::span<const std::uint32_t> labels);

} // namespace duplex::clean
