#include <duplex/kernels/feature_table.hpp>

#include <duplex/core/error.hpp>

#include <Eigen/Core>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <new>
#include <string>
#include <utility>

namespace duplex {

FeatureTable::Memory::~Memory() {
  std::free(bytes); // NOLINT(cppcoreguidelines-no-malloc,cppcoreguidelines-owning-memory): it came from realloc
}

FeatureTable::FeatureTable(Storage storage, Index columns)
    : storage_(storage), columns_(columns), memory_(std::make_shared<Memory>()) {
  if (columns < 1) {
    throw InvalidInput("feature table: " + std::to_string(columns) + " columns, expected at least 1");
  }
  if (storage == Storage::sparse) {
    sparse_ = std::make_shared<SparseEntries>();
  }
}

void FeatureTable::reserve(Index rows) {
  if (rows > capacity_) {
    reallocate(rows);
  }
}

void FeatureTable::shrink() {
  if (capacity_ > rows_ && rows_ > 0) {
    reallocate(rows_);
  }
}

void FeatureTable::reallocate(Index rows) {
  require_own_memory();
  require_dense();
  if (static_cast<std::size_t>(rows) > std::numeric_limits<std::size_t>::max() / 2 / row_bytes()) {
    throw std::bad_alloc();
  }
  // NOLINTNEXTLINE(cppcoreguidelines-no-malloc,cppcoreguidelines-owning-memory): grows in place
  void *grown = std::realloc(memory_->bytes, row_bytes() * static_cast<std::size_t>(rows));
  if (grown == nullptr) {
    throw std::bad_alloc();
  }
  memory_->bytes = static_cast<std::byte *>(grown);
  capacity_ = rows;
}

std::byte *FeatureTable::append_rows(Index rows) {
  if (rows_ + rows > capacity_) {
    reallocate(std::max(rows_ + rows, capacity_ + capacity_ / 2));
  }
  std::byte *first = row(rows_);
  rows_ += rows;
  return first;
}

void FeatureTable::require_whole_rows(Storage storage, std::size_t values) const {
  if (storage_ != storage || values % static_cast<std::size_t>(columns_) != 0) {
    throw InvalidInput("feature table: " + std::to_string(values) +
                       " values of another kind or in broken rows, expected rows of " + std::to_string(columns_));
  }
}

void FeatureTable::require_own_memory() const {
  if (first_ != 0 || memory_.use_count() > 1 || sparse_.use_count() > 1) {
    throw InvalidInput("feature table: its memory is shared with a slice, expected a table of its own to change");
  }
}

void FeatureTable::require_dense() const {
  if (is_sparse()) {
    throw InvalidInput("feature table: it is sparse, expected a dense one");
  }
}

void FeatureTable::require_floats() const {
  require_own_memory();
  if (storage_ != Storage::float32) {
    throw InvalidInput("feature table: stored in fewer bytes already, expected float32");
  }
}

void FeatureTable::append(std::span<const float> rows) {
  require_whole_rows(Storage::float32, rows.size());
  const Index count = static_cast<Index>(rows.size()) / columns_;
  std::memcpy(append_rows(count), rows.data(), rows.size_bytes());
}

void FeatureTable::append(std::span<const std::uint8_t> rows) {
  require_whole_rows(Storage::byte, rows.size());
  const Index count = static_cast<Index>(rows.size()) / columns_;
  std::memcpy(append_rows(count), rows.data(), rows.size_bytes());
}

float FeatureTable::stored(Index row, Index column) const {
  if (is_sparse()) {
    return stored_sparsely(row, column);
  }
  const auto cell = static_cast<std::size_t>(row * columns_ + column);
  switch (storage_) {
  case Storage::byte:
    return static_cast<float>(std::to_integer<std::uint8_t>(data()[cell]));
  case Storage::float16: {
    std::uint16_t bits = 0;
    std::memcpy(&bits, data() + cell * sizeof bits, sizeof bits);
    return Eigen::half_impl::half_to_float(Eigen::half_impl::raw_uint16_to_half(bits));
  }
  case Storage::float32:
  case Storage::sparse:
    break;
  }
  float value = 0.0F;
  std::memcpy(&value, data() + cell * sizeof value, sizeof value);
  return value;
}

float FeatureTable::value(Index row, Index column) const {
  const auto j = static_cast<std::size_t>(column);
  return scale_.empty() ? stored(row, column) : shift_[j] + scale_[j] * stored(row, column);
}

void FeatureTable::set_scaling(std::vector<float> scale, std::vector<float> shift) {
  require_dense();
  const auto columns = static_cast<std::size_t>(columns_);
  if (scale.size() != shift.size() || (!scale.empty() && scale.size() != columns)) {
    throw InvalidInput("feature table: scaling of " + std::to_string(scale.size()) + " and " +
                       std::to_string(shift.size()) + " columns, expected " + std::to_string(columns) + " or none");
  }
  scale_ = std::move(scale);
  shift_ = std::move(shift);
}

void FeatureTable::apply_scaling(std::span<const float> scale, std::span<const float> shift) {
  if (is_sparse()) {
    require_own_memory();
    if (std::any_of(shift.begin(), shift.end(), [](float value) { return value != 0.0F; })) {
      throw InvalidInput("feature table: a shift would fill a sparse table, expected none");
    }
    for (std::size_t entry = 0; entry < sparse_->values.size(); ++entry) {
      sparse_->values[entry] *= scale[sparse_->columns[entry]];
    }
    return;
  }
  require_floats();
  auto *values = reinterpret_cast<float *>(memory_->bytes);
  const auto columns = static_cast<std::size_t>(columns_);
  for (Index row = 0; row < rows_; ++row, values += columns) {
    for (std::size_t j = 0; j < columns; ++j) {
      values[j] = shift[j] + scale[j] * values[j];
    }
  }
}

FeatureTable FeatureTable::slice(Index first, Index count) const {
  if (first < 0 || count < 0 || first > rows_ - count) {
    throw InvalidInput("feature table: rows " + std::to_string(first) + " to " + std::to_string(first + count) +
                       " of " + std::to_string(rows_));
  }
  FeatureTable part = *this;
  part.first_ += first;
  part.rows_ = count;
  part.capacity_ = count;
  return part;
}

FeatureTable FeatureTable::gather(std::span<const Index> rows) const {
  if (is_sparse()) {
    SparseEntries chosen;
    for (const Index index : rows) {
      const SparseRow own = sparse_row(index);
      chosen.columns.insert(chosen.columns.end(), own.columns.begin(), own.columns.end());
      chosen.values.insert(chosen.values.end(), own.values.begin(), own.values.end());
      chosen.ends.push_back(chosen.values.size());
    }
    return {std::move(chosen), columns_};
  }
  FeatureTable out(storage_, columns_);
  std::byte *to = out.append_rows(static_cast<Index>(rows.size()));
  for (const Index index : rows) {
    std::memcpy(to, row(index), row_bytes());
    to += row_bytes();
  }
  out.scale_ = scale_;
  out.shift_ = shift_;
  return out;
}

void FeatureTable::require_permutation(std::span<const Index> order) const {
  std::vector<bool> seen(static_cast<std::size_t>(rows_));
  for (const Index row : order) {
    if (row < 0 || row >= rows_ || seen[static_cast<std::size_t>(row)]) {
      throw InvalidInput("feature table: an order that is not a permutation of its rows");
    }
    seen[static_cast<std::size_t>(row)] = true;
  }
  if (static_cast<Index>(order.size()) != rows_) {
    throw InvalidInput("feature table: an order of " + std::to_string(order.size()) + " rows, expected " +
                       std::to_string(rows_));
  }
}

void FeatureTable::reorder(std::span<const Index> order) {
  require_own_memory();
  require_permutation(order);
  if (is_sparse()) {
    *this = gather(order);
    return;
  }
  std::vector<std::byte> kept(row_bytes());
  std::vector<bool> done(order.size());
  for (Index start = 0; start < rows_; ++start) { // cycle by cycle, with one row aside
    if (done[static_cast<std::size_t>(start)]) {
      continue;
    }
    std::memcpy(kept.data(), row(start), row_bytes());
    Index at = start;
    for (Index from = order[static_cast<std::size_t>(at)]; from != start; from = order[static_cast<std::size_t>(at)]) {
      std::memcpy(row(at), row(from), row_bytes());
      done[static_cast<std::size_t>(at)] = true;
      at = from;
    }
    std::memcpy(row(at), kept.data(), row_bytes());
    done[static_cast<std::size_t>(at)] = true;
  }
}

bool FeatureTable::store_as_bytes_if_exact() {
  require_floats();
  const auto *from = reinterpret_cast<const float *>(memory_->bytes);
  const auto cells = static_cast<std::size_t>(rows_ * columns_);
  constexpr float largest = 255.0F;
  const bool exact = std::all_of(from, from + cells, [](float value) {
    return value >= 0.0F && value <= largest && value == std::floor(value) && !std::signbit(value);
  });
  if (!exact) {
    return false;
  }
  for (std::size_t i = 0; i < cells; ++i) { // each byte lands before the floats still to be read
    memory_->bytes[i] = static_cast<std::byte>(from[i]);
  }
  storage_ = Storage::byte;
  reallocate(std::max<Index>(rows_, 1));
  return true;
}

void FeatureTable::store_as_half() {
  require_floats();
  constexpr float largest = 65504.0F;
  const auto *from = reinterpret_cast<const float *>(memory_->bytes);
  const auto cells = static_cast<std::size_t>(rows_ * columns_);
  for (std::size_t i = 0; i < cells; ++i) {
    if (!(std::abs(from[i]) <= largest)) {
      throw InvalidInput("row " + std::to_string(static_cast<Index>(i) / columns_ + 1) + ", feature " +
                         std::to_string(static_cast<Index>(i) % columns_ + 1) + ": " + std::to_string(from[i]) +
                         " does not fit into float16, expected at most 65504");
    }
  }
  for (std::size_t i = 0; i < cells; ++i) {
    const std::uint16_t bits = Eigen::half_impl::float_to_half_rtne(from[i]).x;
    std::memcpy(memory_->bytes + i * sizeof bits, &bits, sizeof bits);
  }
  storage_ = Storage::float16;
  reallocate(std::max<Index>(rows_, 1));
}

} // namespace duplex
