#include "report/files.hpp"

#include <duplex/core/error.hpp>

#include <fmt/format.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <fcntl.h>
#include <optional>
#include <stdexcept>
#include <string>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>
#include <utility>

namespace duplex::report {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail_with_errno() { throw std::system_error(errno, std::generic_category()); }

class OpenFile {
public:
  OpenFile(const fs::path &file, int flags) : descriptor_(::open(file.c_str(), flags | O_CLOEXEC, 0666)) {
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

  [[nodiscard]] std::string read() {
    std::string all;
    std::array<char, 1U << 16U> buffer{};
    for (;;) {
      const ::ssize_t count = ::read(descriptor_, buffer.data(), buffer.size());
      if (count < 0 && errno != EINTR) {
        fail_with_errno();
      }
      if (count == 0) {
        return all;
      }
      all.append(buffer.data(), count > 0 ? static_cast<std::size_t>(count) : 0);
    }
  }

  [[nodiscard]] struct stat status() const {
    struct stat found {};
    if (::fstat(descriptor_, &found) != 0) {
      fail_with_errno();
    }
    return found;
  }

  /// Until here the content may be in memory alone, and the name that it gets later already on the disk.
  void flush() {
    if (::fsync(descriptor_) != 0 && errno != EINVAL) { // of a folder, some file systems know no such thing
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

fs::path folder_of(const fs::path &file) { return file.has_parent_path() ? file.parent_path() : fs::path("."); }

/// A name is on the disk only when its folder is.
void flush_folder(const fs::path &folder) {
  try {
    OpenFile(folder, O_RDONLY | O_DIRECTORY).flush();
  } catch (const std::system_error &error) {
    if (error.code() != std::errc::permission_denied) { // one that may be written, but not read, cannot be flushed
      throw;
    }
  }
}

/// The same of folders that were just made: each is a name in the one above it.
void flush_folders_above(const fs::path &folder) {
  for (fs::path at = fs::absolute(folder); at.has_relative_path(); at = at.parent_path()) {
    flush_folder(at.parent_path());
  }
}

constexpr std::string_view unfinished_prefix = ".duplex-";
constexpr std::string_view unfinished_suffix = ".tmp";

/// The process that made the file; none where no process of Duplex has made it.
std::optional<pid_t> maker_of(std::string_view name) {
  if (!name.starts_with(unfinished_prefix) || !name.ends_with(unfinished_suffix)) {
    return std::nullopt;
  }
  name.remove_prefix(unfinished_prefix.size());
  name.remove_suffix(std::min(name.size(), unfinished_suffix.size()));
  pid_t process = 0;
  unsigned counter = 0;
  const char *const end = name.data() + name.size();
  const auto [dash, failed] = std::from_chars(name.data(), end, process);
  if (failed != std::errc{} || process <= 0 || dash == end || *dash != '-') {
    return std::nullopt;
  }
  const auto [stop, failed_too] = std::from_chars(dash + 1, end, counter);
  return failed_too == std::errc{} && stop == end ? std::optional(process) : std::nullopt;
}

bool lives(pid_t process) { return ::kill(process, 0) == 0 || errno == EPERM; }

std::atomic<int> being_written{0};

/// A new file, removed at the end unless it was given its final name.
class TemporaryFile {
public:
  TemporaryFile(const fs::path &folder, std::string_view content)
      : TemporaryFile(folder, [&](const Sink &sink) { sink(content); }) {}
  TemporaryFile(const fs::path &folder, const Producer &produce) {
    static std::atomic<unsigned> counter{0};
    for (;;) {
      const fs::path candidate =
          folder / fmt::format("{}{}-{}{}", unfinished_prefix, ::getpid(), counter++, unfinished_suffix);
      try {
        OpenFile file(candidate, O_WRONLY | O_CREAT | O_EXCL);
        path_ = candidate;
        write_and_close(file, produce);
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
    flush_folder(folder_of(file));
  }

private:
  void write_and_close(OpenFile &file, const Producer &produce) {
    try {
      produce([&](std::string_view piece) { file.write(piece); });
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

  struct Counted {
    Counted() { ++being_written; }
    ~Counted() { --being_written; }
    Counted(const Counted &) = delete;
    Counted &operator=(const Counted &) = delete;
  };

  Counted counted_;
  fs::path path_;
};

/// A pipe or a device, such as /dev/stdout, must not be replaced by a regular file.
bool takes_content_in_place(const fs::path &file) {
  const fs::file_status status = fs::status(file);
  return fs::exists(status) && !fs::is_regular_file(status);
}

void write(const fs::path &file, std::string_view content) {
  if (takes_content_in_place(file)) {
    OpenFile in_place(file, O_WRONLY);
    in_place.write(content);
    in_place.close();
    return;
  }
  const fs::path target = fs::is_symlink(file) ? fs::weakly_canonical(file) : file;
  TemporaryFile(folder_of(target), content).rename_to(target);
}

template <class Work> void naming(const fs::path &file, const Work &work) {
  try {
    work();
  } catch (const std::system_error &error) {
    throw std::runtime_error(fmt::format("cannot write '{}': {}", file.string(), error.code().message()));
  }
}

} // namespace

void write_file(const fs::path &file, std::string_view content) {
  naming(file, [&] { write(file, content); });
}

void replace_file(const fs::path &file, std::string_view content) {
  naming(file, [&] { TemporaryFile(folder_of(file), content).rename_to(file); });
}

void replace_file(const fs::path &file, const Producer &produce) {
  naming(file, [&] { TemporaryFile(folder_of(file), produce).rename_to(file); });
}

void rename_file(const fs::path &file, const fs::path &to) {
  naming(to, [&] {
    fs::rename(file, to);
    flush_folder(folder_of(to));
  });
}

std::string read_file(const fs::path &file) {
  try {
    OpenFile open(file, O_RDONLY | O_NONBLOCK); // a pipe that nobody writes to must not hold up the program
    if (!S_ISREG(open.status().st_mode)) {
      throw InvalidInput(fmt::format("{}: is not a plain file", file.string()));
    }
    return open.read();
  } catch (const std::system_error &error) {
    throw InvalidInput(fmt::format("{}: cannot be read: {}", file.string(), error.code().message()));
  }
}

bool is_same_file(const fs::path &one, const fs::path &other) {
  std::error_code unknown;
  return fs::equivalent(one, other, unknown);
}

const std::atomic<int> &files_being_written() { return being_written; }

void remove_unfinished_files(const fs::path &folder) {
  std::error_code ignored;
  for (const auto &entry : fs::directory_iterator(folder, ignored)) {
    if (const auto maker = maker_of(entry.path().filename().string()); maker && !lives(*maker)) {
      fs::remove(entry.path(), ignored);
    }
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
    if (fs::create_directories(folder)) {
      flush_folders_above(folder);
    }
  } catch (const std::system_error &error) {
    throw InvalidInput(fmt::format("cannot make the folder '{}': {}", folder.string(), error.code().message()));
  }
  try {
    TemporaryFile probe(folder, std::string_view());
  } catch (const std::system_error &error) {
    throw InvalidInput(fmt::format("cannot write to the folder '{}': {}", folder.string(), error.code().message()));
  }
}

} // namespace duplex::report
