#include "clean/model_file.hpp"

#include "clean/beliefs.hpp"
#include "data/csv_write.hpp"
#include "data/limits.hpp"
#include "data/npy_write.hpp"
#include "data/readers.hpp"
#include "report/hash.hpp"
#include "report/json_file.hpp"
#include "report/text.hpp"

#include <duplex/core/error.hpp>
#include <duplex/version.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

namespace duplex::clean {

namespace {

constexpr const char *linear_format = "duplex softmax regression";
constexpr const char *network_format = "duplex network with one hidden layer";
constexpr std::uint64_t format_version = 2;
constexpr const char *json_name = "model.json";
constexpr const char *weights_name = "model.npy";
constexpr const char *hidden_name = "model-hidden.npy";

[[nodiscard]] Index inputs_of_classes(const Model &model) { return model.hidden > 0 ? model.hidden : model.features; }

/// The numbers of a layer, from a file that must be the one that model.json knows.
std::vector<float> layer_in(const std::string &bytes, const report::JsonMembers &known, const std::string &file,
                            Index outputs, Index inputs) {
  if (const auto size = known.whole("bytes", 0, std::numeric_limits<std::uint64_t>::max()); size != bytes.size()) {
    throw InvalidInput(fmt::format("{}: has {} bytes, expected {} as model.json says", file, bytes.size(), size));
  }
  if (known.hash("hash") != report::hash_of(bytes)) {
    throw InvalidInput(
        fmt::format("{}: is damaged, or of another model: its checksum is not what model.json says", file));
  }
  data::MemorySource source(file, bytes);
  const auto table = data::read_arrays(source, nullptr, {.expect_labels = false}).features;
  if (table.rows() != outputs || table.columns() != inputs + 1) {
    throw InvalidInput(fmt::format("{}: {} x {} numbers, expected {} x {} as model.json says", file, table.rows(),
                                   table.columns(), outputs, inputs + 1));
  }
  std::vector<float> weights;
  weights.reserve(static_cast<std::size_t>(outputs * (inputs + 1)));
  for (Index k = 0; k < table.rows(); ++k) {
    for (Index j = 0; j < table.columns(); ++j) {
      weights.push_back(table.value(k, j));
    }
  }
  return weights;
}

void refuse_other_version(std::string_view text, const std::string &file) {
  const auto json = report::parsed_json(text, file);
  const bool has_version = json.is_object() && json.contains("format_version");
  if (has_version && json["format_version"] != format_version) {
    throw InvalidInput(fmt::format("{}: a model of version {}, expected {}: duplex clean writes it anew", file,
                                   report::elided(report::json_text(json["format_version"]), 20), format_version));
  }
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

std::vector<report::NamedContent> model_files(const Model &model) {
  std::vector<report::NamedContent> files;
  if (model.hidden > 0) {
    const std::array<Index, 2> shape{model.hidden, model.features + 1};
    files.push_back({hidden_name, data::npy_file(model.hidden_weights, shape)});
  }
  const std::array<Index, 2> shape{static_cast<Index>(model.classes.size()), inputs_of_classes(model) + 1};
  files.push_back({weights_name, data::npy_file(model.weights, shape)});
  report::Json json{{"format", model.hidden > 0 ? network_format : linear_format},
                    {"format_version", format_version},
                    {"duplex", version},
                    {"classes", model.classes},
                    {"features", model.features},
                    {"feature_names", model.feature_names},
                    {"label_column", model.label_column},
                    {"id_column", model.id_column}};
  if (model.hidden > 0) {
    json["hidden"] = model.hidden;
  }
  for (const auto &file : files) {
    json["files"][file.name] = {{"bytes", file.content.size()}, {"hash", report::hash_of(file.content)}};
  }
  files.push_back({json_name, report::sealed_text(std::move(json))});
  return files;
}

Model parse_model(std::string_view text, const std::filesystem::path &folder,
                  const std::function<std::string(const char *name)> &bytes_of) {
  const std::string file = (folder / json_name).string();
  refuse_other_version(text, file);
  const report::Json json = report::unsealed(text, file);
  const report::JsonMembers members(json, file);
  const std::string format = members.text("format");
  const bool is_network = format == network_format;
  if (!is_network && format != linear_format) {
    throw InvalidInput(fmt::format("{}: not a model of this version of duplex", file));
  }
  Model model{.classes = members.texts("classes"),
              .feature_names = members.texts("feature_names"),
              .label_column = members.text("label_column"),
              .id_column = members.text("id_column")};
  if (model.classes.empty()) {
    members.refuse("classes", "at least one");
  }
  model.features = static_cast<Index>(members.whole("features", 1, data::most_columns));
  model.hidden = is_network ? static_cast<Index>(members.whole("hidden", 1, most_hidden)) : 0;
  if (!model.feature_names.empty() && static_cast<Index>(model.feature_names.size()) != model.features) {
    throw InvalidInput(
        fmt::format("{}: {} feature_names, expected {}, or none", file, model.feature_names.size(), model.features));
  }
  const report::JsonMembers files(members.at("files"), file + ": files");
  const auto layer = [&](const char *name, Index outputs, Index inputs) {
    const report::JsonMembers known(files.at(name), file + ": files: " + name);
    return layer_in(bytes_of(name), known, (folder / name).string(), outputs, inputs);
  };
  if (model.hidden > 0) {
    model.hidden_weights = layer(hidden_name, model.hidden, model.features);
  }
  model.weights = layer(weights_name, static_cast<Index>(model.classes.size()), inputs_of_classes(model));
  return model;
}

Model read_model(const std::filesystem::path &folder) {
  std::string json;
  try {
    json = report::read_file(folder / json_name);
  } catch (const InvalidInput &error) {
    throw InvalidInput(fmt::format("{}; expected the folder of a model that duplex clean has written", error.what()));
  }
  return parse_model(json, folder, [&](const char *name) { return report::read_file(folder / name); });
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
