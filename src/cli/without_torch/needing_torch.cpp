#include "cli/siblings.hpp"

namespace duplex::cli {

Action needing_torch(Action /*action*/, const std::string &what) {
  return [what]() -> int {
    become_sibling(with_torch, what + " needs LibTorch, and this Duplex was built without it: `make torch` builds it");
  };
}

} // namespace duplex::cli
