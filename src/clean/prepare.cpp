#include "clean/prepare.hpp"

#include "clean/copies.hpp"
#include "clean/subsets.hpp"

#include <duplex/core/error.hpp>
#include <duplex/core/memory.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace duplex::clean {

namespace {

struct Moments {
  std::vector<double> mean;
  std::vector<double> variance;
  double largest = 0.0; ///< absolute value
};

struct Range {
  double low;
  double high;
};

/// Where the values of each column lie but for some that are far out: five times as far on either side as all but a
/// hundredth of some thousand values reach; everywhere, where these do not vary.
std::vector<Range> usual_ranges(const FeatureTable &table) {
  constexpr Index enough = 4000;
  constexpr double part = 0.005;
  constexpr double times = 5.0;
  const Index step = std::max<Index>(1, table.rows() / enough);
  std::vector<Range> out;
  std::vector<float> column;
  for (Index j = 0; j < table.columns(); ++j) {
    column.clear();
    for (Index i = 0; i < table.rows(); i += step) {
      column.push_back(table.stored(i, j));
    }
    const auto quantile = [&](double at) {
      const auto place = column.begin() + static_cast<std::ptrdiff_t>(at * static_cast<double>(column.size() - 1));
      std::nth_element(column.begin(), place, column.end());
      return static_cast<double>(*place);
    };
    const double low = quantile(part);
    const double high = quantile(1.0 - part);
    const double beyond = high > low ? times * (high - low) : std::numeric_limits<double>::infinity();
    out.push_back({low - beyond, high + beyond});
  }
  return out;
}

/// Of values within their usual range. Two passes: the second is exact where the mean is far from zero.
Moments moments_of(const FeatureTable &table, const std::vector<Range> &ranges) {
  const auto columns = static_cast<std::size_t>(table.columns());
  const auto rows = static_cast<double>(table.rows());
  Moments moments{std::vector<double>(columns), std::vector<double>(columns), 0.0};
  const auto value = [&](Index i, std::size_t j) {
    const auto stored = static_cast<double>(table.stored(i, static_cast<Index>(j)));
    return ranges.empty() ? stored : std::clamp(stored, ranges[j].low, ranges[j].high);
  };
  for (Index i = 0; i < table.rows(); ++i) {
    for (std::size_t j = 0; j < columns; ++j) {
      moments.mean[j] += value(i, j) / rows;
      moments.largest = std::max(moments.largest, std::abs(value(i, j)));
    }
  }
  for (Index i = 0; i < table.rows(); ++i) {
    for (std::size_t j = 0; j < columns; ++j) {
      const double off = value(i, j) - moments.mean[j];
      moments.variance[j] += off * off / rows;
    }
  }
  return moments;
}

void store(data::Dataset &dataset, KeptAs kept_as) {
  if (kept_as == KeptAs::automatic && dataset.image && dataset.features.storage() == Storage::float32) {
    (void)dataset.features.store_as_bytes_if_exact();
  }
}

void scale_and_store(data::Dataset &dataset, const Scaling &scaling, KeptAs kept_as) {
  apply(scaling, dataset.features);
  if (kept_as == KeptAs::float16 && dataset.features.storage() == Storage::float32) {
    try {
      dataset.features.store_as_half();
    } catch (const InvalidInput &error) {
      throw InvalidInput(dataset.source + ", scaled: " + error.what());
    }
  }
}

/// Rows as they are, in units of their rms length: centred columns would not be sparse, and a rare word does not count
/// for more because it is rare (TF-IDF has weighed it).
Scaling scaling_of_sparse(const FeatureTable &table) {
  double squares = 0.0;
  for (Index i = 0; i < table.rows(); ++i) {
    squares += table.squared_length(i);
  }
  const double length = std::sqrt(squares / static_cast<double>(table.rows()));
  const auto scale = static_cast<float>(length > 0.0 ? 1.0 / length : 0.0);
  const auto columns = static_cast<std::size_t>(table.columns());
  return {std::vector<float>(columns, scale), std::vector<float>(columns), std::vector<float>(columns),
          "sparse, in units of the rows' length"};
}

/// Training rows decide: a trusted file may be so small or full that it was read the other way.
void match_storage(const FeatureTable &training, FeatureTable &trusted) {
  if (trusted.rows() == 0) {
    return;
  }
  if (training.is_sparse() && !trusted.is_sparse()) {
    trusted.store_as_sparse();
  } else if (!training.is_sparse() && trusted.is_sparse()) {
    trusted.store_as_dense();
  }
}

} // namespace

