#include "catalog/options.hpp"
#include "fewshot/training.hpp"

namespace duplex::fewshot {

void put_settings(const Settings &settings, SavedState &state) {
  Settings::fields(settings, [&](std::string_view name, const auto &value, const Bound &, std::string_view,
                                 Role = Role::none) { state.put("setting " + std::string(name), field_text(value)); });
}

Settings settings_of(const SavedState &state) {
  Settings settings;
  Settings::fields(settings,
                   [&](std::string_view name, auto &value, const Bound &, std::string_view, Role = Role::none) {
                     const std::string entry = "setting " + std::string(name);
                     if (!state.has(entry)) {
                       throw InvalidInput("the checkpoint is not of duplex few-shot");
                     }
                     if (const auto &text = state.get<std::string>(entry); !catalog::read_field(text, value)) {
                       throw InvalidInput("'" + entry + "' of the saved state is '" + text + "'");
                     }
                   });
  return settings;
}

} // namespace duplex::fewshot
