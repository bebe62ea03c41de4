#include "report/html.hpp"

#include "report/html_template.hpp"
#include "report/json_file.hpp"

#include <nlohmann/json.hpp>

#include <array>
#include <stdexcept>
#include <utility>

namespace duplex::report {
namespace {

constexpr std::string_view data_place = "{{report-data}}";

// What could end a script element, open a comment, or end a line in a script. In JSON all of it
// can only stand inside strings, where an escape means the same.
constexpr std::array<std::pair<std::string_view, std::string_view>, 5> escapes{
    {{"<", "\\u003c"}, {">", "\\u003e"}, {"&", "\\u0026"}, {"\xE2\x80\xA8", "\\u2028"}, {"\xE2\x80\xA9", "\\u2029"}}};

std::string escaped_for_script(std::string_view json) {
  std::string result;
  result.reserve(json.size() + json.size() / 16);
  while (!json.empty()) {
    const std::size_t plain = json.find_first_of("<>&\xE2");
    result += json.substr(0, plain);
    if (plain == std::string_view::npos) {
      break;
    }
    json.remove_prefix(plain);
    std::string_view found = json.substr(0, 1);
    std::string_view replacement = found;
    for (const auto &[character, escape] : escapes) {
      if (json.starts_with(character)) {
        found = character;
        replacement = escape;
      }
    }
    result += replacement;
    json.remove_prefix(found.size());
  }
  return result;
}

} // namespace

bool html_available() { return !html_template().empty(); }

std::string html_page(const nlohmann::json &data) {
  if (!html_available()) {
    throw std::runtime_error(std::string(html_unavailable_reason));
  }
  return html_page(html_template(), data);
}

std::string html_page(std::string_view page_template, const nlohmann::json &data) {
  const std::size_t place = page_template.find(data_place);
  if (place == std::string_view::npos) {
    throw std::runtime_error("the report page has no place for its data");
  }
  const std::string json = json_text(data);
  std::string page(page_template.substr(0, place));
  page += escaped_for_script(json);
  page += page_template.substr(place + data_place.size());
  return page;
}

} // namespace duplex::report
