#pragma once
// Numbers that were read from a file, and so may be anything, as numbers that a program can count on: a conversion that
// would lose something, or is not defined at all, is refused.

#include <duplex/core/error.hpp>
#include <duplex/core/fields.hpp>

#include <concepts>
#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>

namespace duplex {

/// The largest whole number up to which doubles hold all of them.
inline constexpr std::int64_t most_in_double = std::int64_t{1} << 53U;

/// The whole number that `value` is. Throws InvalidInput, with `what` it is, unless it is one from `least` to `most`,
/// which lie within ±most_in_double.
[[nodiscard]] std::int64_t whole_number(double value, std::int64_t least, std::int64_t most, const std::string &what);

/// The value itself. Throws InvalidInput, with `what` it is, unless the bound holds for it; for a NaN none does.
[[nodiscard]] double number_within(double value, const Bound &bound, const std::string &what);

/// The enumerator with that number. Throws InvalidInput, with `what` it is, where there is none.
template <NamedEnum E> [[nodiscard]] E enumerator(std::int64_t number, const std::string &what) {
  const auto count = static_cast<std::int64_t>(names_of(E{}).size());
  if (number < 0 || number >= count) {
    throw InvalidInput(what + " is " + std::to_string(number) + ", expected a whole number from 0 to " +
                       std::to_string(count - 1));
  }
  return static_cast<E>(number);
}

/// The largest number of that type that a saved state may hold. Signed ones are counts: a quarter of what fits, so that
/// what a run adds to them, or twice as much, fits too.
template <std::integral T>
inline constexpr T most_saved = std::is_signed_v<T> ? static_cast<T>(std::numeric_limits<T>::max() / 4)
                                                    : std::numeric_limits<T>::max();

/// A whole number as it is kept, 64 bits with a sign, in its own type. Throws InvalidInput, with `what` it is, where it
/// is negative or larger than most_saved; of 64 bits without a sign all are right.
template <std::integral T> [[nodiscard]] T saved_integer(std::int64_t kept, const std::string &what) {
  if constexpr (std::unsigned_integral<T> && sizeof(T) == sizeof kept) {
    return static_cast<T>(kept);
  } else {
    constexpr auto most = static_cast<std::int64_t>(most_saved<T>);
    if (kept < 0 || kept > most) {
      throw InvalidInput(what + " is " + std::to_string(kept) + ", expected a whole number from 0 to " +
                         std::to_string(most));
    }
    return static_cast<T>(kept);
  }
}

} // namespace duplex
