#include <duplex/torch/memory.hpp>

#if DUPLEX_TORCH_CUDA
#include <c10/cuda/CUDAFunctions.h>
#include <c10/cuda/CUDAGuard.h>
#include <cuda_runtime_api.h>
#endif

#include <array>
#include <charconv>
#include <cstddef>
#include <cstdio>
#include <fstream>
#include <limits>
#include <optional>
#include <system_error>

namespace duplex {

namespace {

struct Room {
  double free = 0.0; ///< bytes
  double total = 0.0;
};

/// What the system would give away without swapping.
std::optional<Room> room_of_host() {
  std::ifstream file("/proc/meminfo");
  Room room;
  std::string name;
  double kibibytes = 0.0;
  while (file >> name >> kibibytes) {
    if (name == "MemTotal:") {
      room.total = kibibytes * 1024.0;
    } else if (name == "MemAvailable:") {
      room.free = kibibytes * 1024.0;
    }
    file.ignore(std::numeric_limits<std::streamsize>::max(), '\n');
  }
  return room.total > 0.0 ? std::optional(room) : std::nullopt;
}

std::optional<Room> room_of_device(int index) {
#if DUPLEX_TORCH_CUDA
  if (index < 0 || index >= c10::cuda::device_count()) {
    return std::nullopt;
  }
  const c10::cuda::CUDAGuard on_device(static_cast<c10::DeviceIndex>(index));
  std::size_t free = 0;
  std::size_t total = 0;
  if (cudaMemGetInfo(&free, &total) == cudaSuccess) {
    return Room{static_cast<double>(free), static_cast<double>(total)};
  }
  (void)cudaGetLastError(); // which is no error of what comes next
#endif
  (void)index;
  return std::nullopt;
}

/// What follows after the first occurrence; empty where there is none.
std::string_view after(std::string_view text, std::string_view before) {
  const auto begin = text.find(before);
  return begin == std::string_view::npos ? std::string_view() : text.substr(begin + before.size());
}

std::optional<double> number_at_front(std::string_view text) {
  double number = 0.0;
  const bool reads = std::from_chars(text.data(), text.data() + text.size(), number).ec == std::errc();
  return reads ? std::optional(number) : std::nullopt;
}

/// "2.00 GiB" of "Tried to allocate 2.00 GiB (GPU 0; …" and of "Tried to allocate 2.00 GiB. GPU 0 has …".
std::optional<std::string> size_asked_of_device(std::string_view text) {
  const auto rest = after(text, "Tried to allocate ");
  const auto unit = rest.find(' ');
  if (unit == std::string_view::npos) {
    return std::nullopt;
  }
  return std::string(rest.substr(0, rest.find_first_of(" .", unit + 1)));
}

[[noreturn]] void refuse_size(std::string_view what, const std::string &device, const std::optional<std::string> &asked,
                              const std::optional<Room> &room) {
  const std::string given = asked ? *asked + " asked for" : "more asked for than there is";
  const std::string left = room ? ", " + bytes_text(room->free) + " of " + bytes_text(room->total) + " free" : "";
  throw OutOfMemory(std::string(what) + ": out of memory on " + device + ": " + given + left +
                    "; reduce the batch, or the size of the variables");
}

} // namespace

std::string bytes_text(double bytes) {
  constexpr std::array<const char *, 5> units{"bytes", "KiB", "MiB", "GiB", "TiB"};
  std::size_t unit = 0;
  while (bytes >= 1024.0 && unit + 1 < units.size()) {
    bytes /= 1024.0;
    ++unit;
  }
  std::array<char, 32> buffer{};
  const int length = std::snprintf(buffer.data(), buffer.size(), unit == 0 ? "%.0f %s" : "%.2f %s", bytes, units[unit]);
  return {buffer.data(), static_cast<std::size_t>(length)};
}

void refuse_out_of_memory(std::string_view what, const c10::Error &error) {
  const std::string text = error.what_without_backtrace();
  if (text.find("DefaultCPUAllocator") != std::string::npos) {
    const auto bytes = number_at_front(after(text, "you tried to allocate "));
    refuse_size(what, "cpu", bytes ? std::optional(bytes_text(*bytes)) : std::nullopt, room_of_host());
  }
  const bool typed = dynamic_cast<const c10::OutOfMemoryError *>(&error) != nullptr;
  if (typed || text.find("out of memory") != std::string::npos) { // the runtime's own errors are known by their text
    const auto index = static_cast<int>(number_at_front(after(text, "GPU ")).value_or(0.0));
    refuse_size(what, "cuda:" + std::to_string(index), size_asked_of_device(text), room_of_device(index));
  }
}

} // namespace duplex
