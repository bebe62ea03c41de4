#pragma once
// What a cell of a table may be besides a number.

#include <optional>
#include <string_view>

namespace duplex::data {

/// Nothing, NA, N/A, NaN, null, ? or -, in any case.
[[nodiscard]] bool is_missing(std::string_view cell);

/// true and yes, false and no, in any case.
[[nodiscard]] std::optional<bool> truth_of(std::string_view cell);

/// Days since 1970-01-01 of an ISO 8601 date, with or without a time of the day: 2026-03-01, 2026-03-01T09:30,
/// 2026-03-01 09:30:00.5Z, 2026-03-01T09:30:00+02:00. Times without a zone are taken for UTC.
[[nodiscard]] std::optional<double> days_of(std::string_view cell);

} // namespace duplex::data
