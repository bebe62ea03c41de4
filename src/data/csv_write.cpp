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
  std::string cell = may_be_a_formula(text) ? "'" : "";
  cell += text;
  const bool has_outer_blanks = trimmed(cell).size() != cell.size();
  if (!has_outer_blanks && cell.find_first_of(",;\t\"\r\n") == std::string::npos) {
    return cell;
  }
  std::string quoted = "\"";
  for (const char c : cell) {
    quoted += c;
    if (c == '"') {
      quoted += c;
    }
  }
  return quoted + '"';
}

} // namespace duplex::data
