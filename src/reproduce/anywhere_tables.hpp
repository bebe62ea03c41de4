#pragma once
// The data sets of clean-anywhere: tables and texts that scripts/tables.sh writes, and tables that are drawn here.

#include "data/dataset.hpp"

#include <array>
#include <filesystem>
#include <string_view>

namespace duplex::reproduce {

/// Settings of cleaning were chosen on the one half; what is reported of the other had no part in that.
enum class TableHalf : std::uint8_t { design, report };

struct AnywhereTable {
  std::string_view name;
  TableHalf half;
};

inline constexpr std::array<AnywhereTable, 22> anywhere_tables{{
    {"digits", TableHalf::design},     {"iris", TableHalf::design},     {"spam", TableHalf::design},
    {"pima", TableHalf::design},       {"dna", TableHalf::design},      {"glass", TableHalf::design},
    {"vehicle", TableHalf::design},    {"vowel", TableHalf::design},    {"moons", TableHalf::design},
    {"foldoc", TableHalf::design},     {"breast", TableHalf::report},   {"wine", TableHalf::report},
    {"satellite", TableHalf::report},  {"letter", TableHalf::report},   {"sonar", TableHalf::report},
    {"ionosphere", TableHalf::report}, {"shuttle", TableHalf::report},  {"musk", TableHalf::report},
    {"circles", TableHalf::report},    {"clusters", TableHalf::report}, {"gauss20", TableHalf::report},
    {"packages", TableHalf::report},
}};

/// Throws InvalidInput, saying how to get it, where the file of a table is not in the folder (empty: the usual one).
[[nodiscard]] data::Dataset anywhere_table(std::string_view name, const std::filesystem::path &folder,
                                           const data::ReadOptions &reading = {});

/// Which of them are texts.
[[nodiscard]] constexpr bool is_text(std::string_view table) { return table == "foldoc" || table == "packages"; }

} // namespace duplex::reproduce
