#pragma once
// Datasets from text and bytes that the test spells out.

#include "data/readers.hpp"
#include "data/source.hpp"
#include "support.hpp"

#include <zlib.h>

#include <cstring>
#include <string>
#include <string_view>
#include <vector>

namespace duplex::testing {

using data::Dataset;
using data::ReadOptions;

inline Dataset csv(std::string_view text, const ReadOptions &options = {}) {
  data::MemorySource source("data.csv", text);
  return data::read_csv(source, options);
}

inline std::string csv_refusal(std::string_view text, const ReadOptions &options = {}) {
  return refusal([&] { (void)csv(text, options); });
}

inline ReadOptions label_column(const std::string &column) {
  ReadOptions options;
  options.label = column;
  return options;
}

inline ReadOptions without_labels() {
  ReadOptions options;
  options.expect_labels = false;
  return options;
}

inline std::vector<float> row_of(const Dataset &dataset, Index row) {
  std::vector<float> values;
  for (Index j = 0; j < dataset.features.columns(); ++j) {
    values.push_back(dataset.features.value(row, j));
  }
  return values;
}

/// The label's name of every row.
inline std::vector<std::string> names_by_row(const Dataset &dataset) {
  std::vector<std::string> names;
  for (const auto label : dataset.labels) {
    names.push_back(dataset.label_names.at(label));
  }
  return names;
}

template <class T> std::string bytes_of_values(std::initializer_list<T> values) {
  std::string bytes(values.size() * sizeof(T), '\0');
  std::memcpy(bytes.data(), values.begin(), bytes.size());
  return bytes;
}

/// As `gzip` would write it.
inline std::string gzipped(std::string_view bytes) {
  std::string packed(compressBound(static_cast<uLong>(bytes.size())) + 32, '\0');
  z_stream stream{};
  (void)deflateInit2(&stream, Z_BEST_SPEED, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
  stream.next_in = reinterpret_cast<Bytef *>(const_cast<char *>(bytes.data())); // NOLINT: zlib only reads it
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef *>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  (void)deflate(&stream, Z_FINISH);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  return packed;
}

} // namespace duplex::testing
