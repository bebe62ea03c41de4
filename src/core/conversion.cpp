#include <duplex/core/conversion.hpp>

#include <cmath>

namespace duplex {

std::int64_t whole_number(double value, std::int64_t least, std::int64_t most, const std::string &what) {
  const bool lies_within = value >= static_cast<double>(least) && value <= static_cast<double>(most);
  if (!lies_within || std::trunc(value) != value) {
    throw InvalidInput(what + " is " + number_text(value) + ", expected a whole number from " + std::to_string(least) +
                       " to " + std::to_string(most));
  }
  return static_cast<std::int64_t>(value);
}

double number_within(double value, const Bound &bound, const std::string &what) {
  if (!bound.holds(value)) {
    throw InvalidInput(what + " is " + number_text(value) + ", expected " + bound.text());
  }
  return value;
}

} // namespace duplex
