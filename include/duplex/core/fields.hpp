#pragma once
// Options that describe themselves. A struct of options lists its fields once:
//
//   template <class Self, class Visit> static void fields(Self& self, Visit&& visit) {
//     visit("alpha", self.alpha, positive, "upper step size");
//   }
//
// and validation, the command line, `duplex list` and the JSON output all read
// that list. A field is a double, an integer, a bool, a string or an enum whose
// names are given by an overload of names_of(Enum). An option that means something to the run which is given it, such
// as a step size that a run which diverges makes smaller, says so by its role, the last argument of visit.

#include <duplex/core/error.hpp>

#include <cmath>
#include <concepts>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

namespace duplex {

struct Bound {
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();
  bool low_open = false;
  bool high_open = false;

  [[nodiscard]] bool holds(double value) const {
    return (low_open ? value > low : value >= low) && (high_open ? value < high : value <= high);
  }
  [[nodiscard]] std::string text() const;
  [[nodiscard]] std::string text_of_whole_number() const;
};

/// What an option means to those who do not know its name.
enum class Role : std::uint8_t {
  none,
  upper_step,      ///< α, of x
  lower_step,      ///< β, of y
  multiplier_step, ///< η, of v
  multiplier_cap,  ///< the largest that a line search may take for η
  series_step,     ///< γ, of a series whose sum v is
};

inline constexpr double infinity = std::numeric_limits<double>::infinity();
inline constexpr Bound any_number{};
inline constexpr Bound finite_number{.low_open = true, .high_open = true};
inline constexpr Bound positive{.low = 0.0, .low_open = true};
inline constexpr Bound finite_positive{.low = 0.0, .high = infinity, .low_open = true, .high_open = true};
inline constexpr Bound non_negative{.low = 0.0};
inline constexpr Bound finite_non_negative{.low = 0.0, .high = infinity, .high_open = true};
inline constexpr Bound at_least_one{.low = 1.0};
inline constexpr Bound below_one{.low = 0.0, .high = 1.0, .high_open = true};

/// Shortest text that reads back as the same number.
[[nodiscard]] std::string number_text(double value);

template <class T>
concept NamedEnum = std::is_enum_v<T> && requires(T value) {
  { names_of(value) } -> std::convertible_to<std::span<const std::string_view>>;
};

template <NamedEnum E> [[nodiscard]] std::string_view name_of(E value) {
  return names_of(value)[static_cast<std::size_t>(value)];
}

/// The value of a field as text.
template <class T> [[nodiscard]] std::string field_text(const T &value) {
  if constexpr (std::same_as<T, bool>) {
    return value ? "true" : "false";
  } else if constexpr (NamedEnum<T>) {
    return std::string(name_of(value));
  } else if constexpr (std::floating_point<T>) {
    return number_text(value);
  } else if constexpr (std::integral<T>) {
    return std::to_string(value);
  } else {
    return std::string(value);
  }
}

/// What a field accepts, as text.
template <class T> [[nodiscard]] std::string accepted_text(const Bound &bound) {
  if constexpr (std::same_as<T, bool>) {
    return "true or false";
  } else if constexpr (NamedEnum<T>) {
    std::string text = "one of";
    for (const auto name : names_of(T{})) {
      text += (text.size() > 6 ? ", " : " ") + std::string(name);
    }
    return text;
  } else if constexpr (std::integral<T>) {
    return bound.text_of_whole_number();
  } else if constexpr (std::floating_point<T>) {
    return bound.text();
  } else {
    return "text";
  }
}

[[noreturn]] void refuse_field(std::string_view owner, std::string_view field, const std::string &found,
                               const std::string &expected);

/// Throws InvalidInput with owner, field, value and bound if a field is out of
/// its bound.
template <class Options> void validate(const Options &options, std::string_view owner) {
  Options::fields(
      options, [&](std::string_view field, const auto &value, const Bound &bound, std::string_view, Role = Role::none) {
        using T = std::remove_cvref_t<decltype(value)>;
        if constexpr (std::is_arithmetic_v<T> && !std::same_as<T, bool>) {
          if (!bound.holds(static_cast<double>(value))) {
            refuse_field(owner, field, field_text(value), accepted_text<T>(bound));
          }
        }
      });
}

} // namespace duplex
