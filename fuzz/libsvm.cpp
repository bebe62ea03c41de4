#include "fuzz.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *bytes, std::size_t size) {
  using namespace duplex;
  const auto input = fuzz::text_of(bytes, size);
  const auto read = [&](const data::ReadOptions &options) {
    fuzz::read_or_refuse([&] { return data::read_libsvm(*fuzz::source_of(input), options); });
  };
  auto options = fuzz::small_tables();
  read(options);
  options.columns = 5;
  options.expect_labels = false;
  read(options);
  return 0;
}
