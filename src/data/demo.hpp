#pragma once
// Public data with labels made wrong on purpose: a training, a trusted and a test part of the
// 60 000 training images of FashionMNIST or MNIST, disjoint.

#include "data/dataset.hpp"
#include "data/noise.hpp"

#include <array>
#include <cstdint>
#include <filesystem>
#include <string_view>
#include <utility>
#include <vector>

namespace duplex::data {

enum class DemoSet : std::uint8_t { fashion_mnist, mnist };
inline constexpr std::array<std::string_view, 2> demo_set_names = {"fashion-mnist", "mnist"};
constexpr const auto &names_of(DemoSet /*unused*/) { return demo_set_names; }

struct DemoOptions {
  DemoSet set = DemoSet::fashion_mnist;
  std::filesystem::path folder = {}; ///< of the IDX files; empty: where the set usually is
  Index training = 5000;
  Index trusted = 500;
  Index test = 10'000;
  NoiseOptions noise = {};
  ReadOptions reading = {};
};

struct Demo {
  Dataset training; ///< with the wrong labels
  Dataset trusted;
  Dataset test;
  std::vector<std::uint32_t> true_labels; ///< of the training part
  std::vector<bool> chosen;               ///< rows that the noise chose; uniform noise leaves some of them right

  [[nodiscard]] std::vector<bool> wrong() const; ///< rows whose label is not the true one
};

/// MNIST's training and test images. Throws InvalidInput, saying how to get them, where they are not there.
[[nodiscard]] std::pair<std::filesystem::path, std::filesystem::path> mnist_images(const std::filesystem::path &folder);

/// Throws InvalidInput, saying how to get them, where the files are not there.
[[nodiscard]] Demo make_demo(const DemoOptions &options);

} // namespace duplex::data
