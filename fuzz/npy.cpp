#include "fuzz.hpp"

#include "data/npy_write.hpp"

#include <array>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *bytes, std::size_t size) {
  using namespace duplex;
  const auto input = fuzz::text_of(bytes, size);
  static const std::string three_rows =
      data::npy_file(std::array<float, 3>{1.0F, 2.0F, 3.0F}, std::array<Index, 2>{3, 1});
  const auto read = [&](std::string_view features, std::string_view labels) {
    fuzz::read_or_refuse([&] {
      const auto from = fuzz::source_of(labels);
      return data::read_arrays(*fuzz::source_of(features), labels.empty() ? nullptr : from.get(), fuzz::small_tables());
    });
  };
  read(input, {});
  read(input, input);
  read(three_rows, input);
  return 0;
}
