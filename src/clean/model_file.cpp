#include "clean/model_file.hpp"

#include "clean/beliefs.hpp"
#include "data/csv_write.hpp"
#include "data/npy_write.hpp"
#include "report/files.hpp"

#include <duplex/error.hpp>
#include <duplex/version.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <fstream>
#include <utility>

namespace duplex::clean {

namespace {

constexpr const char *linear_format = "duplex softmax regression";
constexpr const char *network_format = "duplex network with one hidden layer";
constexpr const char *weights_name = "model.npy";
constexpr const char *hidden_name = "model-hidden.npy";

[[nodiscard]] Index inputs_of_classes(const Model &model) { return model.hidden > 0 ? model.hidden : model.features; }

Index whole_number(const nlohmann::json &json, const char *name, std::uint64_t most, const std::string &file) {
  const auto &value = json.at(name);
  if (!value.is_number_unsigned() || value.get<std::uint64_t>() < 1 || value.get<std::uint64_t>() > most) {
    throw InvalidInput(
        fmt::format("{}: {} = {}, expected a whole number from 1 to {}", file, name, value.dump(), most));
  }
  return value.get<Index>();
}

std::vector<float> read_layer(const std::filesystem::path &file, Index outputs, Index inputs) {
  const auto layer = data::read_dataset(file, {.expect_labels = false});
  const auto &table = layer.features;
  if (table.rows() != outputs || table.columns() != inputs + 1) {
    throw InvalidInput(fmt::format("{}: {} x {} numbers, expected {} x {} as model.json says", file.string(),
                                   table.rows(), table.columns(), outputs, inputs + 1));
  }
  std::vector<float> weights;
  for (Index k = 0; k < table.rows(); ++k) {
    for (Index j = 0; j < table.columns(); ++j) {
      weights.push_back(table.value(k, j));
    }
  }
  return weights;
}

/// The hidden layer's values: features of the classes' layer. In double, since features may be far from zero.
FeatureTable hidden_features(const Model &model, const FeatureTable &features) {
  using Rows = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  const auto layer = Eigen::Map<const Matrix>(model.hidden_weights.data(), model.hidden, model.features + 1);
  const Rows weights = layer.leftCols(model.features).cast<double>();
  const Eigen::RowVectorXd biases = layer.col(model.features).transpose().cast<double>();
  FeatureTable out(Storage::float32, model.hidden);
  constexpr Index rows_at_once = 1024;
  Rows block;
  for (Index first = 0; first < features.rows(); first += rows_at_once) {
    block.resize(std::min(rows_at_once, features.rows() - first), model.features);
    for (Index i = 0; i < block.rows(); ++i) {
      for (Index j = 0; j < block.cols(); ++j) {
        block(i, j) = static_cast<double>(features.value(first + i, j));
      }
    }
    const Matrix values = ((block * weights.transpose()).rowwise() + biases).cwiseMax(0.0).cast<float>();
    out.append(std::span<const float>(values.data(), static_cast<std::size_t>(values.size())));
  }
  return out;
}

} // namespace

void write_model(const std::filesystem::path &folder, const Model &model) {
  nlohmann::ordered_json json{{"format", model.hidden > 0 ? network_format : linear_format},
                              {"format_version", 1},
                              {"duplex", version},
                              {"classes", model.classes},
                              {"features", model.features},
                              {"feature_names", model.feature_names},
                              {"label_column", model.label_column},
                              {"id_column", model.id_column}};
  if (model.hidden > 0) {
    json["hidden"] = model.hidden;
    const std::array<Index, 2> shape{model.hidden, model.features + 1};
    report::write_file(folder / hidden_name, data::npy_file(model.hidden_weights, shape));
  } else {
    std::filesystem::remove(folder / hidden_name);
  }
  const std::array<Index, 2> shape{static_cast<Index>(model.classes.size()), inputs_of_classes(model) + 1};
  report::write_file(folder / weights_name, data::npy_file(model.weights, shape));
  report::write_file(folder / "model.json",
                     json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n");
}

Model read_model(const std::filesystem::path &folder) {
  const auto file = folder / "model.json";
  std::ifstream stream(file);
  if (!stream) {
    throw InvalidInput(
        fmt::format("{}: cannot be read, expected the folder of a model that duplex clean has written", file.string()));
  }
  Model model;
  try {
    const auto json = nlohmann::json::parse(stream);
    const bool is_network = json.at("format") == network_format;
    if ((!is_network && json.at("format") != linear_format) || json.at("format_version") != 1) {
      throw InvalidInput(fmt::format("{}: not a model of this version of duplex", file.string()));
    }
    model.classes = json.at("classes").get<std::vector<std::string>>();
    constexpr std::uint64_t most_features = std::uint64_t{1} << 24U;
    model.features = whole_number(json, "features", most_features, file.string());
    model.hidden = is_network ? whole_number(json, "hidden", most_hidden, file.string()) : 0;
    model.label_column = json.value("label_column", "");
    model.id_column = json.value("id_column", "");
    model.feature_names = json.at("feature_names").get<std::vector<std::string>>();
    if (!model.feature_names.empty() && static_cast<Index>(model.feature_names.size()) != model.features) {
      throw InvalidInput(fmt::format("{}: {} feature_names, expected {}, or none", file.string(),
                                     model.feature_names.size(), model.features));
    }
  } catch (const nlohmann::json::exception &error) {
    throw InvalidInput(fmt::format("{}: {}", file.string(), error.what()));
  }
  if (model.hidden > 0) {
    model.hidden_weights = read_layer(folder / hidden_name, model.hidden, model.features);
  }
  model.weights = read_layer(folder / weights_name, static_cast<Index>(model.classes.size()), inputs_of_classes(model));
  return model;
}

data::Dataset schema_of(const Model &model, std::string source) {
  data::Dataset schema;
  schema.source = std::move(source);
  schema.features = FeatureTable(Storage::float32, model.features);
  schema.feature_names = model.feature_names;
  schema.label_names = model.classes;
  return schema;
}

std::vector<Prediction> predict(const Model &model, const data::Dataset &dataset) {
  data::require_same_features(schema_of(model, "the model"), dataset);
  const Eigen::VectorXd weights =
      Eigen::Map<const Vector>(model.weights.data(), static_cast<Index>(model.weights.size())).cast<double>();
  const auto rows = dataset.features.rows();
  constexpr Index rows_at_once = 1 << 15; // probabilities of all rows may be larger than the rows
  std::vector<Prediction> out;
  for (Index first = 0; first < rows; first += rows_at_once) {
    const Index count = std::min(rows_at_once, rows - first);
    auto features = dataset.features.slice(first, count);
    if (model.hidden > 0) {
      features = hidden_features(model, features);
    }
    const LabelledSamples samples{std::make_shared<const FeatureTable>(std::move(features)),
                                  std::make_shared<const std::vector<std::uint32_t>>(static_cast<std::size_t>(count))};
    SoftmaxLoss<double> loss(samples, static_cast<Index>(model.classes.size())); // raw features may be far from zero
    loss.at(weights);
    const auto probabilities = loss.probabilities();
    for (Index i = 0; i < count; ++i) {
      Index best = 0;
      const double largest = probabilities.row(i).maxCoeff(&best);
      out.push_back({static_cast<std::uint32_t>(best), static_cast<float>(largest)});
    }
  }
  return out;
}

std::string predictions_csv(const Model &model, const data::Dataset &dataset,
                            const std::vector<Prediction> &predictions) {
  const bool has_ids = !dataset.ids.empty();
  const bool has_labels = !dataset.labels.empty();
  std::string csv = fmt::format("row,{}{}predicted,probability\n", has_ids ? "id," : "", has_labels ? "label," : "");
  for (std::size_t i = 0; i < predictions.size(); ++i) {
    csv += fmt::format("{},", i + 1);
    if (has_ids) {
      csv += data::csv_cell(dataset.ids[i]) + ",";
    }
    if (has_labels) {
      csv += data::csv_cell(dataset.label_names[dataset.labels[i]]) + ",";
    }
    csv += fmt::format("{},{:.6g}\n", data::csv_cell(model.classes[predictions[i].label]), predictions[i].probability);
  }
  return csv;
}

double accuracy(const std::vector<Prediction> &predictions, std::span<const std::uint32_t> labels) {
  std::vector<std::uint32_t> guesses;
  guesses.reserve(predictions.size());
  for (const auto &prediction : predictions) {
    guesses.push_back(prediction.label);
  }
  return share_of_equal(guesses, labels);
}

} // namespace duplex::clean
