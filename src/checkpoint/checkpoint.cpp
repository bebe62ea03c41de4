#include "checkpoint/checkpoint.hpp"

#include <duplex/error.hpp>

#include <fmt/format.h>

#include <zlib.h>

#include <array>
#include <bit>
#include <cstring>

namespace duplex::checkpoint {

namespace {

static_assert(std::endian::native == std::endian::little);

constexpr std::string_view magic = "DUPLEXCP";
constexpr std::uint32_t version = 1;
constexpr std::array<std::string_view, 4> kind_names{"text", "32-bit numbers", "64-bit numbers", "whole numbers"};

template <class T> void append_number(std::string &to, T number) {
  to.append(reinterpret_cast<const char *>(&number), sizeof number);
}

std::uint32_t checksum(std::string_view bytes) {
  return static_cast<std::uint32_t>(crc32_z(0, reinterpret_cast<const Bytef *>(bytes.data()), bytes.size()));
}

/// Takes parts off the front, and refuses to go past the end.
class Parts {
public:
  Parts(std::string_view bytes, const std::string &source) : bytes_(bytes), source_(source) {}

  [[nodiscard]] bool empty() const { return bytes_.empty(); }
  [[nodiscard]] std::string_view take(std::uint64_t count) {
    if (count > bytes_.size()) {
      throw InvalidInput(fmt::format("{}: the checkpoint is cut short: {} bytes where {} are expected", source_,
                                     bytes_.size(), count));
    }
    const auto part = bytes_.substr(0, count);
    bytes_.remove_prefix(count);
    return part;
  }
  template <class T> [[nodiscard]] T number() {
    T value;
    std::memcpy(&value, take(sizeof value).data(), sizeof value);
    return value;
  }

private:
  std::string_view bytes_;
  const std::string &source_;
};

} // namespace

template <class T> void Checkpoint::put_numbers(const std::string &name, Kind kind, std::span<const T> numbers) {
  entries_[name] = {kind, std::string(reinterpret_cast<const char *>(numbers.data()), numbers.size_bytes())};
}

void Checkpoint::put(const std::string &name, std::string_view text) {
  entries_[name] = {Kind::text, std::string(text)};
}
void Checkpoint::put(const std::string &name, std::span<const float> numbers) {
  put_numbers(name, Kind::floats, numbers);
}
void Checkpoint::put(const std::string &name, std::span<const double> numbers) {
  put_numbers(name, Kind::doubles, numbers);
}
void Checkpoint::put(const std::string &name, std::span<const std::int64_t> numbers) {
  put_numbers(name, Kind::integers, numbers);
}

const std::string &Checkpoint::bytes_of(const std::string &name, Kind kind) const {
  const auto found = entries_.find(name);
  if (found == entries_.end()) {
    throw InvalidInput(fmt::format("the checkpoint has no '{}'", name));
  }
  if (found->second.kind != kind) {
    throw InvalidInput(fmt::format("'{}' of the checkpoint is {}, expected {}", name,
                                   kind_names[static_cast<std::size_t>(found->second.kind)],
                                   kind_names[static_cast<std::size_t>(kind)]));
  }
  return found->second.bytes;
}

template <class T> std::vector<T> Checkpoint::numbers(const std::string &name, Kind kind) const {
  const std::string &bytes = bytes_of(name, kind);
  if (bytes.size() % sizeof(T) != 0) {
    throw InvalidInput(
        fmt::format("'{}' of the checkpoint has {} bytes, expected a multiple of {}", name, bytes.size(), sizeof(T)));
  }
  std::vector<T> values(bytes.size() / sizeof(T));
  if (!bytes.empty()) {
    std::memcpy(values.data(), bytes.data(), bytes.size());
  }
  return values;
}

std::string Checkpoint::text(const std::string &name) const { return bytes_of(name, Kind::text); }
std::vector<float> Checkpoint::floats(const std::string &name) const { return numbers<float>(name, Kind::floats); }
std::vector<double> Checkpoint::doubles(const std::string &name) const { return numbers<double>(name, Kind::doubles); }
std::vector<std::int64_t> Checkpoint::integers(const std::string &name) const {
  return numbers<std::int64_t>(name, Kind::integers);
}

std::string Checkpoint::encoded() const {
  std::string entries;
  for (const auto &[name, entry] : entries_) {
    append_number(entries, static_cast<std::uint32_t>(name.size()));
    entries += name;
    append_number(entries, static_cast<std::uint8_t>(entry.kind));
    append_number(entries, static_cast<std::uint64_t>(entry.bytes.size()));
    entries += entry.bytes;
  }
  std::string file(magic);
  append_number(file, version);
  append_number(file, static_cast<std::uint64_t>(entries.size()));
  file += entries;
  append_number(file, checksum(entries));
  return file;
}

Checkpoint Checkpoint::decoded(std::string_view bytes, const std::string &source) {
  if (!bytes.starts_with(magic)) {
    throw InvalidInput(fmt::format("{}: not a checkpoint of Duplex", source));
  }
  Parts file(bytes.substr(magic.size()), source);
  if (const auto found = file.number<std::uint32_t>(); found != version) {
    throw InvalidInput(fmt::format("{}: a checkpoint of version {}, expected {}", source, found, version));
  }
  const auto content = file.take(file.number<std::uint64_t>());
  if (file.number<std::uint32_t>() != checksum(content) || !file.empty()) {
    throw InvalidInput(fmt::format("{}: the checkpoint is damaged: its checksum does not match", source));
  }
  Checkpoint result;
  for (Parts entries(content, source); !entries.empty();) {
    std::string name(entries.take(entries.number<std::uint32_t>()));
    const auto kind = entries.number<std::uint8_t>();
    if (kind >= kind_names.size()) {
      throw InvalidInput(fmt::format("{}: the entry '{}' is of an unknown kind", source, name));
    }
    std::string value(entries.take(entries.number<std::uint64_t>()));
    result.entries_[std::move(name)] = {static_cast<Kind>(kind), std::move(value)};
  }
  return result;
}

} // namespace duplex::checkpoint
