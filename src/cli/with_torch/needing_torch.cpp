#include "cli/siblings.hpp"

namespace duplex::cli {

Action needing_torch(Action action, const std::string & /*what*/) { return action; }

} // namespace duplex::cli
