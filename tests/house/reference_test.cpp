// The C++ reference names every method with all of its options, and every ending.

#include "support.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace duplex::testing {
namespace {

std::string reference() {
  std::ifstream file(std::filesystem::path(DUPLEX_SOURCE) / "docs/reference.md");
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

std::string in_cpp(std::string_view option) {
  std::string name(option);
  std::replace(name.begin(), name.end(), '-', '_');
  return "`" + name + "`";
}

TEST(Reference, HasEveryMethodWithItsOptions) {
  const std::string page = reference();
  const UpperRule rule;
  std::vector<std::string> of_upper;
  UpperRule::fields(rule, [&](std::string_view name, const auto &...) { of_upper.emplace_back(name); });
  AllSolvers::each([&]<class S>() {
    const std::size_t row = page.find("| `" + std::string(S::name) + "` |");
    ASSERT_NE(row, std::string::npos) << S::name;
    const std::string line = page.substr(row, page.find('\n', row) - row);
    const S method{};
    S::fields(method, [&](std::string_view name, const auto &...) {
      if (std::find(of_upper.begin(), of_upper.end(), name) == of_upper.end()) {
        EXPECT_CONTAINS(line, in_cpp(name)) << S::name;
      }
    });
  });
}

TEST(Reference, HasEveryEnding) {
  const std::string page = reference();
  for (const auto name : termination_names) {
    std::string in_code(name);
    std::transform(in_code.begin(), in_code.end(), in_code.begin(),
                   [](char c) { return c == ' ' ? '_' : std::tolower(c); });
    EXPECT_CONTAINS(page, "`" + in_code + "`");
  }
}

} // namespace
} // namespace duplex::testing
