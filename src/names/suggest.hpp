#pragma once
// "Did you mean ...?"

#include <string>
#include <string_view>
#include <vector>

namespace duplex::names {

/// The known name that alone begins so, else the nearest to a misspelt one, or empty if none is near.
[[nodiscard]] std::string nearest(std::string_view name, const std::vector<std::string> &known);

/// "unknown KIND 'NAME'; did you mean 'X'? known: a, b, c"
[[nodiscard]] std::string unknown_name(std::string_view kind, std::string_view name,
                                       const std::vector<std::string> &known);

} // namespace duplex::names
