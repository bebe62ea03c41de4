#include "data/text.hpp"

#include <duplex/core/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <iterator>
#include <system_error>

namespace duplex::data {
namespace {

bool looks_decimal(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789.eE+-") == std::string_view::npos;
}

/// Of a number beyond the range of double: is it huge, rather than tiny?
bool is_huge(std::string_view text) {
  const std::size_t mark = text.find_first_of("eE");
  const std::string_view digits = text.substr(0, mark);
  const std::size_t point = std::min(digits.find('.'), digits.size());
  const std::size_t first = digits.find_first_of("123456789");
  std::int64_t exponent = 0;
  if (mark != std::string_view::npos && !parse_whole(text.substr(mark + 1), exponent)) {
    return text.find('-', mark) == std::string_view::npos;
  }
  return static_cast<std::int64_t>(point) - static_cast<std::int64_t>(first) + exponent > 0;
}

Parsed round_to_float(std::string_view text, float &value) {
  double wide = 0.0;
  if (std::from_chars(text.data(), text.data() + text.size(), wide).ec == std::errc{}) {
    value = static_cast<float>(wide);
    return std::isfinite(value) ? Parsed::ok : Parsed::too_large;
  }
  value = 0.0F;
  return is_huge(text) ? Parsed::too_large : Parsed::ok;
}

} // namespace

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view blanks = " \t\r\n";
  const std::size_t begin = text.find_first_not_of(blanks);
  return begin == std::string_view::npos ? std::string_view{}
                                         : text.substr(begin, text.find_last_not_of(blanks) - begin + 1);
}

std::string shown(std::string_view text) {
  constexpr std::size_t longest = 60;
  std::string_view part = text.substr(0, longest);
  while (part.size() < text.size() && !part.empty() &&
         (static_cast<unsigned char>(text[part.size()]) & 0xC0U) == 0x80U) {
    part.remove_suffix(1); // not in the middle of a character
  }
  const bool readable = is_utf8(part);
  std::string out;
  for (const char c : part) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7F || (byte >= 0x80 && !readable)) {
      fmt::format_to(std::back_inserter(out), "\\x{:02x}", byte);
    } else {
      out += c;
    }
  }
  return part.size() < text.size() ? out + "..." : out;
}

bool is_utf8(std::string_view text) {
  for (std::size_t i = 0; i < text.size();) {
    const auto lead = static_cast<unsigned char>(text[i]);
    const std::size_t length = lead < 0x80   ? 1
                               : lead < 0xC2 ? 0
                               : lead < 0xE0 ? 2
                               : lead < 0xF0 ? 3
                               : lead < 0xF5 ? 4
                                             : 0;
    if (length == 0 || i + length > text.size()) {
      return false;
    }
    std::uint32_t code_point = length == 1 ? lead : lead & (0x7FU >> length);
    for (std::size_t k = 1; k < length; ++k) {
      const auto next = static_cast<unsigned char>(text[i + k]);
      if ((next & 0xC0U) != 0x80U) {
        return false;
      }
      code_point = (code_point << 6U) | (next & 0x3FU);
    }
    const bool overlong = (length == 3 && code_point < 0x800) || (length == 4 && code_point < 0x10000);
    if (overlong || code_point > 0x10FFFF || (code_point >= 0xD800 && code_point < 0xE000)) {
      return false;
    }
    i += length;
  }
  return true;
}

bool append_utf8(std::string &text, std::uint32_t code_point) {
  const auto tail = [&](unsigned shift) { text += static_cast<char>(0x80U | ((code_point >> shift) & 0x3FU)); };
  if (code_point > 0x10FFFF || (code_point >= 0xD800 && code_point < 0xE000)) {
    return false;
  }
  if (code_point < 0x80) {
    text += static_cast<char>(code_point);
  } else if (code_point < 0x800) {
    text += static_cast<char>(0xC0U | (code_point >> 6U));
    tail(0);
  } else if (code_point < 0x10000) {
    text += static_cast<char>(0xE0U | (code_point >> 12U));
    tail(6);
    tail(0);
  } else {
    text += static_cast<char>(0xF0U | (code_point >> 18U));
    tail(12);
    tail(6);
    tail(0);
  }
  return true;
}

std::string lower_case(std::string_view text) {
  std::string lower(text);
  for (char &c : lower) {
    c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  }
  return lower;
}

Parsed parse_number(std::string_view text, float &value) {
  text = trimmed(text);
  if (text.starts_with('+') && !text.starts_with("+-")) {
    text.remove_prefix(1);
  }
  if (!looks_decimal(text)) { // from_chars takes inf and nan
    return Parsed::not_a_number;
  }
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (stop != text.data() + text.size() || error == std::errc::invalid_argument) {
    return Parsed::not_a_number;
  }
  return error == std::errc{} ? Parsed::ok : round_to_float(text, value);
}

double precise_number(std::string_view text) {
  text = trimmed(text);
  text.remove_prefix(text.starts_with('+') ? 1 : 0);
  double value = 0.0;
  (void)std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

bool parse_whole(std::string_view text, std::int64_t &value) {
  if (text.starts_with('+') && !text.starts_with("+-")) {
    text.remove_prefix(1);
  }
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc{} && stop == text.data() + text.size();
}

std::vector<std::string> listed_columns(const std::string &option, const std::string &text) {
  std::vector<std::string> names;
  for (std::size_t at = 0; !text.empty() && at <= text.size();) {
    const std::size_t comma = std::min(text.find(',', at), text.size());
    names.push_back(text.substr(at, comma - at));
    if (names.back().empty()) {
      throw InvalidInput(fmt::format("{} = '{}', expected names of columns with commas between them", option, text));
    }
    at = comma + 1;
  }
  return names;
}

} // namespace duplex::data
