#include "cli/siblings.hpp"

#include <duplex/core/error.hpp>

namespace duplex::cli {

Action needing_torch(Action /*action*/, const std::string &what) {
  return [what]() -> int {
    if (!sibling_is_there(with_torch)) {
      throw NotAvailable(what + " needs LibTorch, and this Duplex was built without it: `make torch` builds it");
    }
    become_sibling(with_torch);
  };
}

} // namespace duplex::cli
