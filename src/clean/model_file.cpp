#include "clean/model_file.hpp"

#include "clean/beliefs.hpp"
#include "data/csv_write.hpp"
#include "data/npy_write.hpp"
#include "report/files.hpp"

#include <duplex/error.hpp>
#include <duplex/version.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <fstream>
#include <utility>

namespace duplex::clean {

namespace {

constexpr const char *format_name = "duplex softmax regression";

} // namespace

void write_model(const std::filesystem::path &folder, const Model &model) {
  const nlohmann::ordered_json json{{"format", format_name},
                                    {"format_version", 1},
                                    {"duplex", version},
                                    {"classes", model.classes},
                                    {"features", model.features},
                                    {"feature_names", model.feature_names},
                                    {"label_column", model.label_column},
                                    {"id_column", model.id_column}};
  const std::array<Index, 2> shape{static_cast<Index>(model.classes.size()), model.features + 1};
  report::write_file(folder / "model.npy", data::npy_file(model.weights, shape));
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
    if (json.at("format") != format_name || json.at("format_version") != 1) {
      throw InvalidInput(fmt::format("{}: not a model of this version of duplex", file.string()));
    }
    model.classes = json.at("classes").get<std::vector<std::string>>();
    const auto &features = json.at("features");
    constexpr std::int64_t most_features = std::int64_t{1} << 24;
    if (!features.is_number_unsigned() || features.get<std::uint64_t>() < 1 ||
        features.get<std::uint64_t>() > static_cast<std::uint64_t>(most_features)) {
      throw InvalidInput(fmt::format("{}: features = {}, expected a whole number from 1 to {}", file.string(),
                                     features.dump(), most_features));
    }
    model.features = features.get<Index>();
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
  const auto weights = data::read_dataset(folder / "model.npy", {.expect_labels = false});
  const auto &table = weights.features;
  if (table.rows() != static_cast<Index>(model.classes.size()) || table.columns() != model.features + 1) {
    throw InvalidInput(fmt::format("{}: {} x {} numbers, expected {} x {} as model.json says",
                                   (folder / "model.npy").string(), table.rows(), table.columns(), model.classes.size(),
                                   model.features + 1));
  }
  for (Index k = 0; k < table.rows(); ++k) {
    for (Index j = 0; j < table.columns(); ++j) {
      model.weights.push_back(table.value(k, j));
    }
  }
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
    const LabelledSamples samples{std::make_shared<const FeatureTable>(dataset.features.slice(first, count)),
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
