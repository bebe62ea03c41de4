#include "cli/siblings.hpp"

#include <duplex/core/error.hpp>

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

/// -torch is the end of a name that has it.
std::filesystem::path path_of(std::string_view sibling) {
  auto path = std::filesystem::read_symlink("/proc/self/exe");
  std::string name = path.filename().string();
  name.insert(name.size() - (name.ends_with(with_torch) ? with_torch.size() : 0), sibling);
  return path.replace_filename(name);
}

[[noreturn]] void fail(const std::string &what, std::string_view sibling) {
  const std::string reason = std::strerror(errno);
  throw std::runtime_error(what + " '" + path_of(sibling).string() + "': " + reason);
}

/// Returns only where it fails.
void execute(std::string_view sibling, std::vector<std::string> arguments) {
  const std::string program = path_of(sibling).string();
  arguments.insert(arguments.begin(), "duplex");
  std::vector<char *> pointers;
  for (auto &argument : arguments) {
    pointers.push_back(argument.data());
  }
  pointers.push_back(nullptr);
  (void)execv(program.c_str(), pointers.data());
}

} // namespace

bool sibling_is_there(std::string_view sibling) { return std::filesystem::exists(path_of(sibling)); }

void remember_arguments(int argc, char **argv) { remembered().assign(argv + 1, argv + argc); }

const std::vector<std::string> &own_arguments() { return remembered(); }

void become_sibling(std::string_view sibling, const std::string &if_not_built) {
  if (!sibling_is_there(sibling)) {
    throw NotAvailable(if_not_built);
  }
  execute(sibling, own_arguments());
  fail("cannot start", sibling);
}

int run_sibling(std::string_view sibling, const std::vector<std::string> &arguments, bool quiet) {
  const pid_t child = fork();
  if (child < 0) {
    fail("cannot make a process for", sibling);
  }
  if (child == 0) {
    (void)prctl(PR_SET_PDEATHSIG, SIGTERM); // it goes where this process goes
    if (const int nowhere = quiet ? open("/dev/null", O_WRONLY | O_CLOEXEC) : -1; nowhere >= 0) {
      (void)dup2(nowhere, STDOUT_FILENO);
    }
    execute(sibling, arguments);
    _exit(exit_run_failed);
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) {
      fail("cannot wait for", sibling);
    }
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : exit_run_failed;
}

} // namespace duplex::cli
