#pragma once
// JSON that Duplex writes, and reads back without trust.

#include <nlohmann/json.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace duplex::report {

using Json = nlohmann::ordered_json;

/// As text; what is not UTF-8, such as the name of a file, gets U+FFFD in its place.
template <class AnyJson> [[nodiscard]] std::string json_text(const AnyJson &json, int indent = -1) {
  return json.dump(indent, ' ', false, AnyJson::error_handler_t::replace);
}

/// Throws InvalidInput, with the name and the byte, where the text is no JSON.
[[nodiscard]] Json parsed_json(std::string_view text, const std::string &name);

/// The text of a file that knows its own checksum: two blanks of indent, the member "checksum" last.
[[nodiscard]] std::string sealed_text(Json object);

/// Throws InvalidInput, with the name, unless the text is what sealed_text() wrote, byte by byte.
[[nodiscard]] Json unsealed(std::string_view text, const std::string &name);

/// The members of an object, each of which must be there and be what is asked for; all throw InvalidInput with the
/// object's name, the member's, what was found and what was expected.
class JsonMembers {
public:
  JsonMembers(const Json &object, std::string name);

  [[nodiscard]] const Json &at(const char *member) const;
  [[nodiscard]] std::string text(const char *member) const;
  [[nodiscard]] std::uint64_t whole(const char *member, std::uint64_t least, std::uint64_t most) const;
  [[nodiscard]] double number(const char *member) const;
  [[nodiscard]] bool truth(const char *member) const;
  [[nodiscard]] std::vector<std::string> texts(const char *member) const;
  /// XXH3's 32 digits.
  [[nodiscard]] std::string hash(const char *member) const;
  /// An array, for its elements.
  [[nodiscard]] const Json &list(const char *member) const;

  [[noreturn]] void refuse(const char *member, const std::string &expected) const;

private:
  const Json *object_;
  std::string name_;
};

} // namespace duplex::report
