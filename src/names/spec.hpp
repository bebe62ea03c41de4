#pragma once
// "name:key=value:key=value"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace duplex::catalog {

using OptionValues = std::vector<std::pair<std::string, std::string>>;

struct Spec {
  std::string name;
  OptionValues settings;
};

[[nodiscard]] Spec parse_spec(std::string_view text);

} // namespace duplex::catalog
