#include "fuzz.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *bytes, std::size_t size) {
  using namespace duplex;
  const auto input = fuzz::text_of(bytes, size);
  const auto read = [&](std::string_view labels) {
    fuzz::read_or_refuse([&] {
      const auto from = fuzz::source_of(labels);
      return data::read_arrays(*fuzz::source_of(input), labels.empty() ? nullptr : from.get(), fuzz::small_tables());
    });
  };
  read({});
  read(input);
  read({"\0\0\x08\x01\0\0\0\x02\x03\x07", 10});
  return 0;
}
