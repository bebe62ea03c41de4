#pragma once
// Options by name: text into the fields of an options struct, and back.

#include "names/suggest.hpp"

#include <duplex/core/fields.hpp>

#include <charconv>
#include <concepts>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace duplex::catalog {

struct OptionInfo {
  std::string name;
  std::string value; ///< as text
  std::string accepted;
  std::string help;
  bool is_switch = false; ///< a bool: `--name` alone means true
  Role role = Role::none;
};

template <class Options> [[nodiscard]] std::vector<OptionInfo> describe(const Options &options) {
  std::vector<OptionInfo> infos;
  Options::fields(options, [&](std::string_view name, const auto &value, const Bound &bound, std::string_view help,
                               Role role = Role::none) {
    using T = std::remove_cvref_t<decltype(value)>;
    infos.push_back({std::string(name), field_text(value), accepted_text<T>(bound), std::string(help),
                     std::same_as<T, bool>, role});
  });
  return infos;
}

/// name:option=value:… with every option.
[[nodiscard]] inline std::string spec_text(std::string_view name, const std::vector<OptionInfo> &options) {
  std::string text(name);
  for (const auto &info : options) {
    text += ":" + info.name + "=" + info.value;
  }
  return text;
}

/// Reads text into a field; false if the text is not of the field's kind.
template <class T> [[nodiscard]] bool read_field(std::string_view text, T &field) {
  if constexpr (std::same_as<T, bool>) {
    field = text == "true" || text == "1" || text == "yes";
    return field || text == "false" || text == "0" || text == "no";
  } else if constexpr (NamedEnum<T>) {
    const auto &names = names_of(T{});
    for (std::size_t i = 0; i < names.size(); ++i) {
      if (names[i] == text) {
        field = static_cast<T>(i);
        return true;
      }
    }
    return false;
  } else if constexpr (std::is_arithmetic_v<T>) {
    if (text.starts_with('+') && !text.starts_with("+-")) {
      text.remove_prefix(1);
    }
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), field);
    return error == std::errc{} && end == text.data() + text.size();
  } else {
    field = text;
    return true;
  }
}

/// The choice that the text names. Throws InvalidInput, with `what` it is, with those that there are.
template <NamedEnum E> [[nodiscard]] E named(const std::string &what, const std::string &text) {
  E value{};
  if (!read_field(text, value)) {
    std::vector<std::string> known;
    for (const auto name : names_of(E{})) {
      known.emplace_back(name);
    }
    throw InvalidInput(names::unknown_name(what, text, known));
  }
  return value;
}

/// What a field of that bound accepts in the place of the text; with the limits of its type where the text is a whole
/// number that is beyond them.
template <class T> [[nodiscard]] std::string expected_text(std::string_view text, const Bound &bound) {
  if constexpr (std::integral<T> && !std::same_as<T, bool>) {
    const std::string_view digits = text.substr(text.starts_with('-') || text.starts_with('+') ? 1 : 0);
    if (!digits.empty() && digits.find_first_not_of("0123456789") == std::string_view::npos) {
      constexpr auto least = std::numeric_limits<T>::min();
      constexpr auto most = std::numeric_limits<T>::max();
      const bool has_low = bound.low > static_cast<double>(least);
      const bool has_high = bound.high < static_cast<double>(most);
      return "a whole number >= " + (has_low ? number_text(bound.low) : std::to_string(least)) +
             " and <= " + (has_high ? number_text(bound.high) : std::to_string(most));
    }
  }
  return accepted_text<T>(bound);
}

/// Sets one option. False if there is none of that name; throws InvalidInput where
/// the value is not of its kind.
template <class Options>
bool set_option(Options &options, std::string_view owner, std::string_view name, std::string_view text) {
  bool found = false;
  Options::fields(
      options, [&](std::string_view field, auto &value, const Bound &bound, std::string_view, Role = Role::none) {
        if (field == name) {
          found = true;
          if (!read_field(text, value)) {
            throw InvalidInput(std::string(owner) + ": " + std::string(name) + " = '" + std::string(text) +
                               "', expected " + expected_text<std::remove_cvref_t<decltype(value)>>(text, bound));
          }
        }
      });
  return found;
}

/// The same with a number, which stays as it is.
template <class Options>
bool set_option(Options &options, std::string_view owner, std::string_view name, double number) {
  bool found = false;
  Options::fields(options,
                  [&](std::string_view field, auto &value, const Bound &bound, std::string_view, Role = Role::none) {
                    using T = std::remove_cvref_t<decltype(value)>;
                    if (field == name) {
                      found = true;
                      if constexpr (std::floating_point<T>) {
                        value = static_cast<T>(number);
                      } else {
                        throw InvalidInput(std::string(owner) + ": " + std::string(name) + " = " + number_text(number) +
                                           ", expected " + accepted_text<T>(bound));
                      }
                    }
                  });
  return found;
}

} // namespace duplex::catalog
