#include "report/text.hpp"

#include <algorithm>

namespace duplex::report {
namespace {

constexpr Glyph replacement{"\uFFFD", U'\uFFFD', false};

bool within(char32_t code, char32_t first, char32_t last) { return first <= code && code <= last; }

bool takes_no_column(char32_t code) {
  return within(code, 0x0300, 0x036F) || within(code, 0x1AB0, 0x1AFF) || within(code, 0x1DC0, 0x1DFF) ||
         within(code, 0x200B, 0x200F) || within(code, 0x20D0, 0x20FF) || within(code, 0xFE00, 0xFE0F) ||
         within(code, 0xFE20, 0xFE2F);
}

bool is_control(char32_t code) { return code < 0x20 || within(code, 0x7F, 0x9F); }

bool is_character(char32_t code) {
  return code <= 0x10FFFF && !within(code, 0xD800, 0xDFFF) && !within(code, 0xFFFE, 0xFFFF);
}

struct Lead {
  std::size_t length;
  char32_t bits;
  char32_t smallest; ///< a smaller code in that many bytes is overlong
};

Lead lead(unsigned char byte) {
  if (byte < 0x80) {
    return {1, byte, 0};
  }
  if (within(byte, 0xC0, 0xDF)) {
    return {2, byte & 0x1Fu, 0x80};
  }
  if (within(byte, 0xE0, 0xEF)) {
    return {3, byte & 0x0Fu, 0x800};
  }
  if (within(byte, 0xF0, 0xF7)) {
    return {4, byte & 0x07u, 0x10000};
  }
  return {0, 0, 0};
}

/// The glyph at the start of the text; its bytes are empty where they are not UTF-8.
Glyph first_glyph(std::string_view text) {
  const Lead start = lead(static_cast<unsigned char>(text.front()));
  if (start.length == 0 || start.length > text.size()) {
    return {};
  }
  char32_t code = start.bits;
  for (std::size_t i = 1; i < start.length; ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if ((byte & 0xC0u) != 0x80u) {
      return {};
    }
    code = (code << 6) | (byte & 0x3Fu);
  }
  if (code < start.smallest || !is_character(code)) {
    return {};
  }
  return {text.substr(0, start.length), code, takes_no_column(code)};
}

} // namespace

std::vector<Glyph> glyphs(std::string_view text) {
  std::vector<Glyph> found;
  found.reserve(text.size());
  while (!text.empty()) {
    const Glyph glyph = first_glyph(text);
    if (glyph.bytes.empty()) {
      found.push_back(replacement);
    } else {
      found.push_back(is_control(glyph.code) ? Glyph{" ", U' ', false} : glyph);
    }
    text.remove_prefix(std::max<std::size_t>(1, glyph.bytes.size()));
  }
  return found;
}

std::size_t display_width(std::string_view text) {
  const auto shown = glyphs(text);
  return static_cast<std::size_t>(std::ranges::count(shown, false, &Glyph::combining));
}

std::string elided(std::string_view text, std::size_t width) {
  const bool fits = display_width(text) <= width;
  std::size_t room = fits ? width : std::max<std::size_t>(width, 1) - 1;
  std::string result;
  for (const Glyph &glyph : glyphs(text)) {
    if (!glyph.combining && room-- == 0) {
      break;
    }
    result += glyph.bytes;
  }
  return fits || width == 0 ? result : result + "…";
}

std::string left_aligned(std::string_view text, std::size_t width) {
  const std::size_t used = display_width(text);
  return elided(text, used) + std::string(std::max(width, used) - used, ' ');
}

std::string right_aligned(std::string_view text, std::size_t width) {
  const std::size_t used = display_width(text);
  return std::string(std::max(width, used) - used, ' ') + elided(text, used);
}

std::string repeated(std::string_view text, std::size_t times) {
  std::string result;
  for (std::size_t i = 0; i < times; ++i) {
    result += text;
  }
  return result;
}

std::string shell_quoted(std::string_view word) {
  constexpr std::string_view plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:=,+@%";
  if (!word.empty() && word.find_first_not_of(plain) == std::string_view::npos) {
    return std::string(word);
  }
  std::string quoted = "'";
  for (const char c : word) {
    quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  }
  return quoted + "'";
}

std::string shell_command(const std::vector<std::string> &words) {
  std::string line;
  for (const auto &word : words) {
    line += (line.empty() ? "" : " ") + shell_quoted(word);
  }
  return line;
}

} // namespace duplex::report
