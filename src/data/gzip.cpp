#include "data/source.hpp"

#include <duplex/core/error.hpp>

#include <fmt/format.h>

#include <zlib.h>

#include <algorithm>
#include <limits>
#include <new>
#include <vector>

namespace duplex::data {
namespace {

constexpr std::string_view gzip_magic = "\x1f\x8b";

class GzipSource final : public ByteSource {
public:
  explicit GzipSource(std::unique_ptr<ByteSource> packed)
      : ByteSource(packed->name()), packed_(std::move(packed)), input_(std::size_t{64} << 10U) {
    constexpr int gzip_only = 15 + 16;
    if (inflateInit2(&stream_, gzip_only) != Z_OK) {
      throw std::bad_alloc();
    }
  }
  GzipSource(const GzipSource &) = delete;
  GzipSource &operator=(const GzipSource &) = delete;
  ~GzipSource() override { inflateEnd(&stream_); }

  [[nodiscard]] std::optional<std::uint64_t> size() const override { return std::nullopt; }

private:
  std::size_t read_some(std::span<char> buffer) override {
    const std::size_t room = std::min<std::size_t>(buffer.size(), std::numeric_limits<uInt>::max());
    stream_.next_out = reinterpret_cast<Bytef *>(buffer.data());
    stream_.avail_out = static_cast<uInt>(room);
    while (stream_.avail_out == room && !finished_) {
      inflate_some();
    }
    return room - stream_.avail_out;
  }

  void inflate_some() {
    refill();
    if (stream_.avail_in == 0) {
      throw InvalidInput(fmt::format("{}: the gzip data break off, expected more: the file is truncated", name()));
    }
    const int status = inflate(&stream_, Z_NO_FLUSH);
    if (status == Z_STREAM_END) {
      begin_next_member();
    } else if (status == Z_MEM_ERROR) {
      throw std::bad_alloc();
    } else if (status != Z_OK && status != Z_BUF_ERROR) {
      throw InvalidInput(fmt::format("{}: the gzip data are damaged: {}", name(),
                                     stream_.msg != nullptr ? stream_.msg : "they need a dictionary"));
    }
  }

  void refill() {
    if (stream_.avail_in == 0) {
      stream_.next_in = reinterpret_cast<Bytef *>(input_.data());
      stream_.avail_in = static_cast<uInt>(packed_->read(input_));
    }
  }

  /// A gzip file is one or more members, one after the other.
  void begin_next_member() {
    refill();
    finished_ = stream_.avail_in == 0;
    if (!finished_ && *stream_.next_in != static_cast<unsigned char>(gzip_magic.front())) {
      throw InvalidInput(fmt::format("{}: found bytes after the end of the gzip data, expected none", name()));
    }
    (void)inflateReset(&stream_);
  }

  std::unique_ptr<ByteSource> packed_;
  std::vector<char> input_;
  z_stream stream_{};
  bool finished_ = false;
};

} // namespace

std::unique_ptr<ByteSource> unpacked(std::unique_ptr<ByteSource> source) {
  if (source->peek(gzip_magic.size()) != gzip_magic) {
    return source;
  }
  return std::make_unique<GzipSource>(std::move(source));
}

} // namespace duplex::data
