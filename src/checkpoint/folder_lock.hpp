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

  /// Whether the folder is still the one that was locked: somebody may have moved it, and made another of its name.
  [[nodiscard]] bool is_still_there() const;

private:
  std::filesystem::path file_;
  int descriptor_ = -1;
};

} // namespace duplex::checkpoint
