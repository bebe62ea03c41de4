#include "clean/model_file.hpp"

#include "clean/beliefs.hpp"
#include "clean/landmarks.hpp"
#include "clean/plan_file.hpp"
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
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

namespace duplex::clean {

namespace {

constexpr const char *linear_format = "duplex softmax regression";
constexpr const char *network_format = "duplex network with one hidden layer";
constexpr const char *mapped_format = "duplex softmax regression of mapped features";
constexpr std::uint64_t format_version = 3;
constexpr const char *json_name = "model.json";
constexpr const char *weights_name = "model.npy";
constexpr const char *hidden_name = "model-hidden.npy";
constexpr const char *columns_name = "model-columns.npy";
constexpr const char *landmarks_name = "model-landmarks.npy";
constexpr std::uint64_t most_landmarks_of_a_file = 65536;

[[nodiscard]] Index inputs_of_classes(const Model &model) {
  return model.hidden > 0 ? model.hidden : model.landmarks.empty() ? model.features : model.landmark_count();
}

[[nodiscard]] bool is_mapped(const Model &model) { return !model.scales.empty(); }
[[nodiscard]] Index numbers_of_column(ColumnMap kind) { return kind == ColumnMap::ranks ? 2 + 2 * knots_of_ranks : 2; }

const char *format_of(const Model &model) {
  return model.hidden > 0 ? network_format : is_mapped(model) ? mapped_format : linear_format;
}

/// Scale, shift and knots of each column as rows of one array.
std::vector<float> columns_array(const Model &model) {
  std::vector<float> out;
  const auto knots = static_cast<std::size_t>(numbers_of_column(model.columns.kind) - 2);
  for (std::size_t j = 0; j < static_cast<std::size_t>(model.features); ++j) {
    out.insert(out.end(), {model.scales[2 * j], model.scales[2 * j + 1]});
    const auto first = model.columns.knots.begin() + static_cast<std::ptrdiff_t>(knots * j);
    out.insert(out.end(), first, first + static_cast<std::ptrdiff_t>(knots));
  }
  return out;
}

void take_columns(std::span<const float> array, Model &model) {
  const auto width = static_cast<std::size_t>(numbers_of_column(model.columns.kind));
  for (std::size_t j = 0; j < static_cast<std::size_t>(model.features); ++j) {
    const auto own = array.subspan(width * j, width);
    model.scales.insert(model.scales.end(), {own[0], own[1]});
    model.columns.knots.insert(model.columns.knots.end(), own.begin() + 2, own.end());
  }
}

/// Between knots that fall nothing can be interpolated; the last one may be repeated.
void require_growing_knots(const Model &model, const std::string &file) {
  const auto q = static_cast<std::size_t>(knots_of_ranks);
  for (std::size_t first = 0; first < model.columns.knots.size(); first += 2 * q) {
    const auto begin = model.columns.knots.begin() + static_cast<std::ptrdiff_t>(first);
    if (!std::is_sorted(begin, begin + static_cast<std::ptrdiff_t>(q))) {
      throw InvalidInput(fmt::format("{}: knots of column {} do not grow", file, first / (2 * q) + 1));
    }
  }
}

/// Scaled and mapped rows.
FeatureTable mapped_features(const Model &model, const FeatureTable &features) {
  FeatureTable out(Storage::float32, model.features);
  std::vector<float> row(static_cast<std::size_t>(model.features));
  for (Index i = 0; i < features.rows(); ++i) {
    for (Index j = 0; j < model.features; ++j) {
      const auto at = static_cast<std::size_t>(j);
      constexpr double farthest = 1e15; // whose square floats still hold
      const double scaled = static_cast<double>(model.scales[2 * at + 1]) +
                            static_cast<double>(model.scales[2 * at]) * static_cast<double>(features.value(i, j));
      row[at] = model.columns(j, static_cast<float>(std::clamp(scaled, -farthest, farthest)));
    }
    out.append(std::span<const float>(row));
  }
  return out;
}

FeatureTable features_of_kernel(const Model &model, const FeatureTable &features) {
  FeatureTable rows(Storage::float32, model.features);
  rows.append(std::span<const float>(model.landmarks));
  const Landmarks landmarks{.rows = std::make_shared<const FeatureTable>(std::move(rows)), .scale = model.kernel_scale};
  return kernel_values(landmarks, features, 0);
}

/// The numbers of an array, from a file that must be the one that model.json knows.
std::vector<float> array_in(const std::string &bytes, const report::JsonMembers &known, const std::string &file,
                            Index rows, Index columns) {
  if (const auto size = known.whole("bytes", 0, std::numeric_limits<std::uint64_t>::max()); size != bytes.size()) {
    throw InvalidInput(fmt::format("{}: has {} bytes, expected {} as model.json says", file, bytes.size(), size));
  }
  if (known.hash("hash") != report::hash_of(bytes)) {
    throw InvalidInput(
        fmt::format("{}: is damaged, or of another model: its checksum is not what model.json says", file));
  }
  data::MemorySource source(file, bytes);
  const auto table = data::read_arrays(source, nullptr, {.expect_labels = false}).features;
  if (table.rows() != rows || table.columns() != columns) {
    throw InvalidInput(fmt::format("{}: {} x {} numbers, expected {} x {} as model.json says", file, table.rows(),
                                   table.columns(), rows, columns));
  }
  std::vector<float> weights;
  weights.reserve(static_cast<std::size_t>(rows * columns));
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

/// How features are mapped, and the landmarks where there are some.
template <class Array>
void read_map(const report::JsonMembers &members, const Array &array, const std::string &columns_file, Model &model) {
  const std::string kind = members.text("column_map");
  const auto &known = names_of(ColumnMap{});
  const auto found = std::find(known.begin(), known.end(), kind);
  if (found == known.end()) {
    members.refuse("column_map", fmt::format("{}", fmt::join(known, ", ")));
  }
  model.columns.kind = static_cast<ColumnMap>(found - known.begin());
  take_columns(array(columns_name, model.features, numbers_of_column(model.columns.kind)), model);
  require_growing_knots(model, columns_file);
  const auto landmarks = static_cast<Index>(members.whole("landmarks", 0, most_landmarks_of_a_file));
  if (landmarks > 0) {
    if (model.hidden > 0) {
      members.refuse("landmarks", "0 where there is a hidden layer");
    }
    const report::Json &scale = members.at("kernel_scale");
    model.kernel_scale = scale.is_number() ? scale.get<double>() : 0.0;
    if (!(model.kernel_scale > 0.0) || !std::isfinite(model.kernel_scale)) {
      members.refuse("kernel_scale", "a finite number > 0");
    }
    model.landmarks = array(landmarks_name, landmarks, model.features);
  }
}

} // namespace

std::vector<report::NamedContent> model_files(const Model &model) {
  std::vector<report::NamedContent> files;
  if (model.hidden > 0) {
    const std::array<Index, 2> shape{model.hidden, model.features + 1};
    files.push_back({hidden_name, data::npy_file(model.hidden_weights, shape)});
  }
  if (is_mapped(model)) {
    const std::array<Index, 2> shape{model.features, numbers_of_column(model.columns.kind)};
    files.push_back({columns_name, data::npy_file(columns_array(model), shape)});
  }
  if (!model.landmarks.empty()) {
    const std::array<Index, 2> shape{model.landmark_count(), model.features};
    files.push_back({landmarks_name, data::npy_file(model.landmarks, shape)});
  }
  const std::array<Index, 2> shape{static_cast<Index>(model.classes.size()), inputs_of_classes(model) + 1};
  files.push_back({weights_name, data::npy_file(model.weights, shape)});
  report::Json json{{"format", format_of(model)},
                    {"format_version", format_version},
                    {"duplex", version},
                    {"classes", model.classes},
                    {"features", model.features},
                    {"feature_names", model.feature_names},
                    {"label_column", model.label_column},
                    {"id_column", model.id_column},
                    {"columns", model.plan ? plan_json(*model.plan) : report::Json(nullptr)}};
  if (model.hidden > 0) {
    json["hidden"] = model.hidden;
  }
  if (is_mapped(model)) {
    json["column_map"] = names_of(model.columns.kind)[static_cast<std::size_t>(model.columns.kind)];
    json["landmarks"] = model.landmark_count();
    json["kernel_scale"] = model.kernel_scale;
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
  const bool is_of_mapped = format == mapped_format;
  if (!is_network && !is_of_mapped && format != linear_format) {
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
  if (const auto &columns = members.at("columns"); !columns.is_null()) {
    model.plan = parsed_plan(columns, file + ": columns");
    if (model.plan->features() != model.features) {
      throw InvalidInput(
          fmt::format("{}: columns that make {} features, expected {}", file, model.plan->features(), model.features));
    }
  }
  const report::JsonMembers files(members.at("files"), file + ": files");
  const auto array = [&](const char *name, Index rows, Index columns) {
    const report::JsonMembers known(files.at(name), file + ": files: " + name);
    return array_in(bytes_of(name), known, (folder / name).string(), rows, columns);
  };
  if (model.hidden > 0) {
    model.hidden_weights = array(hidden_name, model.hidden, model.features + 1);
  }
  if (is_of_mapped || (is_network && json.contains("column_map"))) {
    read_map(members, array, (folder / columns_name).string(), model);
  }
  model.weights = array(weights_name, static_cast<Index>(model.classes.size()), inputs_of_classes(model) + 1);
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

std::shared_ptr<const data::TablePlan> plan_of(const Model &model) {
  return model.plan ? model.plan : data::plan_of_numbers(model.features, model.feature_names);
}

data::Dataset schema_of(const Model &model, std::string source) {
  data::Dataset schema;
  schema.source = std::move(source);
  schema.features = FeatureTable(Storage::float32, model.features);
  schema.feature_names = model.feature_names;
  schema.label_names = model.classes;
  return schema;
}

namespace {

/// visit(first row, probabilities) for blocks of rows: what is computed of all rows may be larger than the rows.
template <class Visit> void visit_probabilities(const Model &model, const data::Dataset &dataset, const Visit &visit) {
  data::require_same_features(schema_of(model, "the model"), dataset);
  const Eigen::VectorXd weights =
      Eigen::Map<const Vector>(model.weights.data(), static_cast<Index>(model.weights.size())).cast<double>();
  const auto rows = dataset.features.rows();
  constexpr Index rows_at_once = 1 << 13;
  for (Index first = 0; first < rows; first += rows_at_once) {
    const Index count = std::min(rows_at_once, rows - first);
    auto features = dataset.features.slice(first, count);
    if (is_mapped(model)) {
      features = mapped_features(model, features);
    }
    if (model.hidden > 0) {
      features = hidden_features(model, features);
    }
    if (!model.landmarks.empty()) {
      features = features_of_kernel(model, features);
    }
    const LabelledSamples samples{std::make_shared<const FeatureTable>(std::move(features)),
                                  std::make_shared<const std::vector<std::uint32_t>>(static_cast<std::size_t>(count))};
    SoftmaxLoss<double> loss(samples, static_cast<Index>(model.classes.size())); // raw features may be far from zero
    loss.at(weights);
    const auto probabilities = loss.probabilities();
    for (Index i = 0; i < count; ++i) {
      Index largest = 0;
      if (!std::isfinite(probabilities.row(i).maxCoeff(&largest))) {
        throw NotAvailable(fmt::format("{}: row {}: the model has no probabilities for features so far from those that "
                                       "it was made from",
                                       dataset.source, first + i + 1));
      }
    }
    visit(first, probabilities);
  }
}

} // namespace

Eigen::MatrixXd probabilities_of(const Model &model, const data::Dataset &dataset) {
  Eigen::MatrixXd out(dataset.features.rows(), static_cast<Index>(model.classes.size()));
  visit_probabilities(model, dataset, [&](Index first, const auto &probabilities) {
    out.middleRows(first, probabilities.rows()) = probabilities.template cast<double>();
  });
  return out;
}

std::vector<Prediction> predict(const Model &model, const data::Dataset &dataset) {
  std::vector<Prediction> out;
  visit_probabilities(model, dataset, [&](Index /*first*/, const auto &probabilities) {
    for (Index i = 0; i < probabilities.rows(); ++i) {
      Index best = 0;
      const double largest = probabilities.row(i).maxCoeff(&best);
      out.push_back({static_cast<std::uint32_t>(best), static_cast<float>(largest)});
    }
  });
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
