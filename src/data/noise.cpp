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

void require_part(double part, std::string_view name) {
  if (!(part >= 0.0 && part <= 1.0)) {
    throw InvalidInput(fmt::format("noise: {} = {}, expected >= 0 and <= 1", name, part));
  }
}

void require_labels(std::span<const std::uint32_t> labels, std::size_t classes) {
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
  require_part(options.fraction, "fraction");
  require_labels(labels, classes);
  std::mt19937_64 generator(options.seed);
  const auto count = static_cast<std::size_t>(std::llround(options.fraction * static_cast<double>(labels.size())));
  NoisyLabels noisy{{labels.begin(), labels.end()}, std::vector<bool>(labels.size(), false)};
  for (const std::size_t row : draw_without_repetition(generator, labels.size(), count)) {
    noisy.chosen[row] = true;
    noisy.labels[row] = replaced(labels[row], classes, options.kind, generator);
  }
  return noisy;
}

SourcedLabels add_noise_by_source(std::span<const std::uint32_t> labels, std::size_t classes,
                                  const SourceNoise &options) {
  require_part(options.worst, "worst");
  require_labels(labels, classes);
  if (options.sources < 1) {
    throw InvalidInput("noise: no sources, expected at least 1");
  }
  std::mt19937_64 generator(options.seed);
  SourcedLabels out;
  for (const std::uint32_t label : labels) {
    const std::uint64_t source = uniform_below(generator, options.sources);
    const double rate = options.worst * static_cast<double>(source) /
                        static_cast<double>(std::max<std::size_t>(options.sources - 1, 1));
    constexpr std::uint64_t fine = std::uint64_t{1} << 53U;
    const bool errs = static_cast<double>(uniform_below(generator, fine)) < rate * static_cast<double>(fine);
    out.sources.push_back(static_cast<std::uint32_t>(source));
    out.labels.push_back(errs ? replaced(label, classes, NoiseKind::always_wrong, generator) : label);
  }
  return out;
}

} // namespace duplex::data
