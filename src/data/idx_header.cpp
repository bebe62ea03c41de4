#include "data/array.hpp"
#include "data/text.hpp"

#include <duplex/core/error.hpp>

#include <fmt/format.h>

#include <bit>

namespace duplex::data {
namespace {

void set_type(ArrayHeader &header, const std::string &file, unsigned code) {
  struct Type {
    unsigned code;
    const char *name;
    ElementKind kind;
    std::size_t bytes;
  };
  constexpr Type types[] = {
      {0x08, "uint8", ElementKind::unsigned_whole, 1}, {0x09, "int8", ElementKind::signed_whole, 1},
      {0x0B, "int16", ElementKind::signed_whole, 2},   {0x0C, "int32", ElementKind::signed_whole, 4},
      {0x0D, "float32", ElementKind::floating, 4},     {0x0E, "float64", ElementKind::floating, 8}};
  for (const Type &type : types) {
    if (type.code == code) {
      header.type = type.name;
      header.kind = type.kind;
      header.item_bytes = type.bytes;
      header.swapped = std::endian::native == std::endian::little;
      return;
    }
  }
  throw InvalidInput(
      fmt::format("{}: found elements of type 0x{:02x}, expected 0x08, 0x09 or 0x0b to 0x0e", file, code));
}

} // namespace

ArrayHeader read_idx_header(ByteSource &source) {
  const std::string magic = take_header(source, 4, "an IDX array");
  const auto byte = [&](std::size_t i) { return static_cast<unsigned>(static_cast<unsigned char>(magic[i])); };
  constexpr unsigned most_dimensions = 8;
  if (byte(0) != 0 || byte(1) != 0 || byte(3) < 1 || byte(3) > most_dimensions) {
    throw InvalidInput(fmt::format("{}: begins with '{}', expected an IDX array", source.name(), shown(magic)));
  }
  ArrayHeader header;
  set_type(header, source.name(), byte(2));
  for (unsigned i = 0; i < byte(3); ++i) {
    std::uint64_t size = 0;
    for (const char c : take_header(source, 4, "an IDX array")) {
      size = (size << 8U) | static_cast<unsigned char>(c);
    }
    header.shape.push_back(size);
  }
  header.header_bytes = 4 + 4 * header.shape.size();
  return header;
}

} // namespace duplex::data
