#pragma once
// UTF-8 text measured and cut as it is shown, and words as a shell takes them.

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

/// One word for a POSIX shell, whatever bytes it holds: quoted where it must be.
[[nodiscard]] std::string shell_quoted(std::string_view word);
/// Words with blanks between them, each quoted where it must be.
[[nodiscard]] std::string shell_command(const std::vector<std::string> &words);

} // namespace duplex::report
