#pragma once
// Decimal numbers at the speed of the digits, where they need no care.

#include <array>
#include <bit>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <system_error>

namespace duplex::data {

namespace detail {

inline constexpr std::array<double, 23> powers_of_ten = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                                         1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                                         1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

/// Appends the digits at `at` and passes over them; wrong, and more than 2^53, where they are too many.
inline const char *take_digits(const char *at, const char *end, std::uint64_t &digits) {
  constexpr std::uint64_t most = std::uint64_t{1} << 59U; // ten times that still fits
  for (; at != end && static_cast<unsigned char>(*at - '0') < 10; ++at) {
    digits = digits < most ? digits * 10 + static_cast<std::uint64_t>(*at - '0') : digits;
  }
  return at;
}

/// e-05
inline const char *take_exponent(const char *at, const char *end, std::ptrdiff_t &power) {
  const bool down = at != end && *at == '-';
  at += at != end && (*at == '-' || *at == '+') ? 1 : 0;
  std::uint64_t exponent = 0;
  const char *stop = take_digits(at, end, exponent);
  constexpr std::uint64_t most = 9999;
  if (stop == at || exponent > most) {
    return nullptr;
  }
  power += down ? -static_cast<std::ptrdiff_t>(exponent) : static_cast<std::ptrdiff_t>(exponent);
  return stop;
}

inline const char *careful_number(const char *begin, const char *end, float &value) {
  const auto [stop, error] = std::from_chars(begin, end, value);
  return error == std::errc{} ? stop : nullptr;
}

} // namespace detail

/// Reads the number that begins with a digit, a point or a minus, rounds it to nearest and gives the place after
/// it; null where that is no number or is out of range.
inline const char *quick_number(const char *begin, const char *end, float &value) {
  const char *at = begin;
  const bool negative = at != end && *at == '-';
  at += negative ? 1 : 0;
  const char *const first = at;
  std::uint64_t digits = 0;
  at = detail::take_digits(at, end, digits);
  std::ptrdiff_t count = at - first;
  std::ptrdiff_t power = 0;
  if (at != end && *at == '.') {
    const char *const point = ++at;
    at = detail::take_digits(at, end, digits);
    power = point - at;
    count -= power;
  }
  if (count == 0) {
    return nullptr;
  }
  if (at != end && (*at == 'e' || *at == 'E')) {
    at = detail::take_exponent(at + 1, end, power);
  }
  constexpr std::uint64_t exact_digits = std::uint64_t{1} << 53U;
  constexpr std::ptrdiff_t exact_power = detail::powers_of_ten.size() - 1;
  if (at == nullptr || digits > exact_digits || power < -exact_power || power > exact_power) {
    return detail::careful_number(begin, end, value);
  }
  // Both operands are exact, so the result is rounded once; rounding it again, to float, does no
  // harm unless it lies half-way between two floats.
  const auto whole = static_cast<double>(digits);
  const double wide = power == 0  ? whole
                      : power < 0 ? whole / detail::powers_of_ten[static_cast<std::size_t>(-power)]
                                  : whole * detail::powers_of_ten[static_cast<std::size_t>(power)];
  constexpr std::uint64_t beyond_float = (std::uint64_t{1} << 29U) - 1;
  if ((std::bit_cast<std::uint64_t>(wide) & beyond_float) == (beyond_float + 1) / 2) {
    return detail::careful_number(begin, end, value);
  }
  value = static_cast<float>(negative ? -wide : wide);
  return at;
}

} // namespace duplex::data
