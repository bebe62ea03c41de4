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
#include <memory>
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

struct TablePlan; // table_plan.hpp

/// What a user should know of how a file was read: a code for programs, a sentence for people.
struct Remark {
  std::string code;
  std::string text;
};

struct Dataset {
  std::string source; ///< the file, for messages
  FeatureTable features{Storage::float32, 1};
  std::vector<std::uint32_t> labels;      ///< numbers into label_names; empty if the data have no labels
  std::vector<std::string> label_names;   ///< whole numbers in their order if all are, else in the order of their bytes
  std::vector<std::string> ids;           ///< empty if there are none
  std::vector<std::string> feature_names; ///< empty if there are none
  std::optional<ImageShape> image;
  std::vector<std::uint32_t> sources = {};    ///< who or what labelled each row: numbers into source_names; or empty
  std::vector<std::string> source_names = {}; ///< in the order of label_names' rule
  std::vector<bool> marked = {};              ///< CSV: the rows that the file itself marks as trusted; or empty
  std::vector<Index> file_rows = {};          ///< which row of the file each one is, from 0; empty: all, in their order
  std::shared_ptr<const TablePlan> plan = {}; ///< CSV: how its columns became features
  std::optional<std::size_t> label_column = {}; ///< CSV: its place in the file, from 0
  std::vector<Remark> remarks = {};

  /// Of the file, from 1.
  [[nodiscard]] Index row_number(std::size_t row) const {
    return (file_rows.empty() ? static_cast<Index>(row) : file_rows[row]) + 1;
  }
};

struct ReadOptions {
  std::string label = {};             ///< CSV: name or 1-based number of the column; empty: label, class, target or y
  std::string id = {};                ///< CSV: name or 1-based number of a column that is kept as text
  std::string source = {};            ///< CSV: name or number of the column that says who or what labelled a row
  std::string trusted_column = {};    ///< CSV: name or number of the column that marks rows whose labels are right
  std::vector<std::string> drop = {}; ///< CSV: columns that are no features
  std::vector<std::string> keep = {}; ///< CSV: the only columns that are features, whatever they look like; empty: all
  /// CSV: the columns of the data that a model was made from; null: they are chosen from the file.
  std::shared_ptr<const TablePlan> plan = {};
  std::string labels_file = {};   ///< .npy and IDX: where the labels are; IDX finds the usual sibling itself
  bool may_have_labels = true;    ///< CSV: false: no column is one of labels, whatever its name
  bool expect_id = true;          ///< false: a file without that column is fine
  bool expect_labels = true;      ///< false: data without labels are fine
  bool expect_source = true;      ///< false: a file without that column is fine
  Index columns = 0;              ///< LIBSVM: number of features; 0: the largest index
  std::uint64_t memory_limit = 0; ///< bytes that the table may take; 0: the machine's memory
  /// Called now and then, with bytes of the file as it lies on disk; total is 0 where it is not known.
  std::function<void(std::uint64_t done_bytes, std::uint64_t total_bytes)> progress = {};
  std::string *copy = nullptr; ///< is given all bytes of the table's file, unpacked, that are read
  /// Called with every file that is read, when it is opened; of standard input that is /dev/stdin.
  std::function<void(const std::filesystem::path &file)> opened = {};
  const std::atomic<bool> *interrupt = nullptr; ///< reading ends with Interrupted soon after it becomes true
};

inline constexpr const char *standard_input = "-";

/// Where the labels of an IDX file of images usually are, by its name; empty where no such file is there.
[[nodiscard]] std::filesystem::path labels_beside(const std::filesystem::path &file);

/// The format follows from the file's first bytes and its extension; "-" is standard input. Throws InvalidInput or
/// Interrupted.
[[nodiscard]] Dataset read_dataset(const std::filesystem::path &file, const ReadOptions &options = {});

/// Throws InvalidInput unless both have the same columns in the same order.
void require_same_features(const Dataset &reference, const Dataset &other);

/// Renumbers the labels of `other` by name onto the classes of `reference`. Throws InvalidInput, naming file,
/// row and label, where a label is not among them.
void map_labels_onto(const Dataset &reference, Dataset &other);

/// Takes the rows that the data mark as trusted out of them: those, with the labels' numbers as they are. Throws
/// InvalidInput where none or all are marked.
[[nodiscard]] Dataset take_marked_rows(Dataset &dataset);

} // namespace duplex::data
