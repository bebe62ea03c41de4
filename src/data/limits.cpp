#include "data/limits.hpp"

#include <duplex/core/error.hpp>
#include <duplex/core/memory.hpp>

#include <fmt/format.h>

#include <utility>

namespace duplex::data {

TableLimit::TableLimit(std::string source, const ReadOptions &options)
    : source_(std::move(source)),
      bytes_(options.memory_limit > 0 ? options.memory_limit : static_cast<std::uint64_t>(machine_memory())) {}

void TableLimit::require_columns(std::uint64_t columns) const {
  if (columns == 0) {
    throw InvalidInput(fmt::format("{}: found no features, expected at least one", source_));
  }
  if (columns > most_columns) {
    throw InvalidInput(fmt::format("{}: found {} features, expected at most {}", source_, columns, most_columns));
  }
}

void TableLimit::require_rows(std::uint64_t rows, std::uint64_t columns, Storage storage) const {
  const std::uint64_t row_bytes = columns * bytes_of(storage);
  if (rows > bytes_ / row_bytes) {
    throw InvalidInput(
        fmt::format("{}: {} rows of {} features need {} bytes each row, expected at most {} bytes in all", source_,
                    rows, columns, row_bytes, bytes_));
  }
}

} // namespace duplex::data
