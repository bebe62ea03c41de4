#pragma once
// Labelled samples from a file: CSV, NumPy arrays, LIBSVM text or IDX, plain or gzipped.
// What cannot be read exactly is refused with InvalidInput that names the file, the
// place, what was found and what was expected; docs/data.md has the rules.

#include <duplex/core/error.hpp>
#include <duplex/kernels/feature_table.hpp>

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace duplex::data {

struct ImageShape {
  Index width = 0;
  Index height = 0;
  Index channels = 0; ///< 1 or 3

  bool operator==(const ImageShape &) const = default;
};

struct Dataset {
  std::string source; ///< the file, for messages
  FeatureTable features{Storage::float32, 1};
  std::vector<std::uint32_t> labels;      ///< numbers into label_names; empty if the data have no labels
  std::vector<std::string> label_names;   ///< whole numbers in their order if all are, else in the order of their bytes
  std::vector<std::string> ids;           ///< empty if there are none
  std::vector<std::string> feature_names; ///< empty if there are none
  std::optional<ImageShape> image;
};

struct ReadOptions {
  std::string label = {};         ///< CSV: name or 1-based number of the column; empty: label, class, target or y
  std::string id = {};            ///< CSV: name or 1-based number of a column that is kept as text
  std::string labels_file = {};   ///< .npy and IDX: where the labels are; IDX finds the usual sibling itself
  bool expect_id = true;          ///< false: a file without that column is fine
  bool expect_labels = true;      ///< false: data without labels are fine
  Index columns = 0;              ///< LIBSVM: number of features; 0: the largest index
  std::uint64_t memory_limit = 0; ///< bytes that the table may take; 0: the machine's memory
  /// Called now and then, with bytes of the file as it lies on disk; total is 0 where it is not known.
  std::function<void(std::uint64_t done_bytes, std::uint64_t total_bytes)> progress = {};
  /// Called with every file that is read, when it is opened.
  std::function<void(const std::filesystem::path &file)> opened = {};
  const std::atomic<bool> *interrupt = nullptr; ///< reading ends with Interrupted soon after it becomes true
};

/// The format follows from the file's first bytes and its extension. Throws InvalidInput or Interrupted.
[[nodiscard]] Dataset read_dataset(const std::filesystem::path &file, const ReadOptions &options = {});

/// Throws InvalidInput unless both have the same columns in the same order.
void require_same_features(const Dataset &reference, const Dataset &other);

/// Renumbers the labels of `other` by name onto the classes of `reference`. Throws InvalidInput, naming file,
/// row and label, where a label is not among them.
void map_labels_onto(const Dataset &reference, Dataset &other);

} // namespace duplex::data
