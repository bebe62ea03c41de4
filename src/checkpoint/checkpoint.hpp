#pragma once
// The state of a run as the bytes of a file, with a version and a checksum.
//
//   "DUPLEXCP", u32 version, u64 length of the entries, the entries, u32 CRC-32 of them; little-endian
//   entry: u32 length of the name, the name, u8 kind, u64 length, the bytes

#include <duplex/core/saved_state.hpp>

#include <string>
#include <string_view>

namespace duplex::checkpoint {

[[nodiscard]] std::string encoded(const SavedState &state);

/// The file whose entries are those bytes, whatever they are: with the checksum that they need.
[[nodiscard]] std::string framed(std::string_view entries);
/// The bytes of the entries in what encoded() gave.
[[nodiscard]] std::string_view entries_of(std::string_view file);

/// Throws InvalidInput where the bytes are no checkpoint, of another version, cut short or damaged; `source` names
/// where they come from.
[[nodiscard]] SavedState decoded(std::string_view bytes, const std::string &source);

} // namespace duplex::checkpoint
