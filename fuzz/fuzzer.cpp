// One target for libFuzzer, which FUZZ_TARGET names.

#include "fuzz.hpp"

#include <cstddef>
#include <cstdint>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *bytes, std::size_t size) {
  static const auto run = [] {
    for (const auto &target : duplex::fuzz::targets()) {
      if (target.name == FUZZ_TARGET) {
        return target.run;
      }
    }
    __builtin_trap();
  }();
  run({reinterpret_cast<const char *>(bytes), size});
  return 0;
}
