#pragma once
// Runs the built tool as a user would, and reads what it left behind.

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <functional>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

namespace duplex::test {

/// A tool that is asked to end has all the time that a loaded machine takes; `make torture` measures how soon it does.
inline const bool tools_are_given_time = setenv("DUPLEX_PATIENCE", "100", 1) == 0;

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

/// The tool beside the test, killed at the end of the test if it lives so long.
class RunningTool {
public:
  explicit RunningTool(std::vector<std::string> arguments, const std::string &output = "/dev/null",
                       const std::filesystem::path &folder = ".")
      : process_(fork()) {
    if (process_ == 0) {
      std::filesystem::current_path(folder);
      const int file = open(output.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0666);
      dup2(file, STDOUT_FILENO);
      dup2(file, STDERR_FILENO);
      arguments.insert(arguments.begin(), DUPLEX_TOOL);
      std::vector<char *> words;
      for (auto &argument : arguments) {
        words.push_back(argument.data());
      }
      words.push_back(nullptr);
      execv(DUPLEX_TOOL, words.data());
      _exit(127);
    }
  }
  RunningTool(const RunningTool &) = delete;
  RunningTool &operator=(const RunningTool &) = delete;
  ~RunningTool() {
    if (process_ > 0) {
      (void)end(SIGKILL);
    }
  }

  [[nodiscard]] pid_t process() const { return process_; }

  /// Whether that came true while the tool lived, however slow the machine is.
  [[nodiscard]] bool wait_until(const std::function<bool()> &condition) const {
    while (!condition()) {
      siginfo_t ended{};
      if (waitid(P_PID, static_cast<id_t>(process_), &ended, WEXITED | WNOHANG | WNOWAIT) == 0 && ended.si_pid != 0) {
        return condition();
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return true;
  }

  /// Its exit code; -1 where the signal ended it.
  int end(int signal) {
    kill(process_, signal);
    int status = 0;
    waitpid(process_, &status, 0);
    process_ = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

private:
  pid_t process_;
};

/// Waits until a process has computed for so long, on whatever share of the machine it gets, or has ended.
inline void wait_for_work(pid_t process, std::chrono::milliseconds work) {
  clockid_t clock{};
  timespec spent{};
  siginfo_t ended{};
  if (clock_getcpuclockid(process, &clock) != 0) {
    ADD_FAILURE() << "no clock of the process";
    return;
  }
  while (clock_gettime(clock, &spent) == 0 &&
         std::chrono::seconds(spent.tv_sec) + std::chrono::nanoseconds(spent.tv_nsec) < work) {
    if (waitid(P_PID, static_cast<id_t>(process), &ended, WEXITED | WNOHANG | WNOWAIT) == 0 && ended.si_pid != 0) {
      return;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
}

/// The tool must refuse this with exit 2 and a sentence that holds every part.
inline void expect_refused(const std::string &arguments, std::initializer_list<const char *> parts) {
  const ToolResult result = run_tool(arguments);
  EXPECT_EQ(result.exit_code, 2) << arguments << "\n" << result.output;
  for (const auto *part : parts) {
    EXPECT_NE(result.output.find(part), std::string::npos) << arguments << "\nlacks: " << part << "\n" << result.output;
  }
}

} // namespace duplex::test
