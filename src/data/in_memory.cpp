#include "data/in_memory.hpp"

#include "data/cell_kinds.hpp"
#include "data/csv_columns.hpp"
#include "data/limits.hpp"
#include "data/npy_write.hpp"
#include "data/raw_table.hpp"
#include "data/readers.hpp"
#include "data/sparsity.hpp"
#include "data/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <string_view>
#include <utility>

namespace duplex::data {
namespace {

/// A header, and then bytes that lie elsewhere.
class HeadedSource final : public ByteSource {
public:
  HeadedSource(std::string name, std::string header, std::span<const std::byte> bytes)
      : ByteSource(std::move(name)), header_(std::move(header)),
        all_(header_.size() + bytes.size()), parts_{std::string_view(header_),
                                                    {reinterpret_cast<const char *>(bytes.data()), bytes.size()}} {}
  [[nodiscard]] std::optional<std::uint64_t> size() const override { return all_; }

private:
  std::size_t read_some(std::span<char> buffer) override {
    auto &part = parts_[parts_[0].empty() ? 1 : 0];
    const std::size_t count = std::min(part.size(), buffer.size());
    if (count > 0) {
      std::memcpy(buffer.data(), part.data(), count);
    }
    part.remove_prefix(count);
    return count;
  }

  std::string header_;
  std::uint64_t all_;
  std::string_view parts_[2];
};

/// Cells as CsvReader keeps those of a file.
class ColumnReader {
public:
  ColumnReader(std::span<const MemoryColumn> columns, const std::string &name, const ReadOptions &options)
      : columns_(columns), options_(options), limit_(name, options),
        kinds_(find_columns(name, names_of(columns), options)),
        rows_(columns.front().numbers.size() + columns.front().texts.size()) {
    limit_.require_columns(kinds_.features());
    limit_.require_rows(rows_, kinds_.features(), Storage::float32);
    dataset_.source = table_.source = name;
    table_.order = kinds_.order;
    table_.width = kinds_.width;
    table_.cells = FeatureTable(Storage::float32, static_cast<Index>(kinds_.features()));
    for (std::size_t i = 0; i < columns.size(); ++i) {
      if (kinds_.roles[i] == ColumnRole::feature) {
        table_.place.push_back(i);
        if (kinds_.has_header) {
          table_.names.push_back(columns[i].name);
        }
      }
    }
  }

  Dataset read() {
    table_.cells.reserve(static_cast<Index>(rows_));
    cells_ = reinterpret_cast<float *>(table_.cells.append_rows(static_cast<Index>(rows_)));
    for (std::size_t i = 0; i < table_.columns(); ++i) {
      const MemoryColumn &column = columns_[table_.place[i]];
      values_.clear();
      column.texts.empty() ? take_numbers(i, column) : take_texts(i, column);
      keep_values(i);
    }
    make_features();
    return std::move(dataset_);
  }

private:
  static std::vector<std::string> names_of(std::span<const MemoryColumn> columns) {
    std::vector<std::string> names;
    for (const auto &column : columns) {
      names.push_back(column.name);
    }
    return names;
  }

  void take_numbers(std::size_t at, const MemoryColumn &column) {
    for (std::size_t row = 0; row < rows_; ++row) {
      const double value = column.numbers[row];
      if (std::isnan(value)) {
        take_missing(at, row);
        continue;
      }
      if (!(std::abs(value) <= static_cast<double>(std::numeric_limits<float>::max()))) {
        refuse(fmt::format("{}", value), at, row, std::isinf(value) ? std::string("a finite number") : too_large());
      }
      take_number(at, row, static_cast<float>(value), value);
    }
  }

  void take_texts(std::size_t at, const MemoryColumn &column) {
    for (std::size_t row = 0; row < rows_; ++row) {
      const auto &given = column.texts[row];
      const std::string_view text = given ? trimmed(*given) : std::string_view();
      if (is_missing(text)) {
        take_missing(at, row);
        continue;
      }
      float value = 0.0F;
      const Parsed parsed = parse_number(text, value);
      if (parsed == Parsed::too_large) {
        refuse(text, at, row, too_large());
      }
      if (parsed == Parsed::ok) {
        take_number(at, row, value, precise_number(text));
        continue;
      }
      if (!is_utf8(text) || text.find('\0') != std::string_view::npos) {
        refuse(text, at, row, "UTF-8 text");
      }
      values_.push_back(0.0);
      cell(at, row) = text_cell(table_.texts[at].add(text, {row + 1, table_.place[at] + 1}));
    }
  }

  void take_number(std::size_t at, std::size_t row, float value, double precise) {
    cell(at, row) = value;
    values_.push_back(precise);
  }

