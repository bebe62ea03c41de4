#include "checkpoint/checkpoint.hpp"

#include <fmt/format.h>

#include <zlib.h>

#include <bit>
#include <cstring>

namespace duplex::checkpoint {

namespace {

static_assert(std::endian::native == std::endian::little);

constexpr std::string_view magic = "DUPLEXCP";
constexpr std::uint32_t checkpoint_version = 11;

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

template <class T> SavedState::Value value_of(std::string_view bytes, const std::string &source) {
  using Entry = typename T::value_type;
  if (bytes.size() % sizeof(Entry) != 0) {
    throw InvalidInput(
        fmt::format("{}: an entry of {} bytes, expected a multiple of {}", source, bytes.size(), sizeof(Entry)));
  }
  T values(bytes.size() / sizeof(Entry), Entry());
  if (!bytes.empty()) {
    std::memcpy(values.data(), bytes.data(), bytes.size());
  }
  return values;
}

} // namespace

std::string encoded(const SavedState &state) {
  std::string entries;
  for (const auto &[name, value] : state.entries()) {
    append_number(entries, static_cast<std::uint32_t>(name.size()));
    entries += name;
    append_number(entries, static_cast<std::uint8_t>(value.index()));
    std::visit(
        [&](const auto &values) {
          const std::uint64_t bytes = values.size() * sizeof(values.front());
          append_number(entries, bytes);
          entries.append(reinterpret_cast<const char *>(values.data()), bytes);
        },
        value);
  }
  return framed(entries);
}

std::string framed(std::string_view entries) {
  std::string file(magic);
  append_number(file, checkpoint_version);
  append_number(file, static_cast<std::uint64_t>(entries.size()));
  file += entries;
  append_number(file, checksum(entries));
  return file;
}

std::string_view entries_of(std::string_view file) {
  constexpr std::size_t before = magic.size() + sizeof checkpoint_version + sizeof(std::uint64_t);
  return file.substr(before, file.size() - before - sizeof(std::uint32_t));
}

SavedState decoded(std::string_view bytes, const std::string &source) {
  if (!bytes.starts_with(magic)) {
    throw InvalidInput(fmt::format("{}: not a checkpoint of Duplex", source));
  }
  Parts file(bytes.substr(magic.size()), source);
  if (const auto found = file.number<std::uint32_t>(); found != checkpoint_version) {
    throw InvalidInput(fmt::format("{}: a checkpoint of version {}, expected {}", source, found, checkpoint_version));
  }
  const auto content = file.take(file.number<std::uint64_t>());
  if (file.number<std::uint32_t>() != checksum(content) || !file.empty()) {
    throw InvalidInput(fmt::format("{}: the checkpoint is damaged: its checksum does not match", source));
  }
  SavedState state;
  for (Parts entries(content, source); !entries.empty();) {
    std::string name(entries.take(entries.number<std::uint32_t>()));
    const auto kind = entries.number<std::uint8_t>();
    const auto value = entries.take(entries.number<std::uint64_t>());
    switch (kind) {
    case 0:
      state.put(std::move(name), std::string(value));
      break;
    case 1:
      state.put(std::move(name), value_of<SavedState::Floats>(value, source));
      break;
    case 2:
      state.put(std::move(name), value_of<SavedState::Doubles>(value, source));
      break;
    case 3:
      state.put(std::move(name), value_of<SavedState::Integers>(value, source));
      break;
    default:
      throw InvalidInput(fmt::format("{}: the entry '{}' is of an unknown kind", source, name));
    }
  }
  return state;
}

} // namespace duplex::checkpoint
