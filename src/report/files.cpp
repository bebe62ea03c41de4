#include "report/files.hpp"

#include "duplex/error.hpp"

#include <fmt/format.h>

#include <atomic>
#include <cerrno>
#include <fcntl.h>
#include <stdexcept>
#include <string>
#include <system_error>
#include <unistd.h>
#include <utility>

namespace duplex::report {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail_with_errno() { throw std::system_error(errno, std::generic_category()); }

class OpenFile {
public:
  OpenFile(const fs::path &file, int flags) : descriptor_(::open(file.c_str(), flags | O_WRONLY | O_CLOEXEC, 0666)) {
    if (descriptor_ < 0) {
      fail_with_errno();
    }
  }
  OpenFile(const OpenFile &) = delete;
  OpenFile &operator=(const OpenFile &) = delete;
  ~OpenFile() {
    if (descriptor_ >= 0) {
      ::close(descriptor_);
    }
  }

  void write(std::string_view content) {
    while (!content.empty()) {
      const ::ssize_t written = ::write(descriptor_, content.data(), content.size());
      if (written < 0 && errno != EINTR) {
        fail_with_errno();
      }
      if (written > 0) {
        content.remove_prefix(static_cast<std::size_t>(written));
      }
    }
  }

  /// Until here the content may be in memory alone, and the name that it gets later already on the disk.
  void flush() {
    if (::fsync(descriptor_) != 0) {
      fail_with_errno();
    }
  }

  /// Some file systems tell only here that the disk is full.
  void close() {
    if (::close(std::exchange(descriptor_, -1)) != 0) {
      fail_with_errno();
    }
  }

private:
  int descriptor_;
};

/// A new file, removed at the end unless it was given its final name.
class TemporaryFile {
public:
  TemporaryFile(const fs::path &folder, std::string_view content) {
    static std::atomic<unsigned> counter{0};
    for (;;) {
      const fs::path candidate = folder / fmt::format(".duplex-{}-{}.tmp", ::getpid(), counter++);
      try {
        OpenFile file(candidate, O_CREAT | O_EXCL);
        path_ = candidate;
        write_and_close(file, content);
        return;
      } catch (const std::system_error &error) {
        if (error.code() != std::errc::file_exists) {
          throw;
        }
      }
    }
  }
  TemporaryFile(const TemporaryFile &) = delete;
  TemporaryFile &operator=(const TemporaryFile &) = delete;
  ~TemporaryFile() { remove(); }

  void rename_to(const fs::path &file) {
    fs::rename(path_, file);
    path_.clear();
  }

private:
  void write_and_close(OpenFile &file, std::string_view content) {
    try {
      file.write(content);
      file.flush();
      file.close();
    } catch (...) {
      remove();
      throw;
    }
  }

  void remove() noexcept {
    std::error_code ignored;
    if (!path_.empty()) {
      fs::remove(path_, ignored);
    }
  }

  fs::path path_;
};

fs::path folder_of(const fs::path &file) { return file.has_parent_path() ? file.parent_path() : fs::path("."); }

/// A pipe or a device, such as /dev/stdout, must not be replaced by a regular file.
bool takes_content_in_place(const fs::path &file) {
  const fs::file_status status = fs::status(file);
  return fs::exists(status) && !fs::is_regular_file(status);
}

void write(const fs::path &file, std::string_view content) {
  if (takes_content_in_place(file)) {
    OpenFile in_place(file, 0);
    in_place.write(content);
    in_place.close();
    return;
  }
  const fs::path target = fs::is_symlink(file) ? fs::weakly_canonical(file) : file;
  TemporaryFile(folder_of(target), content).rename_to(target);
}

} // namespace

void write_file(const fs::path &file, std::string_view content) {
  try {
    write(file, content);
  } catch (const std::system_error &error) {
    throw std::runtime_error(fmt::format("cannot write '{}': {}", file.string(), error.code().message()));
  }
}

void require_writable_folder(const fs::path &folder) {
  if (folder.empty()) {
    throw InvalidInput("the name of the folder to write to is empty");
  }
  try {
    if (fs::exists(folder) && !fs::is_directory(folder)) {
      throw InvalidInput(fmt::format("'{}' is not a folder", folder.string()));
    }
    fs::create_directories(folder);
  } catch (const std::system_error &error) {
    throw InvalidInput(fmt::format("cannot make the folder '{}': {}", folder.string(), error.code().message()));
  }
  try {
    TemporaryFile probe(folder, "");
  } catch (const std::system_error &error) {
    throw InvalidInput(fmt::format("cannot write to the folder '{}': {}", folder.string(), error.code().message()));
  }
}

} // namespace duplex::report
