#include "names/spec.hpp"

#include <algorithm>

namespace duplex::names {

Spec parse_spec(std::string_view text) {
  Spec spec;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(':', begin), text.size());
    const std::string_view part = text.substr(begin, end - begin);
    if (begin == 0) {
      spec.name = part;
    } else {
      const std::size_t equals = std::min(part.find('='), part.size());
      const bool has_value = equals < part.size();
      spec.settings.emplace_back(part.substr(0, equals), has_value ? part.substr(equals + 1) : "true");
    }
    begin = end + 1;
  }
  return spec;
}

} // namespace duplex::names
