// What of a feature table concerns its sparse form.

#include <duplex/kernels/feature_table.hpp>

#include <duplex/core/error.hpp>

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

namespace duplex {

namespace {

void require_order(const SparseEntries &entries, Index columns) {
  const auto refuse = [](std::size_t row, const std::string &what) {
    throw InvalidInput("feature table: row " + std::to_string(row + 1) + " " + what);
  };
  if (entries.columns.size() != entries.values.size()) {
    throw InvalidInput("feature table: " + std::to_string(entries.columns.size()) + " columns for " +
                       std::to_string(entries.values.size()) + " values, expected one for each");
  }
  std::size_t entry = 0;
  for (std::size_t row = 0; row < entries.ends.size(); ++row) {
    const std::size_t end = entries.ends[row];
    if (end < entry || end > entries.values.size()) {
      refuse(row, "ends before it begins or after the last entry");
    }
    for (std::size_t begin = entry; entry < end; ++entry) {
      if (static_cast<Index>(entries.columns[entry]) >= columns) {
        refuse(row, "has an entry in column " + std::to_string(entries.columns[entry] + 1) + ", expected at most " +
                        std::to_string(columns));
      }
      if (entry > begin && entries.columns[entry] <= entries.columns[entry - 1]) {
        refuse(row, "has columns that do not ascend");
      }
    }
  }
  if (entry != entries.values.size()) {
    throw InvalidInput("feature table: entries after the last row");
  }
}

} // namespace

FeatureTable::FeatureTable(SparseEntries entries, Index columns) : FeatureTable(Storage::sparse, columns) {
  require_order(entries, columns);
  rows_ = capacity_ = static_cast<Index>(entries.ends.size());
  *sparse_ = std::move(entries);
}

std::size_t FeatureTable::entries() const {
  if (!is_sparse()) {
    return static_cast<std::size_t>(rows_ * columns_);
  }
  if (rows_ == 0) {
    return 0;
  }
  const auto first = static_cast<std::size_t>(first_);
  const auto last = static_cast<std::size_t>(first_ + rows_) - 1;
  return sparse_->ends[last] - (first == 0 ? 0 : sparse_->ends[first - 1]);
}

std::size_t FeatureTable::bytes() const {
  const std::size_t ends = is_sparse() ? static_cast<std::size_t>(rows_) * sizeof(std::size_t) : 0;
  return entries() * bytes_of(storage_) + ends;
}

std::vector<std::span<const std::byte>> FeatureTable::memory() const {
  if (!is_sparse()) {
    return {{data(), bytes()}};
  }
  const auto rows = static_cast<std::size_t>(rows_);
  const std::size_t count = entries();
  if (rows == 0) {
    return {};
  }
  const SparseRow first = sparse_row(0);
  return {std::as_bytes(std::span(sparse_->ends).subspan(static_cast<std::size_t>(first_), rows)),
          std::as_bytes(std::span(first.columns.data(), count)), std::as_bytes(std::span(first.values.data(), count))};
}

float FeatureTable::stored_sparsely(Index row, Index column) const {
  const SparseRow own = sparse_row(row);
  const auto wanted = static_cast<std::uint32_t>(column);
  const auto found = std::lower_bound(own.columns.begin(), own.columns.end(), wanted);
  return found != own.columns.end() && *found == wanted
             ? own.values[static_cast<std::size_t>(found - own.columns.begin())]
             : 0.0F;
}

double FeatureTable::squared_length(Index row) const {
  double sum = 0.0;
  if (is_sparse()) {
    for (const float value : sparse_row(row).values) {
      sum += static_cast<double>(value) * static_cast<double>(value);
    }
    return sum;
  }
  for (Index column = 0; column < columns_; ++column) {
    const auto own = static_cast<double>(value(row, column));
    sum += own * own;
  }
  return sum;
}

void FeatureTable::store_as_sparse() {
  require_floats();
  SparseEntries kept;
  const auto columns = static_cast<std::size_t>(columns_);
  for (Index index = 0; index < rows_; ++index) {
    const auto *values = reinterpret_cast<const float *>(row(index));
    for (std::size_t j = 0; j < columns; ++j) {
      if (values[j] != 0.0F) {
        kept.columns.push_back(static_cast<std::uint32_t>(j));
        kept.values.push_back(values[j]);
      }
    }
    kept.ends.push_back(kept.values.size());
  }
  *this = FeatureTable(std::move(kept), columns_);
}

void FeatureTable::store_as_dense() {
  if (!is_sparse()) {
    throw InvalidInput("feature table: it is dense already, expected a sparse one");
  }
  require_own_memory();
  FeatureTable dense(Storage::float32, columns_);
  dense.reserve(rows_);
  for (Index index = 0; index < rows_; ++index) {
    std::byte *to = dense.append_rows(1);
    std::memset(to, 0, dense.row_bytes());
    const SparseRow own = sparse_row(index);
    for (std::size_t entry = 0; entry < own.values.size(); ++entry) {
      std::memcpy(to + own.columns[entry] * sizeof(float), &own.values[entry], sizeof(float));
    }
  }
  *this = std::move(dense);
}

} // namespace duplex
