#include "data/dataset.hpp"

#include "data/readers.hpp"
#include "data/source.hpp"
#include "data/table_plan.hpp"
#include "data/text.hpp"

#include <duplex/core/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <new>
#include <unordered_map>
#include <utility>

namespace duplex::data {
namespace {

namespace fs = std::filesystem;

/// The text with its last `from` replaced; empty if there is none.
std::string replaced(std::string text, std::string_view from, std::string_view to) {
  const std::size_t at = text.rfind(from);
  return at == std::string::npos ? std::string{} : text.replace(at, from.size(), to);
}

void refuse_options_of_other_formats(const std::string &file, Format format, const ReadOptions &options) {
  const auto refuse = [&](std::string_view option, std::string_view value, std::string_view reason) {
    if (!value.empty()) {
      throw InvalidInput(fmt::format("{}: {} = '{}', expected none: {}", file, option, shown(value), reason));
    }
  };
  if (format != Format::csv) {
    constexpr std::string_view reason = "only CSV files have columns to choose from";
    refuse("label", options.expect_labels ? options.label : "", reason);
    refuse("id", options.expect_id ? options.id : "", reason);
    refuse("source", options.expect_source ? options.source : "", reason);
    refuse("trusted column", options.trusted_column, reason);
    refuse("drop", options.drop.empty() ? "" : options.drop.front(), reason);
    refuse("keep", options.keep.empty() ? "" : options.keep.front(), reason);
    if (options.plan && !options.plan->is_plain()) {
      throw InvalidInput(fmt::format("{}: found an array of numbers, expected CSV: the training data's columns are not "
                                     "all numbers as they stand",
                                     file));
    }
  }
  if (format == Format::csv || format == Format::libsvm) {
    refuse("labels file", options.labels_file, "the file has its labels in itself");
  }
}

Dataset read_with_labels_apart(const fs::path &file, ByteSource &features, Format format, const ReadOptions &options) {
  fs::path labels_file = options.labels_file;
  if (labels_file.empty() && format == Format::idx) {
    labels_file = labels_beside(file);
  }
  if (labels_file.empty()) {
    if (options.expect_labels) {
      throw InvalidInput(fmt::format("{}: holds no labels; say which file holds them", file.string()));
    }
    return read_arrays(features, nullptr, options);
  }
  const auto labels = unpacked(open_file(labels_file, options));
  return read_arrays(features, labels.get(), options);
}

Dataset read(const fs::path &file, const ReadOptions &options) {
  auto source = unpacked(open_file(file, options));
  if (options.copy != nullptr) {
    source = std::make_unique<CopiedSource>(std::move(source), *options.copy);
  }
  const std::string_view first_bytes = source->peek(bytes_that_tell_the_format);
  if (first_bytes.empty()) {
    throw InvalidInput(fmt::format("{}: is empty, expected rows of data", source->name()));
  }
  const Format format = format_of(file, first_bytes);
  refuse_options_of_other_formats(source->name(), format, options);
  switch (format) {
  case Format::csv:
    return read_csv(*source, options);
  case Format::libsvm:
    return read_libsvm(*source, options);
  case Format::npy:
  case Format::idx:
    break;
  }
  return read_with_labels_apart(file, *source, format, options);
}

std::vector<std::string> sorted(std::vector<std::string> names) {
  std::sort(names.begin(), names.end());
  return names;
}

/// Of each row, whether it is the other part's; keeps those of this part in `values`, and gives the others.
template <class Values> Values taken_from(Values &values, const std::vector<bool> &is_taken) {
  Values taken;
  Values kept;
  for (std::size_t i = 0; i < values.size(); ++i) {
    (is_taken[i] ? taken : kept).push_back(std::move(values[i]));
  }
  values = std::move(kept);
  return taken;
}

std::string first_few(const std::vector<std::string> &names) {
  constexpr std::size_t most = 10;
  std::string text;
  for (std::size_t i = 0; i < std::min(most, names.size()); ++i) {
    text += (i > 0 ? ", " : "") + shown(names[i]);
  }
  return names.size() > most ? fmt::format("{}, ... {} in all", text, names.size()) : text;
}

} // namespace

/// train-images-idx3-ubyte.gz has its labels in train-labels-idx1-ubyte.gz, or in the same without .gz.
fs::path labels_beside(const fs::path &file) {
  std::string name = replaced(replaced(file.filename().string(), "images", "labels"), "idx3", "idx1");
  if (name.empty()) {
    return {};
  }
  const std::string other = name.ends_with(".gz") ? name.substr(0, name.size() - 3) : name + ".gz";
  for (const auto &candidate : {name, other}) {
    if (fs::path path = file.parent_path() / candidate; fs::exists(path)) {
      return path;
    }
  }
  return {};
}

Format format_of(const fs::path &file, std::string_view first_bytes) {
  if (first_bytes.starts_with("\x93NUMPY")) {
    return Format::npy;
  }
  if (first_bytes.starts_with(std::string_view("\0\0", 2))) {
    return Format::idx;
  }
  if (first_bytes.starts_with("PK\x03\x04")) {
    throw InvalidInput(fmt::format("{}: is an archive (.zip, .npz), expected one of the files in it", file.string()));
  }
  fs::path name = lower_case(file.filename().string());
  if (name.extension() == ".gz") {
    name = name.stem();
  }
  const std::string extension = name.extension().string();
  if (file == standard_input || extension == ".csv" || extension == ".tsv" || extension == ".txt") {
    return Format::csv;
  }
  if (extension == ".libsvm" || extension == ".svm" || extension == ".svmlight") {
    return Format::libsvm;
  }
  if (extension == ".npy") {
    return Format::npy;
  }
  if (extension == ".idx" || name.string().ends_with("-ubyte")) {
    return Format::idx;
  }
  throw InvalidInput(
      fmt::format("{}: the extension '{}' is not known, expected .csv, .tsv, .txt, .npy, .libsvm, .svm or "
                  "an IDX file, plain or with .gz",
                  file.string(), shown(extension)));
}

Dataset read_dataset(const fs::path &file, const ReadOptions &options) {
  try {
    return read(file, options);
  } catch (const std::bad_alloc &) {
    throw InvalidInput(fmt::format("{}: does not fit into the memory that is free", file.string()));
  }
}

void require_same_features(const Dataset &reference, const Dataset &other) {
  if (reference.features.columns() != other.features.columns()) {
    throw InvalidInput(fmt::format("{}: found {} features, expected {} as in {}", other.source,
                                   other.features.columns(), reference.features.columns(), reference.source));
  }
  if (reference.image && other.image && *reference.image != *other.image) {
    const auto text = [](const ImageShape &image) {
      return fmt::format("{}×{}×{}", image.width, image.height, image.channels);
    };
    throw InvalidInput(fmt::format("{}: found images of {}, expected {} as in {}", other.source, text(*other.image),
                                   text(*reference.image), reference.source));
  }
  if (reference.feature_names.empty() || other.feature_names.empty()) {
    return;
  }
  const auto [expected, found] = std::mismatch(reference.feature_names.begin(), reference.feature_names.end(),
                                               other.feature_names.begin(), other.feature_names.end());
  if (expected == reference.feature_names.end()) {
    return;
  }
  const bool same_set = sorted(reference.feature_names) == sorted(other.feature_names);
  throw InvalidInput(fmt::format("{}: feature {} is '{}', expected '{}' as in {}{}", other.source,
                                 found - other.feature_names.begin() + 1, shown(*found), shown(*expected),
                                 reference.source, same_set ? "; the same columns, in another order" : ""));
}

void map_labels_onto(const Dataset &reference, Dataset &other) {
  if (reference.label_names.empty() || other.labels.empty()) {
    throw InvalidInput(fmt::format("{}: has no labels, expected one a row",
                                   reference.label_names.empty() ? reference.source : other.source));
  }
  std::unordered_map<std::string_view, std::uint32_t> numbers;
  for (std::uint32_t i = 0; i < reference.label_names.size(); ++i) {
    numbers.emplace(reference.label_names[i], i);
  }
  constexpr std::uint32_t unknown = std::numeric_limits<std::uint32_t>::max();
  std::vector<std::uint32_t> renumbered;
  for (const std::string &name : other.label_names) {
    const auto found = numbers.find(name);
    renumbered.push_back(found == numbers.end() ? unknown : found->second);
  }
  for (std::size_t row = 0; row < other.labels.size(); ++row) {
    if (renumbered[other.labels[row]] == unknown) {
      throw InvalidInput(fmt::format("{}: row {}: found the label '{}', expected one of those in {}: {}", other.source,
                                     row + 1, shown(other.label_names[other.labels[row]]), reference.source,
                                     first_few(reference.label_names)));
    }
  }
  for (std::uint32_t &label : other.labels) {
    label = renumbered[label];
  }
  other.label_names = reference.label_names;
}

Dataset take_marked_rows(Dataset &dataset) {
  const std::vector<bool> is_marked = std::exchange(dataset.marked, {});
  const auto count = std::count(is_marked.begin(), is_marked.end(), true);
  if (count == 0 || static_cast<std::size_t>(count) == is_marked.size()) {
    throw InvalidInput(fmt::format("{}: {} of its {} rows are marked as trusted, expected some", dataset.source,
                                   count == 0 ? "none" : "all", is_marked.size()));
  }
  std::vector<Index> kept;
  std::vector<Index> taken;
  for (std::size_t i = 0; i < is_marked.size(); ++i) {
    (is_marked[i] ? taken : kept).push_back(static_cast<Index>(i));
  }
  Dataset trusted;
  trusted.source = dataset.source;
  trusted.features = dataset.features.gather(taken);
  dataset.features = dataset.features.gather(kept);
  trusted.labels = taken_from(dataset.labels, is_marked);
  trusted.ids = dataset.ids.empty() ? std::vector<std::string>() : taken_from(dataset.ids, is_marked);
  trusted.sources = dataset.sources.empty() ? std::vector<std::uint32_t>() : taken_from(dataset.sources, is_marked);
  trusted.label_names = dataset.label_names;
  trusted.source_names = dataset.source_names;
  trusted.feature_names = dataset.feature_names;
  trusted.label_column = dataset.label_column;
  trusted.plan = dataset.plan;
  trusted.file_rows = std::move(taken);
  dataset.file_rows = std::move(kept);
  return trusted;
}

} // namespace duplex::data
