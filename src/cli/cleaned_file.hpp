#pragma once
// cleaned.csv: the training file again, with what was found.

#include "clean/outcome.hpp"
#include "cli/clean_arguments.hpp"
#include "cli/clean_input.hpp"
#include "report/files.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace duplex::cli {

/// What becomes of suspects: columns tell them apart, their rows are dropped, or they get the suggested label.
enum class CleanedAs : std::uint8_t { flag, drop, relabel, none };
inline constexpr std::array<std::string_view, 4> cleaned_as_names{"flag", "drop", "relabel", "none"};
constexpr const auto &names_of(CleanedAs /*unused*/) { return cleaned_as_names; }

/// Throws InvalidInput where a file is asked for that the training data cannot have, since they are no CSV file.
void require_cleaned_file(const CleanArguments &arguments, const data::Dataset &training);

/// Reads the training file again while it is written; all that is given must live until then. None where the data are
/// no CSV file or none is asked for.
[[nodiscard]] std::optional<report::NamedContent> cleaned_file(const CleanArguments &arguments, const CleanInput &input,
                                                               const clean::Outcome &outcome);

} // namespace duplex::cli
