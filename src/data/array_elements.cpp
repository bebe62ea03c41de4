#include "data/array.hpp"
#include "data/limits.hpp"
#include "data/text.hpp"

#include <duplex/core/error.hpp>

#include <Eigen/Core>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

namespace duplex::data {
namespace {

constexpr std::size_t bytes_at_once = std::size_t{1} << 20U;

void swap_bytes(char *items, std::size_t count, std::size_t item_bytes) {
  for (std::size_t i = 0; i < count; ++i, items += item_bytes) {
    std::reverse(items, items + item_bytes);
  }
}

template <class T> T item(const char *items, std::size_t i) {
  T value;
  std::memcpy(&value, items + i * sizeof value, sizeof value);
  return value;
}

/// Calls visitor(T{}) with the type of the elements.
template <class Visitor> void visit_number_type(const ArrayHeader &header, const Visitor &visitor) {
  const bool has_sign = header.kind == ElementKind::signed_whole;
  if (header.kind == ElementKind::floating) {
    header.item_bytes == 2 ? visitor(Eigen::half{}) : header.item_bytes == 4 ? visitor(float{}) : visitor(double{});
    return;
  }
  switch (header.item_bytes) {
  case 1:
    return has_sign ? visitor(std::int8_t{}) : visitor(std::uint8_t{});
  case 2:
    return has_sign ? visitor(std::int16_t{}) : visitor(std::uint16_t{});
  case 4:
    return has_sign ? visitor(std::int32_t{}) : visitor(std::uint32_t{});
  default:
    return has_sign ? visitor(std::int64_t{}) : visitor(std::uint64_t{});
  }
}

bool is_text(const ArrayHeader &header) {
  return header.kind == ElementKind::utf32_text || header.kind == ElementKind::byte_text;
}

Storage storage_of(const ArrayHeader &header) {
  if (header.kind == ElementKind::unsigned_whole && header.item_bytes == 1) {
    return Storage::byte;
  }
  return header.kind == ElementKind::floating && header.item_bytes == 2 ? Storage::float16 : Storage::float32;
}

[[noreturn]] void refuse_short(const ByteSource &source, std::uint64_t row, const ArrayHeader &header) {
  throw InvalidInput(fmt::format("{}: the data end in row {}, the header promises {} rows: the file is truncated",
                                 source.name(), row + 1, header.rows()));
}

class FeatureArray {
public:
  FeatureArray(ByteSource &source, const ArrayHeader &header, const ReadOptions &options)
      : source_(source), header_(header), columns_(header.row_elements()), storage_(storage_of(header)) {
    const TableLimit limit(source.name(), options);
    limit.require_columns(columns_);
    limit.require_rows(header.rows(), columns_, storage_);
  }

  FeatureTable read() {
    FeatureTable table(storage_, static_cast<Index>(columns_));
    const auto rows = static_cast<Index>(header_.rows());
    if (source_.size()) { // only then has the promise been held against the file
      table.reserve(rows);
    }
    const auto at_once = std::max<Index>(1, static_cast<Index>(bytes_at_once / (columns_ * header_.item_bytes)));
    while (table.rows() < rows) {
      const Index first = table.rows();
      const Index count = std::min(at_once, rows - first);
      read_rows(first, count, table.append_rows(count));
    }
    require_end(source_);
    table.shrink();
    return table;
  }

private:
  void read_rows(Index first, Index rows, std::byte *stored) {
    const std::size_t items = static_cast<std::size_t>(rows) * columns_;
    char *raw = reinterpret_cast<char *>(stored);
    const bool as_stored =
        storage_ != Storage::float32 || (header_.kind == ElementKind::floating && header_.item_bytes == sizeof(float));
    if (!as_stored) {
      raw_.resize(items * header_.item_bytes);
      raw = raw_.data();
    }
    const std::size_t count = source_.read({raw, items * header_.item_bytes});
    if (count < items * header_.item_bytes) {
      refuse_short(source_, static_cast<std::uint64_t>(first) + count / (columns_ * header_.item_bytes), header_);
    }
    if (header_.swapped) {
      swap_bytes(raw, items, header_.item_bytes);
    }
    visit_number_type(header_, [&]<class T>(T) { store<T>(first, raw, items, as_stored ? nullptr : stored); });
  }

