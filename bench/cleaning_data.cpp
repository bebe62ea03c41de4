#include "cleaning_data.hpp"

#include "data/dataset.hpp"

#include <duplex/core/error.hpp>

#include <cstdlib>
#include <filesystem>
#include <map>
#include <memory>
#include <utility>
#include <vector>

namespace duplex::bench {

namespace {

constexpr float pixel_scale = 1.0F / 255.0F;

void scale_pixels(FeatureTable &table) {
  const auto columns = static_cast<std::size_t>(table.columns());
  table.set_scaling(std::vector<float>(columns, pixel_scale), std::vector<float>(columns, 0.0F));
}

/// Half floats hold pixels exactly, so that only float32 is divided by 255 beforehand.
FeatureTable stored_as(const FeatureTable &pixels, Storage storage) {
  FeatureTable table(storage == Storage::byte ? Storage::byte : Storage::float32, pixels.columns());
  table.reserve(pixels.rows());
  const auto columns = static_cast<std::size_t>(pixels.columns());
  std::vector<float> row(columns);
  std::vector<std::uint8_t> bytes(columns);
  for (Index i = 0; i < pixels.rows(); ++i) {
    for (std::size_t j = 0; j < columns; ++j) {
      row[j] = pixels.stored(i, static_cast<Index>(j));
      bytes[j] = static_cast<std::uint8_t>(row[j]);
      row[j] = storage == Storage::float32 ? row[j] * pixel_scale : row[j];
    }
    if (storage == Storage::byte) {
      table.append(std::span<const std::uint8_t>(bytes));
    } else {
      table.append(std::span<const float>(row));
    }
  }
  if (storage == Storage::float16) {
    table.store_as_half();
  }
  if (storage != Storage::float32) {
    scale_pixels(table);
  }
  return table;
}

LabelledSamples share(FeatureTable table, std::vector<std::uint32_t> labels) {
  return {std::make_shared<const FeatureTable>(std::move(table)),
          std::make_shared<const std::vector<std::uint32_t>>(std::move(labels))};
}

std::filesystem::path data_folder() {
  const char *folder = std::getenv("DUPLEX_BENCH_DATA"); // NOLINT(concurrency-mt-unsafe)
  if (folder == nullptr) {
    throw InvalidInput("DUPLEX_BENCH_DATA does not name a folder of FashionMNIST's samples");
  }
  return folder;
}

LabelledSamples read_part(const std::string &part, Storage storage) {
  const std::filesystem::path folder = data_folder();
  const data::Dataset read =
      data::read_dataset(folder / (part + ".npy"), {.labels_file = (folder / (part + "_labels.npy")).string()});
  return share(stored_as(read.features, storage), read.labels);
}

LabelledSamples fashion_mnist_part(const std::string &part, Storage storage) {
  static std::map<std::pair<std::string, Storage>, LabelledSamples> kept;
  const auto key = std::pair(part, storage);
  const auto found = kept.find(key);
  return found != kept.end() ? found->second : kept.emplace(key, read_part(part, storage)).first->second;
}

LabelledSamples synthetic_part(Index rows, const SyntheticSize &size, Storage storage) {
  FeatureTable table(storage == Storage::byte ? Storage::byte : Storage::float32, size.features);
  table.reserve(rows);
  const auto count = static_cast<std::size_t>(rows * size.features);
  std::byte *stored = table.append_rows(rows);
  std::uint32_t random = 1;
  for (std::size_t i = 0; i < count; ++i) {
    random = 1664525 * random + 1013904223;
    const auto pixel = static_cast<std::uint8_t>(random >> 24U);
    if (storage == Storage::byte) {
      stored[i] = static_cast<std::byte>(pixel);
    } else {
      reinterpret_cast<float *>(stored)[i] = static_cast<float>(pixel) * pixel_scale;
    }
  }
  if (storage == Storage::byte) {
    scale_pixels(table);
  }
  std::vector<std::uint32_t> labels(static_cast<std::size_t>(rows));
  for (std::size_t i = 0; i < labels.size(); ++i) {
    labels[i] = static_cast<std::uint32_t>(i % static_cast<std::size_t>(size.classes));
  }
  return share(std::move(table), std::move(labels));
}

} // namespace

HyperCleaning<float> fashion_mnist(Storage storage, int threads) {
  constexpr Index classes = 10;
  return {fashion_mnist_part("training", storage), fashion_mnist_part("trusted", storage), classes, 0.0, threads};
}

HyperCleaning<float> synthetic_cleaning(const SyntheticSize &size, Storage storage, int threads) {
  return {synthetic_part(size.training, size, storage), synthetic_part(size.trusted, size, storage), size.classes, 0.0,
          threads};
}

double stored_bytes(const HyperCleaning<float> &problem) {
  return static_cast<double>(problem.training().features->bytes() + problem.trusted().features->bytes());
}

} // namespace duplex::bench
