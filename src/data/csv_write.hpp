#pragma once
// Cells that read back as they were, and that a spreadsheet shows rather than runs.

#include <string>
#include <string_view>

namespace duplex::data {

/// Quoted by RFC 4180 where it needs to be. Text that begins with = + - @, a tab or a line's end gets a leading
/// ', unless it is a number: spreadsheets would take it for a formula.
[[nodiscard]] std::string csv_cell(std::string_view text);

/// The same without the leading ', for text that must stay what it is.
[[nodiscard]] std::string cell_as_it_is(std::string_view text);
/// In quotes, whether it needs them or not.
[[nodiscard]] std::string quoted_cell(std::string_view text);

} // namespace duplex::data
