#pragma once
// A reader may read a file or refuse it with InvalidInput; all else ends the fuzzer.

#include "data/readers.hpp"
#include "data/source.hpp"

#include <duplex/error.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

namespace duplex::fuzz {

inline data::ReadOptions small_tables() {
  data::ReadOptions options;
  options.memory_limit = std::uint64_t{32} << 20U;
  return options;
}

inline std::unique_ptr<data::ByteSource> source_of(std::string_view bytes) {
  return data::unpacked(std::make_unique<data::MemorySource>("input", bytes));
}

template <class Read> void read_or_refuse(const Read &read) {
  try {
    (void)read();
  } catch (const InvalidInput &) {
    return;
  }
}

inline std::string_view text_of(const std::uint8_t *bytes, std::size_t size) {
  return {reinterpret_cast<const char *>(bytes), size};
}

} // namespace duplex::fuzz
