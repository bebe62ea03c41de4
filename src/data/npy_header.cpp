#include "data/array.hpp"
#include "data/text.hpp"

#include <duplex/core/error.hpp>

#include <fmt/format.h>

#include <bit>
#include <charconv>
#include <optional>
#include <system_error>

namespace duplex::data {
namespace {

constexpr std::string_view npy_magic = "\x93NUMPY";
constexpr std::uint32_t longest_header = 1U << 16U;

/// {'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), }
class HeaderParser {
public:
  HeaderParser(const std::string &file, std::string_view text) : file_(file), whole_(text), rest_(text) {}

  ArrayHeader parse() {
    take('{');
    while (!try_take('}')) {
      const std::string_view key = quoted();
      take(':');
      if (key == "descr" && header_.type.empty()) {
        header_.type = quoted();
      } else if (key == "fortran_order" && !fortran_order_) {
        fortran_order_ = truth();
      } else if (key == "shape" && !has_shape_) {
        shape();
      } else {
        refuse();
      }
      if (!try_take(',')) {
        take('}');
        break;
      }
    }
    skip_blanks();
    if (!rest_.empty() || header_.type.empty() || !fortran_order_ || !has_shape_) {
      refuse();
    }
    if (*fortran_order_) {
      throw InvalidInput(fmt::format("{}: the array lies in Fortran order, expected C order (save "
                                     "numpy.ascontiguousarray(x) instead)",
                                     file_));
    }
    read_type();
    return header_;
  }

private:
  [[noreturn]] void refuse() const {
    throw InvalidInput(fmt::format("{}: found the header '{}', expected a dictionary of 'descr', 'fortran_order' and "
                                   "'shape' (wrong at byte {} of it)",
                                   file_, shown(trimmed(whole_)), whole_.size() - rest_.size()));
  }

  void skip_blanks() { rest_.remove_prefix(std::min(rest_.find_first_not_of(" \n"), rest_.size())); }

  bool try_take(char c) {
    skip_blanks();
    if (!rest_.starts_with(c)) {
      return false;
    }
    rest_.remove_prefix(1);
    return true;
  }

  void take(char c) {
    if (!try_take(c)) {
      refuse();
    }
  }

  std::string_view quoted() {
    skip_blanks();
    const char quote = rest_.starts_with('"') ? '"' : '\'';
    take(quote);
    const std::size_t length = rest_.find(quote);
    if (length == 0 || length == std::string_view::npos) {
      refuse();
    }
    const std::string_view text = rest_.substr(0, length);
    rest_.remove_prefix(length + 1);
    return text;
  }

  bool truth() {
    skip_blanks();
    for (const std::string_view word : {"True", "False"}) {
      if (rest_.starts_with(word)) {
        rest_.remove_prefix(word.size());
        return word == "True";
      }
    }
    refuse();
  }

  void shape() {
    constexpr std::size_t most_dimensions = 32;
    has_shape_ = true;
    take('(');
    while (!try_take(')')) {
      skip_blanks();
      std::uint64_t size = 0;
      const auto [stop, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), size);
      if (error != std::errc{} || header_.shape.size() == most_dimensions) {
        refuse();
      }
      rest_.remove_prefix(static_cast<std::size_t>(stop - rest_.data()));
      header_.shape.push_back(size);
      if (!try_take(',')) {
        take(')');
        break;
      }
    }
  }

  /// '<f8': order of bytes, kind, and bytes (characters, for U) of an element.
  void read_type() {
    constexpr std::size_t longest_text = 1U << 16U;
    const std::string &type = header_.type;
    const std::size_t kind = type.size() < 3 ? std::string_view::npos : std::string_view("buifUS").find(type[1]);
    std::size_t size = 0;
    if (kind == std::string_view::npos || std::string_view("<>|=").find(type[0]) == std::string_view::npos ||
        std::from_chars(type.data() + 2, type.data() + type.size(), size).ptr != type.data() + type.size()) {
      refuse_type();
    }
    const bool big_endian = type[0] == '>';
    header_.swapped = type[0] != '|' && type[0] != '=' && big_endian != (std::endian::native == std::endian::big);
    const bool power_of_two = size == 1 || size == 2 || size == 4 || size == 8;
    bool known = false;
    switch (type[1]) {
    case 'b':
      header_.kind = ElementKind::unsigned_whole;
      known = size == 1;
      break;
    case 'u':
      header_.kind = ElementKind::unsigned_whole;
      known = power_of_two;
      break;
    case 'i':
      header_.kind = ElementKind::signed_whole;
      known = power_of_two;
      break;
    case 'f':
      header_.kind = ElementKind::floating;
      known = power_of_two && size > 1;
      break;
    case 'U':
      header_.kind = ElementKind::utf32_text;
      known = size >= 1 && size <= longest_text;
      size *= sizeof(std::uint32_t);
      break;
    default:
      header_.kind = ElementKind::byte_text;
      known = size >= 1 && size <= longest_text;
      header_.swapped = false;
      break;
    }
    if (!known || (type[0] == '|' && size > 1 && header_.kind != ElementKind::byte_text)) {
      refuse_type();
    }
    header_.item_bytes = size;
  }

  [[noreturn]] void refuse_type() const {
    throw InvalidInput(fmt::format("{}: found elements of type '{}', expected whole numbers (u1 to u8, i1 to i8), "
                                   "floating-point numbers (f2, f4, f8) or text (U, S)",
                                   file_, shown(header_.type)));
  }

  const std::string &file_;
  std::string_view whole_;
  std::string_view rest_;
  ArrayHeader header_;
  std::optional<bool> fortran_order_;
  bool has_shape_ = false;
};

std::uint32_t little_endian(std::string_view bytes) {
  std::uint32_t value = 0;
  for (std::size_t i = bytes.size(); i-- > 0;) {
    value = (value << 8U) | static_cast<unsigned char>(bytes[i]);
  }
  return value;
}

} // namespace

ArrayHeader read_npy_header(ByteSource &source) {
  const std::string magic = take_header(source, npy_magic.size(), "a NumPy array");
  if (magic != npy_magic) {
    throw InvalidInput(fmt::format("{}: begins with '{}', expected a NumPy or IDX array", source.name(), shown(magic)));
  }
  const std::string version = take_header(source, 2, "a NumPy array");
  if (version[0] < 1 || version[0] > 3 || version[1] != 0) {
    throw InvalidInput(fmt::format("{}: found version {}.{} of the format, expected 1.0, 2.0 or 3.0", source.name(),
                                   static_cast<unsigned char>(version[0]), static_cast<unsigned char>(version[1])));
  }
  const std::size_t length_bytes = version[0] == 1 ? 2 : 4;
  const std::uint32_t length = little_endian(take_header(source, length_bytes, "a NumPy array"));
  if (length > longest_header) {
    throw InvalidInput(
        fmt::format("{}: found a header of {} bytes, expected at most {}", source.name(), length, longest_header));
  }
  const std::string text = take_header(source, length, "a NumPy array");
  ArrayHeader header = HeaderParser(source.name(), text).parse();
  header.header_bytes = npy_magic.size() + version.size() + length_bytes + length;
  return header;
}

} // namespace duplex::data
