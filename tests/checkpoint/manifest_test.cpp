// A run's manifest: damaged and forged ones are refused by what is wrong with them.

#include "checkpoint/manifest.hpp"
#include "report/json_file.hpp"
#include "report/text.hpp"
#include "support.hpp"

namespace duplex::testing {
namespace {

using checkpoint::Manifest;

Manifest some_manifest() {
  return {.id = report::hash_of("id"),
          .command = "clean",
          .arguments = {"clean", "--train", "naïve \xff\x01 name.csv"},
          .started_in = "/tmp/\xfe",
          .version = "0.1.0",
          .started = "2026-03-01T09:30:00Z",
          .inputs = {{"x.csv", "/tmp/x.csv", {7, report::hash_of("x")}}, {"pipe", "/tmp/pipe", {}}},
          .results = {{"model.json", {3, report::hash_of("y")}}, {"weights.csv", {}}},
          .older = {"solution.csv"}};
}

std::string refused(const std::string &text) {
  return refusal([&] { (void)checkpoint::parse_manifest(text, "m"); });
}

/// With another member, and the right checksum.
std::string forged(const std::function<void(report::Json &)> &change) {
  auto json = report::parsed_json(manifest_text(some_manifest()), "m");
  change(json);
  return refused(report::sealed_text(std::move(json)));
}

TEST(Manifest, IsRefusedWhereItIsNoneOrDamagedInAnyByte) {
  EXPECT_EQ(refused(""), "m: is damaged: no JSON from byte 1 on");
  EXPECT_CONTAINS(refused("[1, 2]"), "m: has no checksum");
  EXPECT_CONTAINS(refused("{\"format\": 1e999}"), "m: is damaged");
  const std::string good = manifest_text(some_manifest());
  EXPECT_EQ(refused(good), "");
  for (std::size_t i = 0; i < good.size(); ++i) {
    std::string damaged = good;
    damaged[i] = static_cast<char>(damaged[i] ^ 0x20);
    EXPECT_NE(refused(damaged), "") << i;
    EXPECT_NE(refused(good.substr(0, i)), "") << i;
  }
  EXPECT_NE(refused(good + " "), "");
}

TEST(Manifest, IsRefusedWhereItNamesFilesOutsideOfItsFolder) {
  for (const char *name : {"", ".", "..", "../x", "a/b", "/etc/passwd", ".hidden", "manifest.json"}) {
    EXPECT_CONTAINS(forged([&](auto &json) { json["results"][0]["name"] = name; }), "expected the name of a file")
        << name;
    EXPECT_CONTAINS(forged([&](auto &json) { json["older"][0] = name; }), "expected the name of a file") << name;
  }
  EXPECT_CONTAINS(forged([](auto &json) { json["results"][0]["name"] = std::string("a\0b", 3); }), "a zero");
  EXPECT_CONTAINS(forged([](auto &json) { json["older"][0] = std::string(300, 'x'); }), "expected the name of a file");
}

TEST(Manifest, IsRefusedWhereAMemberIsMissingOrOfAnotherKind) {
  EXPECT_CONTAINS(forged([](auto &json) { json.erase("arguments"); }), "m: has no member 'arguments'");
  EXPECT_CONTAINS(forged([](auto &json) { json["format"] = "other"; }), "format = \"other\", expected \"duplex run\"");
  EXPECT_CONTAINS(forged([](auto &json) { json["format_version"] = 2; }), "format_version = 2, expected");
  EXPECT_CONTAINS(forged([](auto &json) { json["id"] = "short"; }), "expected 32 hexadecimal digits");
  EXPECT_CONTAINS(forged([](auto &json) { json["state"] = "sleeping"; }), "expected running, finished");
  EXPECT_CONTAINS(forged([](auto &json) { json["started_in"] = "relative"; }), "expected an absolute path");
  EXPECT_CONTAINS(forged([](auto &json) { json["arguments"] = "clean"; }), "arguments = \"clean\", expected a list");
  EXPECT_CONTAINS(forged([](auto &json) { json["arguments"][1] = {1, 256}; }), "found 256, expected a byte");
  EXPECT_CONTAINS(forged([](auto &json) { json["inputs"][0] = 3; }), "found 3, expected an object");
  EXPECT_CONTAINS(forged([](auto &json) { json["inputs"][0]["content"]["bytes"] = -1; }), "bytes = -1, expected");
  EXPECT_CONTAINS(forged([](auto &json) { json["inputs"][0]["content"]["hash"] = std::string(32, 'g'); }), "hash");
}

TEST(Manifest, GivesBackEveryByteOfArgumentsAndPaths) {
  const Manifest before = some_manifest();
  const Manifest after = checkpoint::parse_manifest(manifest_text(before), "m");
  EXPECT_EQ(after.arguments, before.arguments);
  EXPECT_EQ(after.started_in, before.started_in);
  ASSERT_EQ(after.inputs.size(), 2U);
  EXPECT_EQ(after.inputs[0].content, before.inputs[0].content);
  EXPECT_EQ(after.inputs[1].content.hash, "");
  EXPECT_EQ(after.results[0].name, "model.json");
  EXPECT_EQ(after.older, before.older);
  EXPECT_EQ(manifest_text(after), manifest_text(before));
}

TEST(ShellWords, AreQuotedWhereAShellWouldTakeThemApart) {
  EXPECT_EQ(report::shell_quoted("plain-1.0/x_y:z=3,4"), "plain-1.0/x_y:z=3,4");
  EXPECT_EQ(report::shell_quoted(""), "''");
  EXPECT_EQ(report::shell_quoted("two words"), "'two words'");
  EXPECT_EQ(report::shell_quoted("it's $HOME `x`"), "'it'\\''s $HOME `x`'");
  EXPECT_EQ(report::shell_command({"duplex", "a b", "c"}), "duplex 'a b' c");
}

} // namespace
} // namespace duplex::testing
