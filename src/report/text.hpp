#pragma once
// UTF-8 text measured and cut as it is shown.

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace duplex::report {

struct Glyph {
  std::string_view bytes;
  char32_t code;
  bool combining;
};

/// Bytes that are not UTF-8 become U+FFFD, control characters become spaces.
[[nodiscard]] std::vector<Glyph> glyphs(std::string_view text);

[[nodiscard]] std::size_t display_width(std::string_view text);

/// The text on one line, cut to the width with an ellipsis.
[[nodiscard]] std::string elided(std::string_view text, std::size_t width);

[[nodiscard]] std::string left_aligned(std::string_view text, std::size_t width);
[[nodiscard]] std::string right_aligned(std::string_view text, std::size_t width);
[[nodiscard]] std::string repeated(std::string_view text, std::size_t times);

[[nodiscard]] std::string superscript(int number);

} // namespace duplex::report