  template <class T> void store(Index first, const char *raw, std::size_t items, std::byte *stored) const {
    for (std::size_t i = 0; i < items; ++i) {
      const T value = item<T>(raw, i);
      if constexpr (!std::is_integral_v<T>) {
        if (const double wide = static_cast<double>(value); !(std::abs(wide) <= std::numeric_limits<float>::max())) {
          refuse(first, i, wide);
        }
      }
      if (stored != nullptr) {
        const auto narrow = static_cast<float>(value);
        std::memcpy(stored + i * sizeof narrow, &narrow, sizeof narrow);
      }
    }
  }

  [[noreturn]] void refuse(Index first, std::size_t i, double found) const {
    const std::string expected =
        std::isfinite(found) ? fmt::format("a number of at most {:.8g} in size", std::numeric_limits<float>::max())
                             : "a finite number";
    throw InvalidInput(fmt::format("{}: row {}, column {}: found {}, expected {}", source_.name(),
                                   static_cast<std::uint64_t>(first) + i / columns_ + 1, i % columns_ + 1, found,
                                   expected));
  }

  ByteSource &source_;
  const ArrayHeader &header_;
  std::uint64_t columns_;
  Storage storage_;
  std::vector<char> raw_;
};

std::string text_item(const ByteSource &source, const ArrayHeader &header, const char *item_begin, std::uint64_t row) {
  std::string text;
  bool exists = true;
  if (header.kind == ElementKind::byte_text) {
    text.assign(item_begin, header.item_bytes);
    text.erase(std::min(text.find_last_not_of('\0') + 1, text.size()));
    exists = is_utf8(text);
  } else {
    std::size_t length = header.item_bytes / sizeof(std::uint32_t);
    while (length > 0 && item<std::uint32_t>(item_begin, length - 1) == 0) {
      --length;
    }
    for (std::size_t i = 0; i < length && exists; ++i) {
      exists = append_utf8(text, item<std::uint32_t>(item_begin, i));
    }
  }
  if (!exists || text.empty() || text.find('\0') != std::string::npos) {
    throw InvalidInput(
        fmt::format("{}: row {}: found '{}', expected a label of valid text", source.name(), row + 1, shown(text)));
  }
  return text;
}

} // namespace

FeatureTable read_features(ByteSource &source, const ArrayHeader &header, const ReadOptions &options) {
  if (is_text(header)) {
    throw InvalidInput(fmt::format("{}: the features are text ({}), expected numbers", source.name(), header.type));
  }
  return FeatureArray(source, header, options).read();
}

void read_labels(ByteSource &source, const ArrayHeader &header, LabelCollector &labels) {
  if (header.kind == ElementKind::floating) {
    throw InvalidInput(
        fmt::format("{}: the labels have type {}, expected whole numbers or text", source.name(), header.type));
  }
  const std::uint64_t at_once = std::max<std::size_t>(1, bytes_at_once / header.item_bytes);
  std::vector<char> raw(std::min(at_once, header.rows()) * header.item_bytes);
  for (std::uint64_t row = 0; row < header.rows();) {
    const std::uint64_t count = std::min<std::uint64_t>(raw.size() / header.item_bytes, header.rows() - row);
    const std::size_t held = source.read({raw.data(), count * header.item_bytes});
    if (held < count * header.item_bytes) {
      refuse_short(source, row + held / header.item_bytes, header);
    }
    if (header.swapped) {
      const std::size_t unit = is_text(header) ? sizeof(std::uint32_t) : header.item_bytes;
      swap_bytes(raw.data(), held / unit, unit);
    }
    for (std::size_t i = 0; i < count; ++i) {
      if (is_text(header)) {
        labels.add(text_item(source, header, raw.data() + i * header.item_bytes, row + i));
        continue;
      }
      visit_number_type(header, [&]<class T>(T) {
        if constexpr (std::is_integral_v<T>) {
          labels.add(fmt::format_int(item<T>(raw.data(), i)).c_str());
        }
      });
    }
    row += count;
  }
  require_end(source);
}

} // namespace duplex::data
