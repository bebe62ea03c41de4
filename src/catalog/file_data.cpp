#include "catalog/file_data.hpp"

#include "data/dataset.hpp"
#include "data/split.hpp"
#include "data/table_plan.hpp"
#include "data/text.hpp"

#include <duplex/core/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <span>
#include <utility>

namespace duplex::catalog {

namespace {

using data::Dataset;

struct TwoSets {
  Dataset training;
  Dataset validation;
};

Dataset read_file(const std::string &file, const data::ReadOptions &options, std::vector<std::string> &remarks) {
  if (file == data::standard_input) {
    throw InvalidInput("--data and --validation: found '-', expected files: a run may read them again");
  }
  Dataset dataset = data::read_dataset(file, options);
  for (const auto &remark : dataset.remarks) {
    remarks.push_back(remark.text);
  }
  if (dataset.labels.empty()) {
    throw InvalidInput(file + ": has no labels, expected one a row; in CSV, --label names their column");
  }
  return dataset;
}

void require_classes(const Dataset &dataset, Index most) {
  const auto &names = dataset.label_names;
  if (names.size() < 2) {
    throw InvalidInput(
        fmt::format("{}: found one class only, '{}', expected at least two; is --label the right column?",
                    dataset.source, names.front()));
  }
  constexpr std::size_t few = 20; // in so small a file each class may well have one row
  if (dataset.labels.size() > few && names.size() > dataset.labels.size() / 2) {
    throw InvalidInput(fmt::format("{}: found {} different labels in {} rows, expected several rows of each class; is "
                                   "--label the right column?",
                                   dataset.source, names.size(), dataset.labels.size()));
  }
  if (static_cast<Index>(names.size()) > most) {
    throw InvalidInput(fmt::format("{}: found {} classes, expected {}; for more use --problem softmax", dataset.source,
                                   names.size(), most));
  }
}

/// Rows of a part stay in the order of the file.
TwoSets drawn_parts(Dataset all, double validation_part, std::uint64_t seed) {
  const Index rows = all.features.rows();
  if (rows < 2) {
    throw InvalidInput(fmt::format("{}: found one row, expected at least two, one of which validates", all.source));
  }
  const double wanted = std::round(validation_part * static_cast<double>(rows));
  const Index validating = std::clamp<Index>(static_cast<Index>(wanted), 1, rows - 1);
  auto parts = data::split_rows(all, std::vector<Index>{rows - validating, validating}, seed);
  for (auto &part : parts) {
    std::sort(part.begin(), part.end());
  }
  return {data::take_rows(all, parts[0]), data::take_rows(all, parts[1])};
}

void require_rows_of_every_class(const Dataset &training, bool is_drawn) {
  std::vector<bool> is_there(training.label_names.size());
  for (const auto label : training.labels) {
    is_there[label] = true;
  }
  const auto missing = std::find(is_there.begin(), is_there.end(), false);
  if (is_drawn && missing != is_there.end()) {
    throw InvalidInput(
        fmt::format("{}: no row of class '{}' is among the {} that are trained on, expected some of each "
                    "class; take another --seed, a smaller --validation-part, or a --validation file",
                    training.source, training.label_names[static_cast<std::size_t>(missing - is_there.begin())],
                    training.labels.size()));
  }
}

/// The training rows decide: a file may be so small or full that it was read the other way.
void match_storage(const FeatureTable &training, FeatureTable &other) {
  if (training.is_sparse() && !other.is_sparse()) {
    if (other.storage() != Storage::float32) {
      return;
    }
    other.store_as_sparse();
  } else if (!training.is_sparse() && other.is_sparse()) {
    other.store_as_dense();
  }
}

struct Scaling {
  std::vector<float> scale;
  std::vector<float> shift;
};

/// (a − mean)/deviation as scale·a + shift; a column that never varies becomes zero. A sparse table has no shift.
Scaling scaling_of(const FeatureTable &table) {
  const auto columns = static_cast<std::size_t>(table.columns());
  const auto rows = static_cast<double>(table.rows());
  std::vector<double> mean(columns);
  std::vector<double> square(columns); // of the distance from the mean
  if (table.is_sparse()) {
    for (Index i = 0; i < table.rows(); ++i) {
      const SparseRow row = table.sparse_row(i);
      for (std::size_t k = 0; k < row.columns.size(); ++k) {
        const auto value = static_cast<double>(row.values[k]);
        square[row.columns[k]] += value * value / rows;
      }
    }
  } else {
    const auto each_value = [&](const auto &visit) {
      for (Index i = 0; i < table.rows(); ++i) {
        for (std::size_t j = 0; j < columns; ++j) {
          visit(j, static_cast<double>(table.stored(i, static_cast<Index>(j))));
        }
      }
    };
    each_value([&](std::size_t j, double value) { mean[j] += value / rows; });
    each_value([&](std::size_t j, double value) { square[j] += (value - mean[j]) * (value - mean[j]) / rows; });
  }
  Scaling scaling{std::vector<float>(columns), std::vector<float>(columns)};
  for (std::size_t j = 0; j < columns; ++j) {
    constexpr double rounding = 1e-6; // of float32
    const double deviation = std::sqrt(square[j]);
    if (deviation > rounding * std::abs(mean[j]) && std::isfinite(1.0 / deviation)) {
      scaling.scale[j] = static_cast<float>(1.0 / deviation);
      scaling.shift[j] = static_cast<float>(-mean[j] / deviation);
    }
  }
  return scaling;
}

void apply(const Scaling &scaling, FeatureTable &table) {
  if (table.storage() == Storage::float32 || table.is_sparse()) {
    table.apply_scaling(scaling.scale, scaling.shift);
  } else {
    table.set_scaling(scaling.scale, scaling.shift);
  }
}

LabelledSamples samples_of(Dataset &dataset) {
  return {std::make_shared<const FeatureTable>(std::move(dataset.features)),
          std::make_shared<const std::vector<std::uint32_t>>(std::move(dataset.labels))};
}

} // namespace

void FileData::require_use(std::string_view problem, const std::set<std::string, std::less<>> &given) const {
  const auto refuse = [&](std::string_view option, std::string_view reason) {
    if (given.contains(option)) {
      throw InvalidInput(fmt::format("{}: --{} {}", problem, option, reason));
    }
  };
  if (!is_given()) {
    fields(*this, [&](std::string_view name, const auto &, const Bound &, std::string_view) {
      if (name != "data") {
        refuse(name, "without --data: expected the file that it is about, as --data FILE");
      }
    });
  }
  if (validation.empty()) {
    refuse("validation-labels", "without --validation: expected the file of samples, as --validation FILE");
  } else {
    refuse("validation-part", "beside --validation: the rows of that file validate, expected one of the two");
  }
}

std::vector<std::string> FileData::files() const {
  std::vector<std::string> all;
  const auto add = [&](const std::string &file, const std::string &labels) {
    if (!file.empty()) {
      all.push_back(file);
      const auto beside = labels.empty() ? data::labels_beside(file).string() : labels;
      if (!beside.empty()) {
        all.push_back(beside);
      }
    }
  };
  add(data, data_labels);
  add(validation, validation_labels);
  return all;
}

LabelledParts FileData::read(std::uint64_t seed, Index most_classes, std::vector<std::string> &remarks) const {
  Dataset all = read_file(data,
                          {.label = label,
                           .drop = data::listed_columns("--drop", drop),
                           .keep = data::listed_columns("--keep", keep),
                           .labels_file = data_labels},
                          remarks);
  require_classes(all, most_classes);
  TwoSets sets;
  if (validation.empty()) {
    sets = drawn_parts(std::move(all), validation_part, seed);
  } else {
    const auto plan = all.plan ? all.plan : data::plan_of_numbers(all.features.columns(), all.feature_names);
    sets.validation = read_file(
        validation, {.label = label, .plan = plan, .labels_file = validation_labels, .columns = all.features.columns()},
        remarks);
    data::require_same_features(all, sets.validation);
    data::map_labels_onto(all, sets.validation);
    sets.training = std::move(all);
    match_storage(sets.training.features, sets.validation.features);
  }
  require_rows_of_every_class(sets.training, validation.empty());
  if (standardize) {
    const Scaling scaling = scaling_of(sets.training.features);
    apply(scaling, sets.training.features);
    apply(scaling, sets.validation.features);
  }
  return {.training = samples_of(sets.training),
          .validation = samples_of(sets.validation),
          .classes = static_cast<Index>(sets.training.label_names.size())};
}

} // namespace duplex::catalog
