// Files of data.

#include "fuzz.hpp"

#include "data/csv_copy.hpp"
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

/// With every second row left out and the others' first cells changed: what is refused is refused, and no more.
void copy(std::string_view input) {
  const std::string label = "\"new,\"";
  data::CsvCopy copy{.has_header = true, .rows = 3, .added = {"a", "b"}};
  copy.change = [&](std::size_t row) {
    return data::CopiedRow{.is_left_out = row % 2 == 1, .label = row == 0 ? &label : nullptr, .added = {"1", "2"}};
  };
  std::size_t bytes = 0;
  data::copy_csv(*source_of(input), copy, [&](std::string_view piece) { bytes += piece.size(); });
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
  options = small_tables(); // a table by its own columns, and again with roles for all of them
  options.expect_labels = false;
  use_or_refuse([&] { options.plan = data::read_csv(*source_of(input), options).plan; });
  read(options);
  options.plan = nullptr;
  options.source = "1";
  options.trusted_column = "2";
  options.drop = {"3"};
  read(options);
  use_or_refuse([&] { copy(input); });
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
