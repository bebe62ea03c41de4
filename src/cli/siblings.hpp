#pragma once
// The tool is several programs, which lie beside one another: `duplex`; `duplex-reproduce`, the same with the
// experiments, which take nearly as long to compile as all the rest; and each of these with LibTorch, as `duplex-torch`
// and `duplex-reproduce-torch`, since LibTorch takes half a second to load. A command that needs what its program does
// not have hands itself over to the one that has it.

#include "cli/command.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace duplex::cli {

/// What the name of a sibling has besides that of this program.
inline constexpr std::string_view with_torch = "-torch";
inline constexpr std::string_view with_experiments = "-reproduce";

/// Whether the sibling was built.
[[nodiscard]] bool sibling_is_there(std::string_view sibling);

/// The arguments of this process, without its name, for the program that it becomes.
void remember_arguments(int argc, char **argv);
[[nodiscard]] const std::vector<std::string> &own_arguments();

/// Becomes the sibling, with the same arguments. Throws NotAvailable with the given sentence where it was not built,
/// and std::runtime_error where it cannot be started.
[[noreturn]] void become_sibling(std::string_view sibling, const std::string &if_not_built);

/// Runs the sibling beside this process, with its standard output to nowhere if `quiet`, and returns its exit code.
[[nodiscard]] int run_sibling(std::string_view sibling, const std::vector<std::string> &arguments, bool quiet);

/// The action itself in a program with LibTorch; elsewhere one that becomes the sibling which has it, or throws
/// NotAvailable, saying what needs it, where it was not built.
[[nodiscard]] Action needing_torch(Action action, const std::string &what);

} // namespace duplex::cli
