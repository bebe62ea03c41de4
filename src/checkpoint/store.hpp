#pragma once
// Checkpoints in a folder: the newest as checkpoint.dpx, the one before it as checkpoint.previous.dpx.

#include "checkpoint/checkpoint.hpp"

#include <filesystem>

namespace duplex::checkpoint {

/// Writes beside, then renames: whenever the program is killed, a complete checkpoint remains. Throws as write_file()
/// does.
void save(const std::filesystem::path &folder, const SavedState &state);

/// Removes the checkpoints of another run.
void forget(const std::filesystem::path &folder);

struct Found {
  SavedState state;
  std::string warning; ///< why the newest was not used, if it was not
};

/// The newest checkpoint that is whole. Throws InvalidInput, with the reason for each file, where there is none.
[[nodiscard]] Found load(const std::filesystem::path &folder);

} // namespace duplex::checkpoint
