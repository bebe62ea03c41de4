#include "data/split.hpp"

#include "data/random.hpp"

#include <duplex/core/error.hpp>

#include <fmt/format.h>

namespace duplex::data {

Dataset take_rows(const Dataset &dataset, std::span<const Index> rows) {
  for (const Index row : rows) {
    if (row < 0 || row >= dataset.features.rows()) {
      throw InvalidInput(
          fmt::format("{}: row {} was asked for, expected 0 to {}", dataset.source, row, dataset.features.rows() - 1));
    }
  }
  Dataset part;
  part.source = dataset.source;
  part.label_names = dataset.label_names;
  part.feature_names = dataset.feature_names;
  part.image = dataset.image;
  part.source_names = dataset.source_names;
  part.features = dataset.features.gather(rows);
  for (const Index row : rows) {
    const auto i = static_cast<std::size_t>(row);
    if (!dataset.labels.empty()) {
      part.labels.push_back(dataset.labels[i]);
    }
    if (!dataset.ids.empty()) {
      part.ids.push_back(dataset.ids[i]);
    }
    if (!dataset.sources.empty()) {
      part.sources.push_back(dataset.sources[i]);
    }
  }
  return part;
}

std::vector<std::vector<Index>> split_rows(const Dataset &dataset, std::span<const Index> sizes, std::uint64_t seed) {
  Index total = 0;
  for (const Index size : sizes) {
    if (size < 1 || size > dataset.features.rows() - total) {
      throw InvalidInput(fmt::format("{}: a part of {} rows after {} was asked for, expected 1 to {}", dataset.source,
                                     size, total, dataset.features.rows() - total));
    }
    total += size;
  }
  std::mt19937_64 generator(seed);
  const auto order = draw_without_repetition(generator, static_cast<std::size_t>(dataset.features.rows()),
                                             static_cast<std::size_t>(total));
  std::vector<std::vector<Index>> parts;
  auto next = order.begin();
  for (const Index size : sizes) {
    parts.emplace_back(next, next + size);
    next += size;
  }
  return parts;
}

std::vector<Dataset> split(const Dataset &dataset, std::span<const Index> sizes, std::uint64_t seed) {
  std::vector<Dataset> parts;
  for (const auto &rows : split_rows(dataset, sizes, seed)) {
    parts.push_back(take_rows(dataset, rows));
  }
  return parts;
}

} // namespace duplex::data
