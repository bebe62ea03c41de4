#pragma once
// LibTorch takes half a second to load, so that the tool is linked twice: `duplex` without it, and `duplex-torch`,
// which is the same with it and lies beside. What needs LibTorch hands itself over.

#include "cli/command.hpp"

#include <string>

namespace duplex::cli {

/// The action itself in duplex-torch; elsewhere one that starts duplex-torch with the arguments of this process and
/// becomes it, or throws NotAvailable, saying what needs it, where it was not built.
[[nodiscard]] Action needing_torch(Action action, const std::string &what);

/// Whether there is a duplex-torch.
[[nodiscard]] bool torch_is_there();

} // namespace duplex::cli