Scaling choose_scaling(const data::Dataset &training) {
  if (training.features.is_sparse()) {
    return scaling_of_sparse(training.features);
  }
  const Moments moments =
      moments_of(training.features, training.image ? std::vector<Range>{} : usual_ranges(training.features));
  const std::size_t columns = moments.mean.size();
  Scaling scaling{std::vector<float>(columns), std::vector<float>(columns), std::vector<float>(columns), {}};
  scaling.kind = training.image ? "pixels between 0 and 1, centred" : "centred, unit standard deviation";
  constexpr double brightest_byte = 255.0;
  const double brightest = training.features.storage() == Storage::byte ? brightest_byte : moments.largest;
  for (std::size_t j = 0; j < columns; ++j) {
    const double deviation = std::sqrt(moments.variance[j]);
    const double rounding = 1e-6 * std::abs(moments.mean[j]);
    double scale = deviation > rounding ? 1.0 / deviation : 0.0;
    if (training.image) {
      scale = brightest > 0.0 ? 1.0 / brightest : 0.0;
    }
    constexpr double largest = 1e30; // beyond it, float32 could not hold scaled values
    if (!(scale <= largest && std::abs(scale * moments.mean[j]) <= largest)) {
      scale = 0.0;
    }
    scaling.scale[j] = static_cast<float>(scale);
    scaling.shift[j] = static_cast<float>(-scale * moments.mean[j]);
    scaling.constant[j] = static_cast<float>(moments.mean[j]);
  }
  return scaling;
}

void apply(const Scaling &scaling, FeatureTable &features) {
  if (features.storage() == Storage::float32 || features.is_sparse()) {
    features.apply_scaling(scaling.scale, scaling.shift);
  } else {
    features.set_scaling(scaling.scale, scaling.shift);
  }
}

std::vector<float> unscaled(std::span<const float> layer, Index outputs, const Scaling &scaling) {
  const auto columns = static_cast<Index>(scaling.scale.size());
  std::vector<float> out(layer.size());
  for (Index k = 0; k < outputs; ++k) {
    const float *own = layer.data() + k * (columns + 1);
    float *raw = out.data() + k * (columns + 1);
    auto bias = static_cast<double>(own[columns]);
    for (Index j = 0; j < columns; ++j) {
      const auto at = static_cast<std::size_t>(j);
      raw[j] = scaling.scale[at] * own[j];
      bias += static_cast<double>(scaling.shift[at]) * static_cast<double>(own[j]);
    }
    raw[columns] = static_cast<float>(bias);
  }
  return out;
}

Prepared prepare(data::Dataset &training, data::Dataset &trusted, KeptAs kept_as, std::uint64_t seed) {
  Prepared prepared;
  prepared.classes = static_cast<Index>(training.label_names.size());
  if (prepared.classes < 2) {
    throw InvalidInput(training.source + ": one class only, '" + training.label_names.front() +
                       "', expected at least two");
  }
  constexpr std::size_t few = 20; // in so small a file each class may well have one row
  if (training.labels.size() > few && training.label_names.size() > training.labels.size() / 2) {
    throw InvalidInput(training.source + ": " + std::to_string(training.label_names.size()) + " different labels in " +
                       std::to_string(training.labels.size()) +
                       " rows, expected several rows of each class; is --label the right column?");
  }
  // Probabilities of every class for every row, and their losses.
  require_memory(2.0 * sizeof(float) * static_cast<double>(training.labels.size()) *
                     static_cast<double>(prepared.classes),
                 training.source + ": " + std::to_string(training.labels.size()) + " rows of " +
                     std::to_string(prepared.classes) + " classes");
  match_storage(training.features, trusted.features);
  store(training, kept_as);
  const bool has_trusted = !trusted.labels.empty();
  if (has_trusted) {
    store(trusted, kept_as);
  }
  prepared.scaling = choose_scaling(training);
  scale_and_store(training, prepared.scaling, kept_as);
  if (has_trusted) {
    scale_and_store(trusted, prepared.scaling, kept_as);
  }
  prepared.order = with_copies_together(training.features, interleaved_order(training.labels, prepared.classes, seed));
  training.features.reorder(prepared.order);
  std::vector<std::uint32_t> labels;
  labels.reserve(prepared.order.size());
  for (const Index row : prepared.order) {
    labels.push_back(training.labels[static_cast<std::size_t>(row)]);
  }
  prepared.training = {std::make_shared<const FeatureTable>(std::move(training.features)),
                       std::make_shared<const std::vector<std::uint32_t>>(std::move(labels))};
  prepared.trusted = {std::make_shared<const FeatureTable>(std::move(trusted.features)),
                      std::make_shared<const std::vector<std::uint32_t>>(trusted.labels)};
  prepared.pixels = training.image.has_value();
  prepared.sources.count = static_cast<Index>(training.source_names.size());
  // A matrix of classes for each source, in each account of how labels came about (label_account.cpp).
  constexpr double accounts = 32.0;
  require_memory(accounts * sizeof(double) * static_cast<double>(prepared.sources.count * prepared.classes) *
                     static_cast<double>(prepared.classes),
                 training.source + ": " + std::to_string(prepared.sources.count) + " sources of labels of " +
                     std::to_string(prepared.classes) + " classes");
  for (const Index row : prepared.order) {
    if (!training.sources.empty()) {
      prepared.sources.of_row.push_back(training.sources[static_cast<std::size_t>(row)]);
    }
  }
  return prepared;
}

} // namespace duplex::clean
