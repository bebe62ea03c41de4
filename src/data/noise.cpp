#include "data/noise.hpp"

#include "data/random.hpp"

#include <duplex/core/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace duplex::data {
namespace {

std::uint32_t replaced(std::uint32_t label, std::uint64_t classes, NoiseKind kind, std::mt19937_64 &generator) {
  switch (kind) {
  case NoiseKind::uniform:
    return static_cast<std::uint32_t>(uniform_below(generator, classes));
  case NoiseKind::always_wrong:
    return static_cast<std::uint32_t>((label + 1 + uniform_below(generator, classes - 1)) % classes);
  case NoiseKind::pair:
    break;
  }
  return static_cast<std::uint32_t>((label + std::uint64_t{1}) % classes);
}

void require_valid(std::span<const std::uint32_t> labels, std::size_t classes, const NoiseOptions &options) {
  if (!(options.fraction >= 0.0 && options.fraction <= 1.0)) {
    throw InvalidInput(fmt::format("noise: fraction = {}, expected >= 0 and <= 1", options.fraction));
  }
  if (classes < 2) {
    throw InvalidInput(fmt::format("noise: found {} classes, expected at least 2", classes));
  }
  const auto wrong = std::find_if(labels.begin(), labels.end(), [&](std::uint32_t label) { return label >= classes; });
  if (wrong != labels.end()) {
    throw InvalidInput(fmt::format("noise: row {} has label number {}, expected less than {}",
                                   wrong - labels.begin() + 1, *wrong, classes));
  }
}

} // namespace

NoisyLabels add_noise(std::span<const std::uint32_t> labels, std::size_t classes, const NoiseOptions &options) {
  require_valid(labels, classes, options);
  std::mt19937_64 generator(options.seed);
  const auto count = static_cast<std::size_t>(std::llround(options.fraction * static_cast<double>(labels.size())));
  NoisyLabels noisy{{labels.begin(), labels.end()}, std::vector<bool>(labels.size(), false)};
  for (const std::size_t row : draw_without_repetition(generator, labels.size(), count)) {
    noisy.chosen[row] = true;
    noisy.labels[row] = replaced(labels[row], classes, options.kind, generator);
  }
  return noisy;
}

} // namespace duplex::data
