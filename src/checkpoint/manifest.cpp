#include "checkpoint/manifest.hpp"

#include "data/text.hpp"
#include "report/json_file.hpp"
#include "report/text.hpp"

#include <duplex/core/error.hpp>
#include <duplex/core/fields.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <limits>

namespace duplex::checkpoint {

namespace {

using report::Json;
using report::JsonMembers;

constexpr const char *format_name = "duplex run";
constexpr std::uint64_t format_version = 1;
constexpr std::uint64_t any_size = std::numeric_limits<std::int64_t>::max();

/// Arguments and paths need not be UTF-8, which JSON must be: then their bytes are a list of numbers.
Json json_of_bytes(const std::string &bytes) {
  if (data::is_utf8(bytes)) {
    return bytes;
  }
  Json list = Json::array();
  for (const char c : bytes) {
    list.push_back(static_cast<unsigned char>(c));
  }
  return list;
}

/// Neither the system's arguments nor its paths hold a zero.
std::string bytes_of(const Json &json, const std::string &name) {
  std::string bytes;
  if (json.is_string()) {
    bytes = json.get<std::string>();
  } else if (json.is_array()) {
    for (const auto &byte : json) {
      if (!byte.is_number_unsigned() || byte.get<std::uint64_t>() > 0xFF) {
        throw InvalidInput(fmt::format("{}: found {}, expected a byte", name, report::json_text(byte)));
      }
      bytes += static_cast<char>(byte.get<std::uint64_t>());
    }
  } else {
    throw InvalidInput(fmt::format("{}: found {}, expected text or a list of bytes", name, report::json_text(json)));
  }
  if (bytes.find('\0') != std::string::npos) {
    throw InvalidInput(fmt::format("{}: found a zero within a text", name));
  }
  return bytes;
}

Json json_of(const report::Fingerprint &content) {
  return content.hash.empty() ? Json(nullptr) : Json{{"bytes", content.bytes}, {"hash", content.hash}};
}

report::Fingerprint fingerprint_in(const Json &json, const std::string &name) {
  if (json.is_null()) {
    return {};
  }
  const JsonMembers members(json, name);
  return {members.whole("bytes", 0, any_size), members.hash("hash")};
}

std::string absolute_path(const Json &json, const std::string &name) {
  std::string path = bytes_of(json, name);
  if (!std::filesystem::path(path).is_absolute()) {
    throw InvalidInput(fmt::format("{}: found '{}', expected an absolute path", name, data::shown(path)));
  }
  return path;
}

std::string result_name(const Json &json, const std::string &name) {
  std::string found = bytes_of(json, name);
  if (!is_result_name(found)) {
    throw InvalidInput(
        fmt::format("{}: found '{}', expected the name of a file in the folder", name, data::shown(found)));
  }
  return found;
}

} // namespace

bool is_manifest_of_duplex(std::string_view text) {
  return text.find(fmt::format("\"{}\"", format_name)) != std::string_view::npos;
}

bool is_result_name(std::string_view name) {
  constexpr std::size_t longest = 255;
  return !name.empty() && name.size() <= longest && name.front() != '.' && name != manifest_name &&
         name.find_first_of(std::string_view("/\0", 2)) == std::string_view::npos;
}

std::string manifest_text(const Manifest &manifest) {
  Json json{{"format", format_name},
            {"format_version", format_version},
            {"id", manifest.id},
            {"command", manifest.command},
            {"arguments", Json::array()},
            {"started_in", json_of_bytes(manifest.started_in)},
            {"duplex", manifest.version},
            {"started", manifest.started},
            {"state", name_of(manifest.state)},
            {"ended", manifest.ended},
            {"inputs", Json::array()},
            {"results", Json::array()},
            {"older", Json::array()}};
  for (const auto &argument : manifest.arguments) {
    json["arguments"].push_back(json_of_bytes(argument));
  }
  for (const auto &input : manifest.inputs) {
    json["inputs"].push_back({{"given", json_of_bytes(input.given)},
                              {"path", json_of_bytes(input.path)},
                              {"content", json_of(input.content)}});
  }
  for (const auto &result : manifest.results) {
    json["results"].push_back({{"name", json_of_bytes(result.name)}, {"content", json_of(result.content)}});
  }
  for (const auto &name : manifest.older) {
    json["older"].push_back(json_of_bytes(name));
  }
  return report::sealed_text(std::move(json));
}

Manifest parse_manifest(std::string_view text, const std::string &name) {
  const Json json = report::unsealed(text, name);
  const JsonMembers members(json, name);
  if (members.text("format") != format_name) {
    members.refuse("format", fmt::format("\"{}\"", format_name));
  }
  (void)members.whole("format_version", format_version, format_version);
  Manifest manifest{.id = members.hash("id"),
                    .command = members.text("command"),
                    .arguments = {},
                    .started_in = absolute_path(members.at("started_in"), name + ": started_in"),
                    .version = members.text("duplex"),
                    .started = members.text("started"),
                    .ended = members.text("ended")};
  const auto state = std::find(run_state_names.begin(), run_state_names.end(), members.text("state"));
  if (state == run_state_names.end()) {
    members.refuse("state", "running, finished, failed or interrupted");
  }
  manifest.state = static_cast<RunState>(state - run_state_names.begin());
  for (const auto &argument : members.list("arguments")) {
    manifest.arguments.push_back(bytes_of(argument, name + ": arguments"));
  }
  for (const auto &input : members.list("inputs")) {
    const JsonMembers of_input(input, name + ": inputs");
    manifest.inputs.push_back({bytes_of(of_input.at("given"), name + ": inputs"),
                               absolute_path(of_input.at("path"), name + ": inputs"),
                               fingerprint_in(of_input.at("content"), name + ": inputs")});
  }
  for (const auto &result : members.list("results")) {
    const JsonMembers of_result(result, name + ": results");
    manifest.results.push_back({result_name(of_result.at("name"), name + ": results"),
                                fingerprint_in(of_result.at("content"), name + ": results")});
  }
  for (const auto &older : members.list("older")) {
    manifest.older.push_back(result_name(older, name + ": older"));
  }
  return manifest;
}

std::string command_line(const Manifest &manifest) {
  std::vector<std::string> words{"duplex"};
  words.insert(words.end(), manifest.arguments.begin(), manifest.arguments.end());
  std::error_code unknown;
  const bool is_here = std::filesystem::current_path(unknown) == manifest.started_in;
  return (is_here ? "" : "cd " + report::shell_quoted(manifest.started_in) + " && ") + report::shell_command(words);
}

} // namespace duplex::checkpoint
