#include "data/npy_write.hpp"

#include <duplex/core/error.hpp>

#include <fmt/format.h>

#include <bit>

namespace duplex::data {
namespace {

static_assert(std::endian::native == std::endian::little, "the elements are written as they lie in memory");

std::string header_text(std::string_view type, std::span<const Index> shape) {
  std::string sizes;
  for (const Index size : shape) {
    sizes += fmt::format("{},{}", size, shape.size() > 1 ? " " : "");
  }
  if (shape.size() > 1) {
    sizes.resize(sizes.size() - 2);
  }
  return fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}), }}", type, sizes);
}

} // namespace

std::string npy_header(std::string_view type, std::span<const Index> shape) {
  constexpr std::size_t preamble = 10; // magic, version and the length of the text
  constexpr std::size_t alignment = 64;
  std::string text = header_text(type, shape);
  const std::size_t length = (preamble + text.size() + 1 + alignment - 1) / alignment * alignment - preamble;
  text.resize(length - 1, ' ');
  std::string header = "\x93NUMPY";
  header += {'\x01', '\0', static_cast<char>(length & 0xFFU), static_cast<char>(length >> 8U)};
  header += text + '\n';
  return header;
}

namespace {

template <class T> std::string file_of(std::string_view type, std::span<const T> values, std::span<const Index> shape) {
  std::uint64_t elements = 1;
  for (const Index size : shape) {
    if (size < 0 || __builtin_mul_overflow(elements, static_cast<std::uint64_t>(size), &elements)) {
      elements = values.size() + 1;
      break;
    }
  }
  if (elements != values.size()) {
    throw InvalidInput(fmt::format("npy: found {} values, expected as many as the shape has elements", values.size()));
  }
  std::string file = npy_header(type, shape);
  file.append(reinterpret_cast<const char *>(values.data()), values.size_bytes());
  return file;
}

} // namespace

std::string npy_file(std::span<const float> values, std::span<const Index> shape) {
  return file_of("<f4", values, shape);
}

std::string npy_file(std::span<const std::int64_t> values, std::span<const Index> shape) {
  return file_of("<i8", values, shape);
}

} // namespace duplex::data
