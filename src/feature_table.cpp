#include <duplex/feature_table.hpp>

#include <duplex/error.hpp>

#include <Eigen/Core>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <new>
#include <string>
#include <utility>

namespace duplex {

FeatureTable::FeatureTable(Storage storage, Index columns) : storage_(storage), columns_(columns) {
  if (columns < 1) {
    throw InvalidInput("feature table: " + std::to_string(columns) + " columns, expected at least 1");
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
  if (static_cast<std::size_t>(rows) > std::numeric_limits<std::size_t>::max() / 2 / row_bytes()) {
    throw std::bad_alloc();
  }
  // NOLINTNEXTLINE(cppcoreguidelines-no-malloc,cppcoreguidelines-owning-memory)
  void *grown = std::realloc(data_.get(), row_bytes() * static_cast<std::size_t>(rows));
  if (grown == nullptr) {
    throw std::bad_alloc();
  }
  (void)data_.release(); // NOLINT(bugprone-unused-return-value): realloc has taken it
  data_.reset(static_cast<std::byte *>(grown));
  capacity_ = rows;
}

std::byte *FeatureTable::append_rows(Index rows) {
  if (rows_ + rows > capacity_) {
    reallocate(std::max(rows_ + rows, capacity_ + capacity_ / 2));
  }
  std::byte *first = data_.get() + bytes();
  rows_ += rows;
  return first;
}

void FeatureTable::append(std::span<const float> rows) {
  const Index count = static_cast<Index>(rows.size()) / columns_;
  std::memcpy(append_rows(count), rows.data(), rows.size_bytes());
}

void FeatureTable::append(std::span<const std::uint8_t> rows) {
  const Index count = static_cast<Index>(rows.size()) / columns_;
  std::memcpy(append_rows(count), rows.data(), rows.size_bytes());
}

float FeatureTable::stored(Index row, Index column) const {
  const auto cell = static_cast<std::size_t>(row * columns_ + column);
  switch (storage_) {
  case Storage::byte:
    return static_cast<float>(std::to_integer<std::uint8_t>(data_.get()[cell]));
  case Storage::float16: {
    std::uint16_t bits = 0;
    std::memcpy(&bits, data_.get() + cell * sizeof bits, sizeof bits);
    return Eigen::half_impl::half_to_float(Eigen::half_impl::raw_uint16_to_half(bits));
  }
  case Storage::float32:
    break;
  }
  float value = 0.0F;
  std::memcpy(&value, data_.get() + cell * sizeof value, sizeof value);
  return value;
}

float FeatureTable::value(Index row, Index column) const {
  const auto j = static_cast<std::size_t>(column);
  return scale_.empty() ? stored(row, column) : shift_[j] + scale_[j] * stored(row, column);
}

void FeatureTable::set_scaling(std::vector<float> scale, std::vector<float> shift) {
  const auto columns = static_cast<std::size_t>(columns_);
  if (scale.size() != shift.size() || (!scale.empty() && scale.size() != columns)) {
    throw InvalidInput("feature table: scaling of " + std::to_string(scale.size()) + " and " +
                       std::to_string(shift.size()) + " columns, expected " + std::to_string(columns) + " or none");
  }
  scale_ = std::move(scale);
  shift_ = std::move(shift);
}

void FeatureTable::apply_scaling(std::span<const float> scale, std::span<const float> shift) {
  auto *values = reinterpret_cast<float *>(data_.get());
  const auto columns = static_cast<std::size_t>(columns_);
  for (Index row = 0; row < rows_; ++row, values += columns) {
    for (std::size_t j = 0; j < columns; ++j) {
      values[j] = shift[j] + scale[j] * values[j];
    }
  }
}

bool FeatureTable::store_as_bytes_if_exact() {
  const auto *from = reinterpret_cast<const float *>(data_.get());
  const auto cells = static_cast<std::size_t>(rows_ * columns_);
  constexpr float largest = 255.0F;
  const bool exact = std::all_of(from, from + cells, [](float value) {
    return value >= 0.0F && value <= largest && value == std::floor(value) && !std::signbit(value);
  });
  if (!exact) {
    return false;
  }
  for (std::size_t i = 0; i < cells; ++i) { // each byte lands before the floats still to be read
    data_.get()[i] = static_cast<std::byte>(from[i]);
  }
  storage_ = Storage::byte;
  reallocate(std::max<Index>(rows_, 1));
  return true;
}

void FeatureTable::store_as_half() {
  constexpr float largest = 65504.0F;
  const auto *from = reinterpret_cast<const float *>(data_.get());
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
    std::memcpy(data_.get() + i * sizeof bits, &bits, sizeof bits);
  }
  storage_ = Storage::float16;
  reallocate(std::max<Index>(rows_, 1));
}

} // namespace duplex
