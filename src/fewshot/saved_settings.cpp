#include "catalog/options.hpp"
#include "fewshot/training.hpp"

namespace duplex::fewshot {

Settings settings_of(const checkpoint::Checkpoint &state) {
  Settings settings;
  Settings::fields(settings, [&](std::string_view name, auto &value, const Bound &, std::string_view) {
    const std::string entry = "setting " + std::string(name);
    if (const std::string text = state.text(entry); !catalog::read_field(text, value)) {
      throw InvalidInput("'" + entry + "' of the checkpoint is '" + text + "'");
    }
  });
  return settings;
}

} // namespace duplex::fewshot
