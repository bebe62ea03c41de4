#include "cli/torch_process.hpp"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <stdexcept>

namespace duplex::cli {

namespace {

std::vector<std::string> &remembered() {
  static std::vector<std::string> arguments;
  return arguments;
}

std::filesystem::path torch_tool() {
  return std::filesystem::read_symlink("/proc/self/exe").replace_filename("duplex-torch");
}

[[noreturn]] void fail(const std::string &what) {
  throw std::runtime_error(what + " '" + torch_tool().string() + "': " + std::strerror(errno));
}

/// Returns only where it fails.
void become(std::vector<std::string> arguments) {
  const std::string tool = torch_tool().string();
  arguments.insert(arguments.begin(), "duplex");
  std::vector<char *> pointers;
  for (auto &argument : arguments) {
    pointers.push_back(argument.data());
  }
  pointers.push_back(nullptr);
  (void)execv(tool.c_str(), pointers.data());
}

} // namespace

void remember_arguments(int argc, char **argv) { remembered().assign(argv + 1, argv + argc); }

const std::vector<std::string> &own_arguments() { return remembered(); }

bool torch_is_there() { return std::filesystem::exists(torch_tool()); }

void become_torch_tool() {
  become(own_arguments());
  fail("cannot start");
}

int run_torch_tool(const std::vector<std::string> &arguments, bool quiet) {
  const pid_t child = fork();
  if (child < 0) {
    fail("cannot make a process for");
  }
  if (child == 0) {
    (void)prctl(PR_SET_PDEATHSIG, SIGTERM); // it goes where this process goes
    if (const int nowhere = quiet ? open("/dev/null", O_WRONLY | O_CLOEXEC) : -1; nowhere >= 0) {
      (void)dup2(nowhere, STDOUT_FILENO);
    }
    become(arguments);
    _exit(exit_run_failed);
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) {
      fail("cannot wait for");
    }
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : exit_run_failed;
}

} // namespace duplex::cli
