#pragma once
// One process at a time in a folder. The kernel lets go of the lock when the process ends, however that happens.

#include <filesystem>
#include <string>

namespace duplex::checkpoint {

class FolderLock {
public:
  /// Throws InvalidInput, at once, where another process holds it, or where there cannot be a lock; `shown` is what
  /// messages call the folder.
  FolderLock(const std::filesystem::path &folder, const std::string &shown);
  FolderLock(const FolderLock &) = delete;
  FolderLock &operator=(const FolderLock &) = delete;
  ~FolderLock();

private:
  int descriptor_ = -1;
};

} // namespace duplex::checkpoint
