// Files of data.

#include "fuzz.hpp"

#include "data/npy_write.hpp"
#include "data/readers.hpp"
#include "data/source.hpp"

#include <duplex/numerics/matrix_file.hpp>

#include <array>
#include <cstdint>
#include <memory>

namespace duplex::fuzz {

namespace {

data::ReadOptions small_tables() {
  data::ReadOptions options;
  options.memory_limit = std::uint64_t{32} << 20U;
  return options;
}

std::unique_ptr<data::ByteSource> source_of(std::string_view bytes) {
  return data::unpacked(std::make_unique<data::MemorySource>("input", bytes));
}

void read_arrays(std::string_view features, std::string_view labels) {
  use_or_refuse([&] {
    const auto from = source_of(labels);
    (void)data::read_arrays(*source_of(features), labels.empty() ? nullptr : from.get(), small_tables());
  });
}

} // namespace

void read_csv(std::string_view input) {
  const auto read = [&](const data::ReadOptions &options) {
    use_or_refuse([&] { (void)data::read_csv(*source_of(input), options); });
  };
  auto options = small_tables();
  read(options);
  options.label = "1";
  options.id = "2";
  read(options);
  options.label = "";
  options.id = "id";
  options.expect_labels = false;
  read(options);
}

void read_npy(std::string_view input) {
  static const std::string three_rows =
      data::npy_file(std::array<float, 3>{1.0F, 2.0F, 3.0F}, std::array<Index, 2>{3, 1});
  read_arrays(input, {});
  read_arrays(input, input);
  read_arrays(three_rows, input);
}

void read_libsvm(std::string_view input) {
  const auto read = [&](const data::ReadOptions &options) {
    use_or_refuse([&] { (void)data::read_libsvm(*source_of(input), options); });
  };
  auto options = small_tables();
  read(options);
  options.columns = 5;
  options.expect_labels = false;
  read(options);
}

void read_idx(std::string_view input) {
  read_arrays(input, {});
  read_arrays(input, input);
  read_arrays(input, {"\0\0\x08\x01\0\0\0\x02\x03\x07", 10});
}

void read_matrix(std::string_view input) {
  use_or_refuse([&] { (void)parse_matrix(input, "input"); });
}

} // namespace duplex::fuzz
