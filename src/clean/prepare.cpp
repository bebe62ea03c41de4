#include "clean/prepare.hpp"

#include <algorithm>
#include <cmath>

namespace duplex::clean {

namespace {

struct Moments {
  std::vector<double> mean;
  std::vector<double> variance;
  double largest = 0.0; ///< absolute value
};

/// Two passes: the second is exact where the mean is far from zero.
Moments moments_of(const FeatureTable &table) {
  const auto columns = static_cast<std::size_t>(table.columns());
  const auto rows = static_cast<double>(table.rows());
  Moments moments{std::vector<double>(columns), std::vector<double>(columns), 0.0};
  for (Index i = 0; i < table.rows(); ++i) {
    for (std::size_t j = 0; j < columns; ++j) {
      const auto value = static_cast<double>(table.stored(i, static_cast<Index>(j)));
      moments.mean[j] += value / rows;
      moments.largest = std::max(moments.largest, std::abs(value));
    }
  }
  for (Index i = 0; i < table.rows(); ++i) {
    for (std::size_t j = 0; j < columns; ++j) {
      const double off = static_cast<double>(table.stored(i, static_cast<Index>(j))) - moments.mean[j];
      moments.variance[j] += off * off / rows;
    }
  }
  return moments;
}

template <class T> void permute(std::vector<T> &values, std::span<const Index> order) {
  if (values.empty()) {
    return;
  }
  std::vector<T> moved;
  moved.reserve(values.size());
  for (const Index from : order) {
    moved.push_back(std::move(values[static_cast<std::size_t>(from)]));
  }
  values = std::move(moved);
}

} // namespace

Scaling choose_scaling(const data::Dataset &training) {
  const Moments moments = moments_of(training.features);
  const std::size_t columns = moments.mean.size();
  Scaling scaling{std::vector<float>(columns), std::vector<float>(columns), {}};
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
    scaling.scale[j] = static_cast<float>(scale);
    scaling.shift[j] = static_cast<float>(-scale * moments.mean[j]);
  }
  return scaling;
}

void apply(const Scaling &scaling, FeatureTable &features) {
  if (features.storage() == Storage::float32) {
    features.apply_scaling(scaling.scale, scaling.shift);
  } else {
    features.set_scaling(scaling.scale, scaling.shift);
  }
}

std::vector<float> unscaled(const Eigen::VectorXf &model, Index classes, const Scaling &scaling) {
  const Index columns = model.size() / classes - 1;
  std::vector<float> out(static_cast<std::size_t>(model.size()));
  for (Index k = 0; k < classes; ++k) {
    const float *own = model.data() + k * (columns + 1);
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

void reorder(data::Dataset &dataset, std::span<const Index> order) {
  dataset.features.reorder(order);
  permute(dataset.labels, order);
  permute(dataset.ids, order);
}

LabelledSamples take_samples(data::Dataset &dataset) {
  return {std::make_shared<const FeatureTable>(std::move(dataset.features)),
          std::make_shared<const std::vector<std::uint32_t>>(dataset.labels)};
}

} // namespace duplex::clean
