#pragma once
// The state of a run as one file: entries by name, texts or numbers, with a version and a checksum.
//
//   "DUPLEXCP", u32 version, u64 length of the entries, the entries, u32 CRC-32 of them; little-endian
//   entry: u32 length of the name, the name, u8 kind, u64 length, the bytes

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace duplex::checkpoint {

class Checkpoint {
public:
  void put(const std::string &name, std::string_view text);
  void put(const std::string &name, std::span<const float> numbers);
  void put(const std::string &name, std::span<const double> numbers);
  void put(const std::string &name, std::span<const std::int64_t> numbers);

  [[nodiscard]] bool has(const std::string &name) const { return entries_.contains(name); }
  /// These throw InvalidInput, with the name, where there is no such entry or it is of another kind.
  [[nodiscard]] std::string text(const std::string &name) const;
  [[nodiscard]] std::vector<float> floats(const std::string &name) const;
  [[nodiscard]] std::vector<double> doubles(const std::string &name) const;
  [[nodiscard]] std::vector<std::int64_t> integers(const std::string &name) const;

  [[nodiscard]] std::string encoded() const;
  /// Throws InvalidInput where the bytes are no checkpoint, of another version, cut short or damaged; `source` names
  /// where they come from.
  [[nodiscard]] static Checkpoint decoded(std::string_view bytes, const std::string &source);

private:
  enum class Kind : std::uint8_t { text, floats, doubles, integers };
  struct Entry {
    Kind kind;
    std::string bytes;
  };

  template <class T> void put_numbers(const std::string &name, Kind kind, std::span<const T> numbers);
  template <class T> [[nodiscard]] std::vector<T> numbers(const std::string &name, Kind kind) const;
  [[nodiscard]] const std::string &bytes_of(const std::string &name, Kind kind) const;

  std::map<std::string, Entry> entries_;
};

} // namespace duplex::checkpoint
