#pragma once
// Whether what a step launches on a device is captured as a CUDA graph and replayed.

#include <array>
#include <cstdint>
#include <string_view>

namespace duplex {

enum class Capture : std::uint8_t { automatic, on, off };

constexpr std::array<std::string_view, 3> capture_names{"auto", "on", "off"};
constexpr const auto &names_of(Capture /*unused*/) { return capture_names; }

} // namespace duplex
