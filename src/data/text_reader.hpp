#pragma once
// A window onto a text, which moves forward: large enough for any cell, not for the text.

#include "data/source.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>

namespace duplex::data {

class TextReader {
public:
  static constexpr std::size_t widest = std::size_t{1} << 20U;

  explicit TextReader(ByteSource &source)
      : source_(&source), window_(window_for(source)), buffer_(std::make_unique_for_overwrite<char[]>(window_)) {}

  [[nodiscard]] const std::string &name() const { return source_->name(); }
  [[nodiscard]] const char *begin() const { return buffer_.get() + first_; }
  [[nodiscard]] const char *end() const { return buffer_.get() + last_; }
  [[nodiscard]] std::size_t size() const { return last_ - first_; }
  [[nodiscard]] bool is_full() const { return size() == window_; }
  void skip(std::size_t count) { first_ += count; }

  /// Brings more into view behind what is there, and moves that; false at the end of the text or if full.
  [[nodiscard]] bool more();
  /// Byte `offset` from here, brought into view if need be; -1 at the end of the text.
  [[nodiscard]] int at(std::size_t offset) {
    while (offset >= size()) {
      if (!more()) {
        return -1;
      }
    }
    return static_cast<unsigned char>(begin()[offset]);
  }

private:
  /// A small text never fills it, so that a full window means a cell that is too long.
  [[nodiscard]] static std::size_t window_for(const ByteSource &source) {
    constexpr std::uint64_t narrowest = std::uint64_t{1} << 16U;
    return static_cast<std::size_t>(std::clamp<std::uint64_t>(source.size().value_or(widest), narrowest, widest - 1) +
                                    1);
  }

  ByteSource *source_;
  std::size_t window_;
  std::unique_ptr<char[]> buffer_;
  std::size_t first_ = 0;
  std::size_t last_ = 0;
};

/// Passes over a mark of UTF-8; throws InvalidInput where the text is UTF-16 or empty.
void skip_byte_order_mark(TextReader &text);

} // namespace duplex::data
