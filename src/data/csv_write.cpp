#include "data/csv_write.hpp"

#include "data/text.hpp"

namespace duplex::data {
namespace {

bool may_be_a_formula(std::string_view text) {
  float ignored = 0.0F;
  return !text.empty() && std::string_view("=+-@\t\r\n").find(text.front()) != std::string_view::npos &&
         parse_number(text, ignored) == Parsed::not_a_number;
}

} // namespace

std::string csv_cell(std::string_view text) {
  return cell_as_it_is(may_be_a_formula(text) ? "'" + std::string(text) : std::string(text));
}

std::string cell_as_it_is(std::string_view text) {
  const bool has_outer_blanks = trimmed(text).size() != text.size();
  const bool is_plain = !has_outer_blanks && text.find_first_of(",;\t|\"\r\n") == std::string_view::npos;
  return is_plain ? std::string(text) : quoted_cell(text);
}

std::string quoted_cell(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) {
    quoted += c;
    if (c == '"') {
      quoted += c;
    }
  }
  return quoted + '"';
}

} // namespace duplex::data
