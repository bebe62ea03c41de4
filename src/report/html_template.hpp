#pragma once
// The report page without its data, made at build time from the folder report/.

#include <string_view>

namespace duplex::report {

/// Empty in a tool that was built without npm.
[[nodiscard]] std::string_view html_template();

} // namespace duplex::report
