#pragma once
// LibTorch takes half a second to load, so that the tool is linked twice: `duplex` without it, and `duplex-torch`,
// which is the same with it and lies beside. What needs LibTorch hands itself over.

#include "cli/command.hpp"

#include <string>
#include <vector>

namespace duplex::cli {

/// The action itself in duplex-torch; elsewhere one that starts duplex-torch with the arguments of this process and
/// becomes it, or throws NotAvailable, saying what needs it, where it was not built.
[[nodiscard]] Action needing_torch(Action action, const std::string &what);

/// Whether there is a duplex-torch.
[[nodiscard]] bool torch_is_there();

/// The arguments of this process, without its name, for the tool that it becomes.
void remember_arguments(int argc, char **argv);
[[nodiscard]] const std::vector<std::string> &own_arguments();

/// Becomes duplex-torch, with the same arguments. Throws std::runtime_error where that fails.
[[noreturn]] void become_torch_tool();

/// Runs duplex-torch beside this process, with its standard output to nowhere if `quiet`, and returns its exit code.
[[nodiscard]] int run_torch_tool(const std::vector<std::string> &arguments, bool quiet);

} // namespace duplex::cli
