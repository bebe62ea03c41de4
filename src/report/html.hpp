#pragma once
// report.html: one file that shows what a command found, without any network.

#include <nlohmann/json_fwd.hpp>

#include <string>
#include <string_view>

namespace duplex::report {

/// Whether this tool was built with the page; `html_unavailable_reason` says why it was not.
[[nodiscard]] bool html_available();

inline constexpr std::string_view html_unavailable_reason =
    "this build has no report page: it was configured without npm";

/// The page that shows `data`, of the shape in docs/report.md. Strings may hold anything: markup in
/// them is shown as text, and what is not UTF-8 is replaced. Throws std::runtime_error with the
/// reason if there is no page in this tool.
[[nodiscard]] std::string html_page(const nlohmann::json &data);

/// The same with a page of one's own, where `{{report-data}}` stands once in a JSON script element.
[[nodiscard]] std::string html_page(std::string_view page_template, const nlohmann::json &data);

} // namespace duplex::report
