#pragma once
// Small pieces of text and numbers.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace duplex::data {

/// Without blanks around it.
[[nodiscard]] std::string_view trimmed(std::string_view text);

/// Fit for a message: short, with control characters escaped.
[[nodiscard]] std::string shown(std::string_view text);

[[nodiscard]] bool is_utf8(std::string_view text);
/// False where the code point does not exist.
[[nodiscard]] bool append_utf8(std::string &text, std::uint32_t code_point);

[[nodiscard]] std::string lower_case(std::string_view text);

enum class Parsed : std::uint8_t { ok, not_a_number, too_large };

/// The finite decimal number that the text is, blanks around it aside; rounded to nearest.
[[nodiscard]] Parsed parse_number(std::string_view text, float &value);

/// Of text that is such a number, to all its digits.
[[nodiscard]] double precise_number(std::string_view text);

/// A whole number, with an optional sign, that fits into 64 bits.
[[nodiscard]] bool parse_whole(std::string_view text, std::int64_t &value);

/// Names of columns with commas between them, none of an empty text. Throws InvalidInput, with the option, where one is
/// empty.
[[nodiscard]] std::vector<std::string> listed_columns(const std::string &option, const std::string &text);

} // namespace duplex::data
