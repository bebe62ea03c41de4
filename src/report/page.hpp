#pragma once
// Pieces that the data of every report page have.

#include <nlohmann/json.hpp>

#include <string>

namespace duplex::report {

using Json = nlohmann::ordered_json;

/// "12 345", with narrow spaces.
[[nodiscard]] std::string grouped(std::size_t number);
/// "81.4 %"
[[nodiscard]] std::string percent(double part);
/// "2026-03-01T09:30:00Z"
[[nodiscard]] std::string utc_now();

[[nodiscard]] std::string base64(const std::string &bytes);

/// A table of an object's members.
[[nodiscard]] Json members_section(const std::string &title, const Json &members);

} // namespace duplex::report
