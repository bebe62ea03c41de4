#include "cli/torch/tool.hpp"

#include <duplex/error.hpp>

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

namespace duplex::cli {

namespace {

std::vector<std::string> own_arguments() {
  std::ifstream file("/proc/self/cmdline", std::ios::binary);
  const std::string all{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  std::vector<std::string> arguments;
  for (std::size_t begin = 0; begin < all.size();) {
    const std::size_t end = all.find('\0', begin);
    arguments.push_back(all.substr(begin, end - begin));
    begin = end + 1;
  }
  return arguments;
}

std::filesystem::path torch_tool() {
  return std::filesystem::read_symlink("/proc/self/exe").replace_filename("duplex-torch");
}

int become_torch_tool(const std::string &what) {
  const auto tool = torch_tool();
  if (!torch_is_there()) {
    throw NotAvailable(what + " needs LibTorch, and this Duplex was built without it: `make torch` builds it");
  }
  auto arguments = own_arguments();
  std::vector<char *> pointers;
  for (auto &argument : arguments) {
    pointers.push_back(argument.data());
  }
  pointers.push_back(nullptr);
  (void)execv(tool.c_str(), pointers.data());
  throw std::runtime_error("cannot start '" + tool.string() + "': " + std::strerror(errno));
}

} // namespace

Action needing_torch(Action /*action*/, const std::string &what) {
  return [what] { return become_torch_tool(what); };
}

bool torch_is_there() { return std::filesystem::exists(torch_tool()); }

} // namespace duplex::cli
