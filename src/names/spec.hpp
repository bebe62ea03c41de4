#pragma once
// "name:key=value:key=value"

#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace duplex::names {

using OptionValues = std::vector<std::pair<std::string, std::string>>;

/// Options with what they are set to: a text as on the command line, or a number as it is.
using OptionDefaults = std::vector<std::pair<std::string, std::variant<std::string, double>>>;

struct Spec {
  std::string name;
  OptionValues settings;
};

[[nodiscard]] Spec parse_spec(std::string_view text);

} // namespace duplex::names
