#include "data/double_mnist.hpp"

#include "data/demo.hpp"
#include "data/random.hpp"

#include <duplex/core/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace duplex::data {

const std::array<int, 16> double_mnist_validation{3, 7, 10, 22, 27, 34, 39, 40, 48, 52, 58, 61, 64, 71, 93, 99};
const std::array<int, 20> double_mnist_test{2,  17, 25, 32, 36, 46, 47, 49, 55, 57,
                                            66, 67, 68, 73, 78, 80, 83, 86, 92, 96};

namespace {

constexpr Index digit_side = 28;
constexpr std::uint64_t row_choices = 36;
constexpr std::uint64_t column_choices = 4;

/// The images of each digit, one after the other.
using Digits = std::array<std::vector<std::uint8_t>, 10>;

void add_digits(const std::filesystem::path &images, const ReadOptions &reading, Digits &digits) {
  const Dataset all = read_dataset(images, reading);
  const FeatureTable &pixels = all.features;
  if (pixels.storage() != Storage::byte || pixels.columns() != digit_side * digit_side ||
      all.label_names.size() != 10) {
    throw InvalidInput(fmt::format("{}: found {} columns and {} classes, expected MNIST: 28 x 28 bytes, 10 classes",
                                   images.string(), pixels.columns(), all.label_names.size()));
  }
  const auto *bytes = reinterpret_cast<const std::uint8_t *>(pixels.data());
  for (std::size_t i = 0; i < all.labels.size(); ++i) {
    auto &of_digit = digits[all.labels[i]];
    const auto *image = bytes + i * digit_side * digit_side;
    of_digit.insert(of_digit.end(), image, image + digit_side * digit_side);
  }
}

void place(const Digits &digits, std::size_t digit, Index half, std::mt19937_64 &generator, std::uint8_t *canvas) {
  constexpr std::size_t digit_pixels = digit_side * digit_side;
  const auto &images = digits[digit];
  const std::uint8_t *image = images.data() + digit_pixels * uniform_below(generator, images.size() / digit_pixels);
  const auto row = static_cast<Index>(uniform_below(generator, row_choices));
  const Index column = half * (DoubleMnist::side / 2) + static_cast<Index>(uniform_below(generator, column_choices));
  for (Index r = 0; r < digit_side; ++r) {
    std::memcpy(canvas + (row + r) * DoubleMnist::side + column, image + r * digit_side, digit_side);
  }
}

} // namespace

std::vector<int> double_mnist_training() {
  std::vector<int> classes;
  for (int c = 0; c < DoubleMnist::classes; ++c) {
    const auto among = [c](const auto &others) { return std::find(others.begin(), others.end(), c) != others.end(); };
    if (!among(double_mnist_validation) && !among(double_mnist_test)) {
      classes.push_back(c);
    }
  }
  return classes;
}

DoubleMnist make_double_mnist(const DoubleMnistOptions &options) {
  if (options.images_per_class < 1) {
    throw InvalidInput(
        fmt::format("double-mnist: images-per-class = {}, expected at least 1", options.images_per_class));
  }
  const auto [training, test] = mnist_images(options.folder);
  Digits digits;
  add_digits(training, options.reading, digits);
  add_digits(test, options.reading, digits);
  DoubleMnist result;
  result.images_per_class = options.images_per_class;
  result.bytes.resize(static_cast<std::size_t>(DoubleMnist::classes * options.images_per_class * DoubleMnist::pixels));
  for (Index c = 0; c < DoubleMnist::classes; ++c) {
    std::mt19937_64 generator(options.seed * DoubleMnist::classes + static_cast<std::uint64_t>(c));
    for (Index i = 0; i < options.images_per_class; ++i) {
      auto *canvas = result.bytes.data() + (c * options.images_per_class + i) * DoubleMnist::pixels;
      place(digits, static_cast<std::size_t>(c / 10), 0, generator, canvas);
      place(digits, static_cast<std::size_t>(c % 10), 1, generator, canvas);
    }
  }
  return result;
}

} // namespace duplex::data
