#include "checkpoint/folder_lock.hpp"

#include <duplex/core/error.hpp>

#include <fmt/format.h>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <string_view>
#include <system_error>

namespace duplex::checkpoint {

namespace {

constexpr const char *lock_name = ".duplex.lock";

/// As the file says, which the process that holds the lock has written.
std::string holder(int descriptor) {
  std::array<char, 16> text{};
  const ::ssize_t count = ::pread(descriptor, text.data(), text.size(), 0);
  const std::string_view read(text.data(), count > 0 ? static_cast<std::size_t>(count) : 0);
  const std::string_view digits = read.substr(0, read.find_first_not_of("0123456789"));
  return digits.empty() ? "another process" : fmt::format("process {}", digits);
}

/// Whether the name still means the file that is open: it may have been removed in between.
bool is_named(int descriptor, const std::filesystem::path &file) {
  struct stat open {};
  struct stat named {};
  return ::fstat(descriptor, &open) == 0 && ::lstat(file.c_str(), &named) == 0 && open.st_ino == named.st_ino &&
         open.st_dev == named.st_dev;
}

} // namespace

FolderLock::FolderLock(const std::filesystem::path &folder, const std::string &shown) : file_(folder / lock_name) {
  const auto &file = file_;
  const auto refuse = [&](const std::string &reason) {
    if (descriptor_ >= 0) {
      ::close(descriptor_);
    }
    throw InvalidInput(reason);
  };
  for (;;) {
    descriptor_ = ::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0666);
    std::error_code not_removed;
    if (descriptor_ < 0 && errno == ELOOP && std::filesystem::remove(file, not_removed)) {
      continue; // it was a link, which is never followed
    }
    if (descriptor_ < 0) {
      refuse(fmt::format("cannot write to the folder '{}': {}: {}", shown, lock_name,
                         std::generic_category().message(errno)));
    }
    if (::flock(descriptor_, LOCK_EX | LOCK_NB) != 0) {
      refuse(errno == EWOULDBLOCK
                 ? fmt::format("the folder '{}' is in use by {}: wait for its end, or name another folder", shown,
                               holder(descriptor_))
                 : fmt::format("the folder '{}' cannot be locked: {}", shown, std::generic_category().message(errno)));
    }
    if (is_named(descriptor_, file)) {
      break;
    }
    ::close(descriptor_);
  }
  const std::string process = fmt::format("{}\n", ::getpid());
  if (::ftruncate(descriptor_, 0) != 0 || ::pwrite(descriptor_, process.data(), process.size(), 0) < 0) {
    return; // the lock holds all the same; only its holder has no name
  }
}

bool FolderLock::is_still_there() const { return is_named(descriptor_, file_); }

FolderLock::~FolderLock() { ::close(descriptor_); }

} // namespace duplex::checkpoint
