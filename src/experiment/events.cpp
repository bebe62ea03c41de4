#include "experiment/events.hpp"

#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <limits>

namespace duplex::experiment {

namespace {

constexpr std::array<std::uint32_t, 256> castagnoli = [] {
  constexpr std::uint32_t reversed_polynomial = 0x82F63B78;
  std::array<std::uint32_t, 256> table{};
  for (std::uint32_t byte = 0; byte < table.size(); ++byte) {
    std::uint32_t rest = byte;
    for (int bit = 0; bit < 8; ++bit) {
      rest = (rest >> 1U) ^ ((rest & 1U) != 0 ? reversed_polynomial : 0);
    }
    table[byte] = rest;
  }
  return table;
}();

template <class Unsigned> void append_little_endian(std::string &bytes, Unsigned number) {
  for (std::size_t i = 0; i < sizeof(Unsigned); ++i) {
    bytes += static_cast<char>((number >> (8 * i)) & 0xFFU);
  }
}

void append_varint(std::string &bytes, std::uint64_t number) {
  constexpr std::uint64_t seven_bits = 0x7F;
  for (; number > seven_bits; number >>= 7U) {
    bytes += static_cast<char>((number & seven_bits) | 0x80U);
  }
  bytes += static_cast<char>(number);
}

/// Of a protocol buffer: a field's number and the kind of what follows.
enum class Wire : std::uint8_t { varint = 0, fixed64 = 1, length = 2, fixed32 = 5 };

void append_tag(std::string &message, std::uint64_t field, Wire wire) {
  append_varint(message, field << 3U | static_cast<std::uint64_t>(wire));
}

void append_bytes(std::string &message, std::uint64_t field, std::string_view bytes) {
  append_tag(message, field, Wire::length);
  append_varint(message, bytes.size());
  message += bytes;
}

// Event: wall_time = 1, step = 2, file_version = 3, summary = 5; Summary: value = 1; Value: tag = 1, simple_value = 2.
std::string event_at(double wall_time) {
  std::string event;
  append_tag(event, 1, Wire::fixed64);
  append_little_endian(event, std::bit_cast<std::uint64_t>(wall_time));
  return event;
}

std::uint32_t masked_crc(std::string_view bytes) {
  const std::uint32_t crc = crc32c(bytes);
  return std::rotr(crc, 15) + 0xA282EAD8U;
}

std::string record_of(const std::string &message) {
  std::string record;
  append_little_endian(record, static_cast<std::uint64_t>(message.size()));
  append_little_endian(record, masked_crc(record));
  record += message;
  append_little_endian(record, masked_crc(message));
  return record;
}

} // namespace

std::uint32_t crc32c(std::string_view bytes) {
  std::uint32_t crc = ~0U;
  for (const char byte : bytes) {
    crc = castagnoli[(crc ^ static_cast<unsigned char>(byte)) & 0xFFU] ^ (crc >> 8U);
  }
  return ~crc;
}

std::string first_event(double wall_time) {
  std::string event = event_at(wall_time);
  append_bytes(event, 3, event_version);
  return record_of(event);
}

std::string scalar_event(double wall_time, std::int64_t step, std::span<const std::string> names,
                         std::span<const double> numbers) {
  std::string summary;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    if (std::abs(numbers[i]) <= static_cast<double>(std::numeric_limits<float>::max())) {
      std::string value;
      append_bytes(value, 1, names[i]);
      append_tag(value, 2, Wire::fixed32);
      append_little_endian(value, std::bit_cast<std::uint32_t>(static_cast<float>(numbers[i])));
      append_bytes(summary, 1, value);
    }
  }
  std::string event = event_at(wall_time);
  append_tag(event, 2, Wire::varint);
  append_varint(event, static_cast<std::uint64_t>(step));
  append_bytes(event, 5, summary);
  return record_of(event);
}

} // namespace duplex::experiment
