#pragma once
// DoubleMNIST: 64 × 64 images of two MNIST digits side by side, a class for each of 00 … 99. Digit l stands at a
// random row of 36 and a column of 4, in its half. Drawn from the digits in less time than it would take to read
// the images from disk.

#include "data/dataset.hpp"

#include <array>
#include <cstdint>
#include <filesystem>
#include <span>
#include <vector>

namespace duplex::data {

struct DoubleMnistOptions {
  std::filesystem::path folder = {}; ///< of MNIST's IDX files; empty: where they usually are
  Index images_per_class = 1000;
  std::uint64_t seed = 0;
  ReadOptions reading = {};
};

struct DoubleMnist {
  static constexpr Index side = 64;
  static constexpr Index pixels = side * side;
  static constexpr Index classes = 100;

  Index images_per_class = 0;
  std::vector<std::uint8_t> bytes; ///< class after class, image after image, row after row
};

/// The classes as in the authors' code: NumPy's RandomState(123).shuffle(range(100)), 64 / 16 / 20.
extern const std::array<int, 16> double_mnist_validation;
extern const std::array<int, 20> double_mnist_test;
[[nodiscard]] std::vector<int> double_mnist_training();

/// Throws InvalidInput, saying how to get them, where MNIST's files are not there.
[[nodiscard]] DoubleMnist make_double_mnist(const DoubleMnistOptions &options);

} // namespace duplex::data
