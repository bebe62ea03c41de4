#include "cli/torch_process.hpp"

#include <duplex/core/error.hpp>

namespace duplex::cli {

Action needing_torch(Action /*action*/, const std::string &what) {
  return [what]() -> int {
    if (!torch_is_there()) {
      throw NotAvailable(what + " needs LibTorch, and this Duplex was built without it: `make torch` builds it");
    }
    become_torch_tool();
  };
}

} // namespace duplex::cli
