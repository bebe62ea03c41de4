#pragma once
// The options of a method that are step sizes, by their roles: all that recovery and diagnosis know of a method.

#include <duplex/core/fields.hpp>

#include <algorithm>
#include <concepts>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace duplex {

struct StepOption {
  Role role = Role::none;
  std::string name;
  double value = 0.0;
};

class StepOptions {
public:
  StepOptions() = default;
  explicit StepOptions(std::vector<StepOption> options) : options_(std::move(options)) {}

  template <class Method> [[nodiscard]] static StepOptions of(const Method &method) {
    std::vector<StepOption> options;
    Method::fields(method, [&](std::string_view name, const auto &value, const Bound & /*bound*/,
                               std::string_view /*help*/, Role role = Role::none) {
      if constexpr (std::same_as<std::remove_cvref_t<decltype(value)>, double>) {
        if (role != Role::none) {
          options.push_back({role, std::string(name), value});
        }
      }
    });
    return StepOptions(std::move(options));
  }

  /// Writes the values back to the method.
  template <class Method> void apply_to(Method &method) const {
    Method::fields(method, [&](std::string_view /*name*/, auto &value, const Bound & /*bound*/,
                               std::string_view /*help*/, Role role = Role::none) {
      if constexpr (std::same_as<std::remove_cvref_t<decltype(value)>, double>) {
        if (const StepOption *option = find(role); option != nullptr) {
          value = option->value;
        }
      }
    });
  }

  /// True where a method chooses its steps by itself.
  [[nodiscard]] bool empty() const { return options_.empty(); }
  [[nodiscard]] std::vector<StepOption> &all() { return options_; }
  [[nodiscard]] bool has(Role role) const { return find(role) != nullptr; }
  /// The name of a step, as the method calls it or, where it has no such option, as the paper does.
  [[nodiscard]] std::string name(Role role) const {
    if (has(role)) {
      return find(role)->name;
    }
    return role == Role::upper_step ? "alpha" : role == Role::lower_step ? "beta" : "eta";
  }

  /// What bounds the steps of v: the cap of a line search on η, η itself, the step of a series or, where a method has
  /// none of them, β.
  [[nodiscard]] Role multiplier() const {
    for (const Role role : {Role::multiplier_cap, Role::multiplier_step, Role::series_step}) {
      if (has(role)) {
        return role;
      }
    }
    return Role::lower_step;
  }

  template <class Archive> void archive(Archive &members) {
    for (StepOption &option : options_) {
      members(option.name, option.value);
    }
  }

private:
  [[nodiscard]] const StepOption *find(Role role) const {
    const auto at = std::find_if(options_.begin(), options_.end(),
                                 [role](const StepOption &option) { return option.role == role; });
    return role == Role::none || at == options_.end() ? nullptr : &*at;
  }

  std::vector<StepOption> options_; ///< each role at most once
};

} // namespace duplex