  void take_missing(std::size_t at, std::size_t row) {
    cell(at, row) = missing_cell();
    table_.texts[at].add_missing();
    values_.push_back(0.0);
  }

  /// Numbers that float32 may hold too coarsely stay to all their digits, as long as they do not differ enough.
  void keep_values(std::size_t at) {
    const bool is_planned = options_.plan != nullptr && is_counted_from_elsewhere(at);
    if (is_planned || (options_.plan == nullptr && are_narrow(at))) {
      table_.precise[at] = values_;
    }
  }
  [[nodiscard]] bool is_counted_from_elsewhere(std::size_t at) const {
    for (std::size_t i = 0; i < kinds_.column_of.size(); ++i) {
      const PlannedColumn &column = options_.plan->columns[i];
      if (kinds_.column_of[i] == at && column.kind == ColumnKind::number && column.origin != 0.0) {
        return true;
      }
    }
    return false;
  }
  [[nodiscard]] bool are_narrow(std::size_t at) const {
    const float first = table_.cell(0, at);
    if (!is_number_cell(first) || std::abs(first) < large_number || table_.precise.size() >= most_followed_columns) {
      return false;
    }
    double least = values_.front();
    double largest = least;
    for (std::size_t row = 1; row < rows_; ++row) {
      if (is_number_cell(table_.cell(row, at))) {
        least = std::min(least, values_[row]);
        largest = std::max(largest, values_[row]);
      }
    }
    return !(largest - least >= narrow_range * std::max(std::abs(least), std::abs(largest)) && largest > least);
  }

  void make_features() {
    std::vector<std::size_t> column_of = kinds_.column_of;
    dataset_.plan = options_.plan;
    if (!options_.plan) {
      auto chosen = choose_plan(table_, options_, dataset_.remarks);
      column_of = std::move(chosen.column_of);
      dataset_.plan = std::make_shared<const TablePlan>(std::move(chosen.plan));
    }
    dataset_.features = features_of(table_, *dataset_.plan, column_of, options_, dataset_.remarks);
    dataset_.feature_names = dataset_.plan->feature_names();
  }

  float &cell(std::size_t at, std::size_t row) { return cells_[row * table_.columns() + at]; }

  static std::string too_large() {
    return fmt::format("a number of at most {:.8g} in size", std::numeric_limits<float>::max());
  }
  [[noreturn]] void refuse(std::string_view found, std::size_t at, std::size_t row, const std::string &expected) const {
    throw InvalidInput(fmt::format("{}: found '{}', expected {}",
                                   table_.shown_place(at, {row + 1, table_.place[at] + 1}), shown(found), expected));
  }

  std::span<const MemoryColumn> columns_;
  const ReadOptions &options_;
  TableLimit limit_;
  CsvColumns kinds_;
  std::size_t rows_;
  RawTable table_;
  float *cells_ = nullptr;
  std::vector<double> values_; ///< of the column that is read, to all digits
  Dataset dataset_;
};

} // namespace

Dataset read_array(const MemoryArray &array, const std::string &name) {
  HeadedSource source(name, npy_header(array.type, array.shape), array.bytes);
  return read_arrays(source, nullptr, {.expect_labels = false});
}

Dataset read_entries(SparseEntries entries, Index columns, const std::string &name) {
  const TableLimit limit(name, {});
  limit.require_columns(static_cast<std::uint64_t>(columns));
  std::size_t entry = 0;
  for (std::size_t row = 0; row < entries.ends.size(); ++row) {
    for (; entry < entries.ends[row]; ++entry) {
      if (!std::isfinite(entries.values[entry])) {
        throw InvalidInput(fmt::format("{}: row {}, column {}: found {}, expected a finite number", name, row + 1,
                                       entries.columns[entry] + 1, entries.values[entry]));
      }
    }
  }
  const std::size_t rows = entries.ends.size();
  const bool stays_sparse = is_sparse(entries.values.size(), rows, static_cast<std::uint64_t>(columns));
  if (!stays_sparse) {
    limit.require_rows(rows, static_cast<std::uint64_t>(columns), Storage::float32);
  }
  Dataset dataset;
  dataset.source = name;
  dataset.features = FeatureTable(std::move(entries), columns);
  if (!stays_sparse) {
    dataset.features.store_as_dense();
  }
  return dataset;
}

Dataset read_columns(std::span<const MemoryColumn> columns, const std::string &name, const ReadOptions &options) {
  if (columns.empty() || columns.front().numbers.size() + columns.front().texts.size() == 0) {
    throw InvalidInput(fmt::format("{}: found {}, expected at least one row and one column", name,
                                   columns.empty() ? "no columns" : "no rows"));
  }
  return ColumnReader(columns, name, options).read();
}

} // namespace duplex::data
