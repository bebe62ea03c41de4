#pragma once
// Runs the built tool as a user would, and reads what it left behind.

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

namespace duplex::test {

struct ToolResult {
  int exit_code = -1;
  std::string output; ///< stdout and stderr together
};

inline ToolResult run_command(const std::string &command) {
  ToolResult result;
  std::FILE *pipe = popen((command + " 2>&1").c_str(), "r");
  std::array<char, 4096> buffer{};
  while (const std::size_t count = std::fread(buffer.data(), 1, buffer.size(), pipe)) {
    result.output.append(buffer.data(), count);
  }
  const int status = pclose(pipe);
  result.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return result;
}

inline ToolResult run_tool(const std::string &arguments) {
  return run_command(std::string(DUPLEX_TOOL) + " " + arguments);
}

inline std::string read_file(const std::filesystem::path &path) {
  std::ifstream file(path);
  std::ostringstream content;
  content << file.rdbuf();
  return content.str();
}

inline nlohmann::json read_json(const std::filesystem::path &path) { return nlohmann::json::parse(read_file(path)); }

/// A folder of the test's own that is gone afterwards.
class ScratchFolder {
public:
  ScratchFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "duplex-test-XXXXXX").string();
    path_ = mkdtemp(pattern.data());
  }
  ScratchFolder(const ScratchFolder &) = delete;
  ScratchFolder &operator=(const ScratchFolder &) = delete;
  ~ScratchFolder() { std::filesystem::remove_all(path_); }

  [[nodiscard]] const std::filesystem::path &path() const { return path_; }
  [[nodiscard]] std::string file(const std::string &name, const std::string &content) const {
    std::ofstream(path_ / name) << content;
    return (path_ / name).string();
  }

private:
  std::filesystem::path path_;
};

/// The tool must refuse this with exit 2 and a sentence that holds every part.
inline void expect_refused(const std::string &arguments, std::initializer_list<const char *> parts) {
  const ToolResult result = run_tool(arguments);
  EXPECT_EQ(result.exit_code, 2) << arguments << "\n" << result.output;
  for (const auto *part : parts) {
    EXPECT_NE(result.output.find(part), std::string::npos) << arguments << "\nlacks: " << part << "\n" << result.output;
  }
}

} // namespace duplex::test
