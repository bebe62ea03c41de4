#pragma once
// Records of TensorBoard's event files, written by hand: each is the length of a message, its CRC, the message and its
// CRC, and a message holds a step's scalars.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace duplex::experiment {

/// In the first event of every file.
inline constexpr std::string_view event_version = "brain.Event:2";

/// CRC-32C (Castagnoli).
[[nodiscard]] std::uint32_t crc32c(std::string_view bytes);

/// What an event file begins with.
[[nodiscard]] std::string first_event(double wall_time);

/// One step, in floats as TensorBoard has them; numbers that are none are left out.
[[nodiscard]] std::string scalar_event(double wall_time, std::int64_t step, std::span<const std::string> names,
                                       std::span<const double> numbers);

} // namespace duplex::experiment
