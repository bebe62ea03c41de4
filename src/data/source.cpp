#include "data/source.hpp"

#include <duplex/core/error.hpp>

#include <fmt/format.h>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

namespace duplex::data {
namespace {

std::string reason_of(int error) { return std::generic_category().message(error); }

class FileSource final : public ByteSource {
public:
  FileSource(const std::filesystem::path &file, const ReadOptions &options)
      : ByteSource(file == standard_input ? "standard input" : file.string()), options_(options),
        descriptor_(file == standard_input ? ::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0)
                                           : ::open(file.c_str(), O_RDONLY | O_CLOEXEC)) {
    struct stat status {};
    if (descriptor_ < 0 || ::fstat(descriptor_, &status) != 0) {
      const int error = errno;
      close();
      throw InvalidInput(fmt::format("{}: cannot be opened for reading: {}", name(), reason_of(error)));
    }
    if (S_ISDIR(status.st_mode)) {
      close();
      throw InvalidInput(fmt::format("{}: is a folder, expected a file", name()));
    }
    if (S_ISREG(status.st_mode)) {
      size_ = static_cast<std::uint64_t>(status.st_size);
    }
  }
  FileSource(const FileSource &) = delete;
  FileSource &operator=(const FileSource &) = delete;
  ~FileSource() override { close(); }

  [[nodiscard]] std::optional<std::uint64_t> size() const override { return size_; }

private:
  std::size_t read_some(std::span<char> buffer) override {
    ::ssize_t count = 0;
    do {
      if (options_.interrupt != nullptr && options_.interrupt->load(std::memory_order_relaxed)) {
        throw Interrupted(fmt::format("{}: reading was interrupted", name()));
      }
      constexpr std::size_t at_once = std::size_t{4} << 20U;
      count = ::read(descriptor_, buffer.data(), std::min(buffer.size(), at_once));
    } while (count < 0 && errno == EINTR);
    if (count < 0) {
      throw InvalidInput(fmt::format("{}: cannot be read: {}", name(), reason_of(errno)));
    }
    done_ += static_cast<std::uint64_t>(count);
    report_progress(count);
    return static_cast<std::size_t>(count);
  }

  void report_progress(::ssize_t count) {
    constexpr std::uint64_t step = std::uint64_t{4} << 20U;
    const bool at_end = count == 0 && reported_ > 0 && done_ > reported_;
    if (options_.progress && (at_end || done_ >= reported_ + step)) {
      reported_ = done_;
      options_.progress(done_, size_.value_or(0));
    }
  }

  void close() {
    if (descriptor_ >= 0) {
      ::close(std::exchange(descriptor_, -1));
    }
  }

  const ReadOptions &options_;
  int descriptor_;
  std::optional<std::uint64_t> size_;
  std::uint64_t done_ = 0;
  std::uint64_t reported_ = 0;
};

} // namespace

std::size_t ByteSource::read(std::span<char> buffer) {
  const std::size_t kept = std::min(peeked_.size(), buffer.size());
  std::copy_n(peeked_.begin(), kept, buffer.begin());
  peeked_.erase(0, kept);
  std::size_t filled = kept;
  while (filled < buffer.size()) {
    const std::size_t count = read_some(buffer.subspan(filled));
    if (count == 0) {
      break;
    }
    filled += count;
  }
  return filled;
}

std::string_view ByteSource::peek(std::size_t count) {
  while (peeked_.size() < count) {
    const std::size_t before = peeked_.size();
    peeked_.resize(count);
    const std::size_t more = read_some(std::span(peeked_).subspan(before));
    peeked_.resize(before + more);
    if (more == 0) {
      break;
    }
  }
  return std::string_view(peeked_).substr(0, count);
}

std::size_t MemorySource::read_some(std::span<char> buffer) {
  const std::size_t count = rest_.copy(buffer.data(), buffer.size());
  rest_.remove_prefix(count);
  return count;
}

std::size_t CopiedSource::read_some(std::span<char> buffer) {
  const std::size_t count = from_->read(buffer);
  copy_.append(buffer.data(), count);
  return count;
}

std::unique_ptr<ByteSource> open_file(const std::filesystem::path &file, const ReadOptions &options) {
  auto source = std::make_unique<FileSource>(file, options);
  if (options.opened) {
    options.opened(file == standard_input ? "/dev/stdin" : file);
  }
  return source;
}

} // namespace duplex::data
