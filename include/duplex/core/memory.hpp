#pragma once
// Sizes that no memory holds are refused before it is asked for: a machine that overcommits would give it, and die
// later.

#include <string>

namespace duplex {

/// Bytes that this process may have: the machine's memory, or less where a limit is set.
[[nodiscard]] double machine_memory();

/// Throws InvalidInput, with both sizes, where `what` needs more bytes than that.
void require_memory(double bytes, const std::string &what);

} // namespace duplex
