#include "clean/subsets.hpp"

#include "data/random.hpp"

#include <algorithm>
#include <random>
#include <utility>

namespace duplex::clean {

namespace {

std::vector<std::uint32_t> rows_of(const std::vector<std::uint32_t> &labels, Index first, Index count) {
  return {labels.begin() + first, labels.begin() + first + count};
}

} // namespace

LabelledSamples slice(const LabelledSamples &samples, Index first, Index count) {
  return {std::make_shared<const FeatureTable>(samples.features->slice(first, count)),
          std::make_shared<const std::vector<std::uint32_t>>(rows_of(*samples.labels, first, count))};
}

LabelledSamples gather(const LabelledSamples &samples, const std::vector<Index> &rows) {
  std::vector<std::uint32_t> labels;
  for (const Index row : rows) {
    labels.push_back((*samples.labels)[static_cast<std::size_t>(row)]);
  }
  return {std::make_shared<const FeatureTable>(samples.features->gather(rows)),
          std::make_shared<const std::vector<std::uint32_t>>(std::move(labels))};
}

double mean_squared_length(const FeatureTable &table) {
  constexpr Index enough = 2000;
  const Index step = std::max<Index>(1, table.rows() / enough);
  double sum = 0.0;
  Index count = 0;
  for (Index i = 0; i < table.rows(); i += step, ++count) {
    sum += table.squared_length(i);
  }
  return sum / static_cast<double>(count);
}

std::vector<Index> interleaved_order(std::span<const std::uint32_t> labels, Index classes, std::uint64_t seed) {
  std::mt19937_64 generator(seed);
  std::vector<std::vector<Index>> rows(static_cast<std::size_t>(classes));
  for (std::size_t i = 0; i < labels.size(); ++i) {
    rows[labels[i]].push_back(static_cast<Index>(i));
  }
  std::vector<std::pair<double, Index>> places;
  for (const auto &of_class : rows) {
    constexpr std::uint64_t fine = 1U << 30U;
    const double offset = static_cast<double>(data::uniform_below(generator, fine)) / static_cast<double>(fine);
    const auto shuffled = data::draw_without_repetition(generator, of_class.size(), of_class.size());
    for (std::size_t i = 0; i < of_class.size(); ++i) {
      places.emplace_back((static_cast<double>(i) + offset) / static_cast<double>(of_class.size()),
                          of_class[shuffled[i]]);
    }
  }
  std::sort(places.begin(), places.end());
  std::vector<Index> order;
  for (const auto &[place, row] : places) {
    order.push_back(row);
  }
  return order;
}

} // namespace duplex::clean
