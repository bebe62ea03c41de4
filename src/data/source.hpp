#pragma once
// Bytes one after the other, from a file or from memory, gunzipped on the way where they are gzipped.

#include "data/dataset.hpp"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace duplex::data {

class ByteSource {
public:
  explicit ByteSource(std::string name) : name_(std::move(name)) {}
  ByteSource(const ByteSource &) = delete;
  ByteSource &operator=(const ByteSource &) = delete;
  virtual ~ByteSource() = default;

  /// For messages.
  [[nodiscard]] const std::string &name() const { return name_; }
  /// All bytes that there are to read, where that is known before they are read.
  [[nodiscard]] virtual std::optional<std::uint64_t> size() const = 0;
  /// Fills the buffer as far as there are bytes; fewer than asked for only at the end.
  [[nodiscard]] std::size_t read(std::span<char> buffer);
  /// The next bytes, not taken; fewer than asked for only at the end.
  [[nodiscard]] std::string_view peek(std::size_t count);

private:
  /// At least one byte, or 0 at the end.
  virtual std::size_t read_some(std::span<char> buffer) = 0;

  std::string name_;
  std::string peeked_;
};

class MemorySource final : public ByteSource {
public:
  /// The bytes must outlive it.
  MemorySource(std::string name, std::string_view bytes) : ByteSource(std::move(name)), all_(bytes), rest_(bytes) {}
  [[nodiscard]] std::optional<std::uint64_t> size() const override { return all_.size(); }

private:
  std::size_t read_some(std::span<char> buffer) override;

  std::string_view all_;
  std::string_view rest_;
};

/// Another source, of which all that is read is kept.
class CopiedSource final : public ByteSource {
public:
  CopiedSource(std::unique_ptr<ByteSource> from, std::string &copy)
      : ByteSource(from->name()), from_(std::move(from)), copy_(copy) {}
  [[nodiscard]] std::optional<std::uint64_t> size() const override { return from_->size(); }

private:
  std::size_t read_some(std::span<char> buffer) override;

  std::unique_ptr<ByteSource> from_;
  std::string &copy_;
};

/// Opens a file, or standard input ("-"). Throws InvalidInput, naming it and the reason, where it cannot be read.
[[nodiscard]] std::unique_ptr<ByteSource> open_file(const std::filesystem::path &file, const ReadOptions &options);

/// The source itself, or what it unpacks to where it begins as gzip does.
[[nodiscard]] std::unique_ptr<ByteSource> unpacked(std::unique_ptr<ByteSource> source);

} // namespace duplex::data
