#include "report/json_file.hpp"

#include "report/hash.hpp"
#include "report/text.hpp"

#include <duplex/core/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace duplex::report {

namespace {

constexpr const char *checksum = "checksum";

std::string checksum_of(const Json &without_it) { return hash_of(json_text(without_it)); }

} // namespace

Json parsed_json(std::string_view text, const std::string &name) {
  constexpr int deepest = 64; // what writes JSON goes as deep as the JSON does
  const auto is_not_too_deep = [&](int depth, Json::parse_event_t /*event*/, const Json & /*parsed*/) {
    if (depth > deepest) {
      throw InvalidInput(fmt::format("{}: is damaged: JSON deeper than {} levels", name, deepest));
    }
    return true;
  };
  try {
    return Json::parse(text, is_not_too_deep);
  } catch (const Json::parse_error &error) {
    throw InvalidInput(fmt::format("{}: is damaged: no JSON from byte {} on", name, error.byte));
  } catch (const Json::exception &) { // such as a number beyond all bounds
    throw InvalidInput(fmt::format("{}: is damaged: JSON that cannot be read", name));
  }
}

std::string sealed_text(Json object) {
  object.erase(checksum);
  object[checksum] = checksum_of(object);
  return json_text(object, 2) + "\n";
}

Json unsealed(std::string_view text, const std::string &name) {
  Json object = parsed_json(text, name);
  if (!object.is_object() || !object.contains(checksum)) {
    throw InvalidInput(fmt::format("{}: has no checksum, expected one: it is damaged, or not of this version", name));
  }
  if (sealed_text(object) != text) {
    throw InvalidInput(fmt::format("{}: is damaged or was changed: its checksum does not match", name));
  }
  object.erase(checksum);
  return object;
}

JsonMembers::JsonMembers(const Json &object, std::string name) : object_(&object), name_(std::move(name)) {
  if (!object.is_object()) {
    throw InvalidInput(fmt::format("{}: found {}, expected an object", name_, elided(json_text(object), 40)));
  }
}

const Json &JsonMembers::at(const char *member) const {
  const auto found = object_->find(member);
  if (found == object_->end()) {
    throw InvalidInput(fmt::format("{}: has no member '{}'", name_, member));
  }
  return *found;
}

void JsonMembers::refuse(const char *member, const std::string &expected) const {
  throw InvalidInput(
      fmt::format("{}: {} = {}, expected {}", name_, member, elided(json_text(at(member)), 40), expected));
}

std::string JsonMembers::text(const char *member) const {
  if (!at(member).is_string()) {
    refuse(member, "text");
  }
  return at(member).get<std::string>();
}

std::uint64_t JsonMembers::whole(const char *member, std::uint64_t least, std::uint64_t most) const {
  const Json &value = at(member);
  if (!value.is_number_unsigned() || value.get<std::uint64_t>() < least || value.get<std::uint64_t>() > most) {
    refuse(member, fmt::format("a whole number from {} to {}", least, most));
  }
  return value.get<std::uint64_t>();
}

double JsonMembers::number(const char *member) const {
  if (!at(member).is_number() || !std::isfinite(at(member).get<double>())) {
    refuse(member, "a finite number");
  }
  return at(member).get<double>();
}

bool JsonMembers::truth(const char *member) const {
  if (!at(member).is_boolean()) {
    refuse(member, "true or false");
  }
  return at(member).get<bool>();
}

std::vector<std::string> JsonMembers::texts(const char *member) const {
  std::vector<std::string> all;
  for (const auto &value : list(member)) {
    if (!value.is_string()) {
      refuse(member, "a list of texts");
    }
    all.push_back(value.get<std::string>());
  }
  return all;
}

std::string JsonMembers::hash(const char *member) const {
  std::string found = text(member);
  if (!is_hash(found)) {
    refuse(member, "32 hexadecimal digits");
  }
  return found;
}

const Json &JsonMembers::list(const char *member) const {
  if (!at(member).is_array()) {
    refuse(member, "a list");
  }
  return at(member);
}

} // namespace duplex::report
