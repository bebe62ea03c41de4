#include "data/demo.hpp"

#include "data/split.hpp"

#include <duplex/core/error.hpp>

#include <fmt/format.h>

#include <cstdlib>

namespace duplex::data {

namespace {

constexpr std::array<std::string_view, 10> clothes{"T-shirt/top", "Trouser", "Pullover", "Dress", "Coat",
                                                   "Sandal",      "Shirt",   "Sneaker",  "Bag",   "Ankle boot"};

std::filesystem::path usual_folder(DemoSet set) {
  if (set == DemoSet::fashion_mnist) {
    return "/usr/share/datasets/fashion-mnist";
  }
  const char *data = std::getenv("DUPLEX_DATA"); // NOLINT(concurrency-mt-unsafe): read before any thread starts
  return std::filesystem::path(data != nullptr ? data : "data") / "mnist";
}

std::filesystem::path images_of(DemoSet set, const std::filesystem::path &given, const std::string &part = "train") {
  const auto folder = given.empty() ? usual_folder(set) : given;
  const std::string name = part + "-images-idx3-ubyte";
  for (const char *ending : {"", ".gz"}) {
    if (std::filesystem::exists(folder / (name + ending))) {
      return folder / (name + ending);
    }
  }
  throw InvalidInput(fmt::format("{}: no {}[.gz] in {}; {}", name_of(set), name, folder.string(),
                                 set == DemoSet::fashion_mnist
                                     ? "install the package dataset-fashion-mnist, or name the folder that holds it"
                                     : "run scripts/mnist.sh, or name the folder that holds it"));
}

} // namespace

std::pair<std::filesystem::path, std::filesystem::path> mnist_images(const std::filesystem::path &folder) {
  return {images_of(DemoSet::mnist, folder), images_of(DemoSet::mnist, folder, "t10k")};
}

Demo make_demo(const DemoOptions &options) {
  Dataset all = read_dataset(images_of(options.set, options.folder), options.reading);
  if (options.set == DemoSet::fashion_mnist && all.label_names.size() == clothes.size()) {
    all.label_names.assign(clothes.begin(), clothes.end());
  }
  const std::array<Index, 3> sizes{options.training, options.trusted, options.test};
  auto parts = split(all, sizes, options.noise.seed);
  Demo demo{std::move(parts[0]), std::move(parts[1]), std::move(parts[2]), {}, {}};
  demo.training.source = fmt::format("{}, {:.0f} % of the labels changed ({})", name_of(options.set),
                                     100.0 * options.noise.fraction, name_of(options.noise.kind));
  demo.true_labels = demo.training.labels;
  NoiseOptions noise = options.noise;
  noise.seed = ~noise.seed; // draws of its own: the split has used those of the seed
  auto noisy = add_noise(demo.training.labels, demo.training.label_names.size(), noise);
  demo.training.labels = std::move(noisy.labels);
  demo.chosen = std::move(noisy.chosen);
  return demo;
}

std::vector<bool> Demo::wrong() const {
  std::vector<bool> differs(true_labels.size());
  for (std::size_t i = 0; i < differs.size(); ++i) {
    differs[i] = training.labels[i] != true_labels[i];
  }
  return differs;
}

} // namespace duplex::data
