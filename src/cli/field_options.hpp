#pragma once
// A struct of options that describe themselves (duplex/fields.hpp) as options of a command.

#include "catalog/options.hpp"

#include <CLI/CLI.hpp>

#include <string>
#include <type_traits>

namespace duplex::cli {

/// An option that takes a number, by the rules of catalog::read_field: 010 is ten, and what does not fit is refused
/// with what was expected.
template <class Number>
CLI::Option *add_number(CLI::App &command, const std::string &name, Number &value, const Bound &bound,
                        const std::string &help) {
  const auto read = [&value, name, bound](const std::string &text) {
    if (!catalog::read_field(text, value)) {
      throw InvalidInput(name + " = '" + text + "', expected " + catalog::expected_text<Number>(text, bound));
    }
    if (!bound.holds(static_cast<double>(value))) {
      throw InvalidInput(name + " = " + text + ", expected " + accepted_text<Number>(bound));
    }
  };
  return command.add_option_function<std::string>(name, read, help)
      ->type_name("NUMBER")
      ->default_str(field_text(value));
}

template <class Settings> void add_field_options(CLI::App &command, Settings &settings, const std::string &owner) {
  Settings::fields(
      settings, [&](std::string_view name, auto &value, const Bound &bound, std::string_view help, Role = Role::none) {
        const auto read = [&value, name, bound, owner](const std::string &text) {
          if (!catalog::read_field(text, value)) {
            throw InvalidInput(owner + ": " + std::string(name) + " = '" + text + "', expected " +
                               catalog::expected_text<std::remove_cvref_t<decltype(value)>>(text, bound));
          }
        };
        command.add_option_function<std::string>("--" + std::string(name), read, std::string(help))
            ->type_name(std::is_arithmetic_v<std::remove_cvref_t<decltype(value)>> ? "NUMBER" : "TEXT")
            ->default_str(field_text(value));
      });
}

} // namespace duplex::cli
