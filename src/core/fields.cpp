#include <duplex/core/fields.hpp>

#include <charconv>
#include <cmath>
#include <iterator>

namespace duplex {

std::string number_text(double value) {
  char buffer[32];
  const auto end = std::to_chars(std::begin(buffer), std::end(buffer), value).ptr;
  return {std::begin(buffer), end};
}

std::string Bound::text() const {
  const bool bounded_below = std::isfinite(low);
  const bool bounded_above = std::isfinite(high);
  const std::string finite = !bounded_above && high_open ? " and finite" : "";
  const std::string below = std::string(low_open ? "> " : ">= ") + number_text(low);
  const std::string above = std::string(high_open ? "< " : "<= ") + number_text(high);
  if (bounded_below && bounded_above) {
    return below + " and " + above;
  }
  if (bounded_below) {
    return below + finite;
  }
  if (bounded_above) {
    return above;
  }
  return high_open ? "a finite number" : "a number";
}

std::string Bound::text_of_whole_number() const {
  return std::isfinite(low) || std::isfinite(high) ? "a whole number " + text() : "a whole number";
}

void refuse_field(std::string_view owner, std::string_view field, const std::string &found,
                  const std::string &expected) {
  throw InvalidInput(std::string(owner) + ": " + std::string(field) + " = " + found + ", expected " + expected);
}

} // namespace duplex
