#include "data/boundaries.hpp"

#include <duplex/core/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace duplex::data {
namespace {

constexpr std::size_t neighbours = 5;

/// Squared distances from one row to all rows, in double and in one order of summation: the same on every machine.
class Distances {
public:
  explicit Distances(const FeatureTable &table) : table_(&table), lengths_(count(table.rows())) {
    if (table.is_sparse()) {
      filled_.resize(count(table.columns()));
      for (Index i = 0; i < table.rows(); ++i) {
        lengths_[count(i)] = table.squared_length(i);
      }
      return;
    }
    standardize();
  }

  void from(Index row, std::vector<double> &out) {
    out.resize(count(table_->rows()));
    if (table_->is_sparse()) {
      sparse_from(row, out);
      return;
    }
    const std::size_t columns = count(table_->columns());
    const double *own = values_.data() + count(row) * columns;
    for (std::size_t i = 0; i < out.size(); ++i) {
      const double *other = values_.data() + i * columns;
      double sum = 0.0;
      for (std::size_t j = 0; j < columns; ++j) {
        const double difference = own[j] - other[j];
        sum += difference * difference;
      }
      out[i] = sum;
    }
  }

private:
  static std::size_t count(Index number) { return static_cast<std::size_t>(number); }

  void standardize() {
    const auto rows = static_cast<double>(table_->rows());
    values_.resize(count(table_->rows() * table_->columns()));
    for (Index j = 0; j < table_->columns(); ++j) {
      double mean = 0.0;
      double variance = 0.0;
      for (Index i = 0; i < table_->rows(); ++i) {
        mean += static_cast<double>(table_->value(i, j)) / rows;
      }
      for (Index i = 0; i < table_->rows(); ++i) {
        const double off = static_cast<double>(table_->value(i, j)) - mean;
        variance += off * off / rows;
      }
      const double scale = variance > 0.0 ? 1.0 / std::sqrt(variance) : 0.0;
      for (Index i = 0; i < table_->rows(); ++i) {
        values_[count(i * table_->columns() + j)] = scale * (static_cast<double>(table_->value(i, j)) - mean);
      }
    }
  }

  /// ‖a‖² + ‖b‖² − 2⟨a, b⟩
  void sparse_from(Index row, std::vector<double> &out) {
    const SparseRow own = table_->sparse_row(row);
    for (std::size_t entry = 0; entry < own.values.size(); ++entry) {
      filled_[own.columns[entry]] = static_cast<double>(own.values[entry]);
    }
    for (std::size_t i = 0; i < out.size(); ++i) {
      const SparseRow other = table_->sparse_row(static_cast<Index>(i));
      double product = 0.0;
      for (std::size_t entry = 0; entry < other.values.size(); ++entry) {
        product += static_cast<double>(other.values[entry]) * filled_[other.columns[entry]];
      }
      out[i] = std::max(0.0, lengths_[count(row)] + lengths_[i] - 2.0 * product);
    }
    for (const std::uint32_t column : own.columns) {
      filled_[column] = 0.0;
    }
  }

  const FeatureTable *table_;
  std::vector<double> lengths_; ///< squared, of a sparse table's rows
  std::vector<double> values_;  ///< standardized, of a dense table
  std::vector<double> filled_;  ///< a sparse row with its zeros
};

/// Mean distance to the nearest rows of the class, of squared distances.
double mean_distance(std::vector<double> &squared) {
  if (squared.empty()) {
    return std::numeric_limits<double>::infinity();
  }
  const std::size_t nearest = std::min(neighbours, squared.size());
  std::partial_sort(squared.begin(), squared.begin() + static_cast<std::ptrdiff_t>(nearest), squared.end());
  double sum = 0.0;
  for (std::size_t i = 0; i < nearest; ++i) {
    sum += std::sqrt(squared[i]);
  }
  return sum / static_cast<double>(nearest);
}

} // namespace

NearestOther nearest_other_classes(const FeatureTable &features, std::span<const std::uint32_t> labels,
                                   std::size_t classes) {
  if (static_cast<Index>(labels.size()) != features.rows()) {
    throw InvalidInput(
        fmt::format("noise: found {} labels of {} rows, expected one for each", labels.size(), features.rows()));
  }
  (void)add_noise(labels, classes, {.fraction = 0.0}); // refuses labels that are out of range
  Distances distances(features);
  NearestOther out;
  std::vector<double> all;
  std::vector<std::vector<double>> of_class(classes);
  constexpr double infinite = std::numeric_limits<double>::infinity();
  for (std::size_t row = 0; row < labels.size(); ++row) {
    distances.from(static_cast<Index>(row), all);
    for (auto &own : of_class) {
      own.clear();
    }
    for (std::size_t i = 0; i < labels.size(); ++i) {
      if (i != row) {
        of_class[labels[i]].push_back(all[i]);
      }
    }
    double own = infinite;
    double other = infinite;
    std::uint32_t best = labels[row];
    for (std::uint32_t k = 0; k < classes; ++k) {
      const double distance = mean_distance(of_class[k]);
      if (k == labels[row]) {
        own = distance;
      } else if (distance < other) {
        other = distance;
        best = k;
      }
    }
    out.label.push_back(best);
    out.ratio.push_back(other < infinite && own < infinite && own > 0.0 ? other / own : infinite);
  }
  return out;
}

NoisyLabels add_noise_near_boundaries(std::span<const std::uint32_t> labels, const NearestOther &nearest,
                                      double fraction) {
  if (!(fraction >= 0.0 && fraction <= 1.0)) {
    throw InvalidInput(fmt::format("noise: fraction = {}, expected >= 0 and <= 1", fraction));
  }
  if (nearest.label.size() != labels.size() || nearest.ratio.size() != labels.size()) {
    throw InvalidInput(fmt::format("noise: {} rows whose nearest classes are known, expected {}", nearest.label.size(),
                                   labels.size()));
  }
  std::vector<std::size_t> order(labels.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return nearest.ratio[a] < nearest.ratio[b]; });
  const auto count = static_cast<std::size_t>(std::llround(fraction * static_cast<double>(labels.size())));
  NoisyLabels noisy{{labels.begin(), labels.end()}, std::vector<bool>(labels.size(), false)};
  for (std::size_t place = 0; place < count; ++place) {
    noisy.chosen[order[place]] = true;
    noisy.labels[order[place]] = nearest.label[order[place]];
  }
  return noisy;
}

} // namespace duplex::data
