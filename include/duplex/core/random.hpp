#pragma once
// Draws that are the same with every standard library: the engine's numbers are laid down by
// the standard, those of its distributions are not.

#include <cstddef>
#include <cstdint>
#include <limits>
#include <random>
#include <unordered_set>
#include <utility>
#include <vector>

namespace duplex {

/// SplitMix64 (Steele, Lea and Flood, 2014): for a few draws, which the Mersenne twister takes a microsecond to begin.
class SplitMix64 {
public:
  using result_type = std::uint64_t;

  explicit SplitMix64(std::uint64_t seed) : state_(seed) {}

  [[nodiscard]] static constexpr std::uint64_t min() { return 0; }
  [[nodiscard]] static constexpr std::uint64_t max() { return std::numeric_limits<std::uint64_t>::max(); }
  std::uint64_t operator()() {
    state_ += 0x9E3779B97F4A7C15U;
    std::uint64_t mixed = state_;
    mixed = (mixed ^ (mixed >> 30U)) * 0xBF58476D1CE4E5B9U;
    mixed = (mixed ^ (mixed >> 27U)) * 0x94D049BB133111EBU;
    return mixed ^ (mixed >> 31U);
  }

private:
  std::uint64_t state_;
};

/// Uniform in 0..bound − 1, without bias: numbers above the last multiple of the bound are drawn again.
[[nodiscard]] inline std::uint64_t uniform_below(std::mt19937_64 &generator, std::uint64_t bound) {
  constexpr std::uint64_t largest = std::numeric_limits<std::uint64_t>::max();
  const std::uint64_t surplus = (largest % bound + 1) % bound; // 2^64 mod bound
  std::uint64_t draw = generator();
  while (draw > largest - surplus) {
    draw = generator();
  }
  return draw % bound;
}

/// The first `count` of a random order of 0..size − 1 (Fisher and Yates).
[[nodiscard]] inline std::vector<std::size_t> draw_without_repetition(std::mt19937_64 &generator, std::size_t size,
                                                                      std::size_t count) {
  std::vector<std::size_t> order(size);
  for (std::size_t i = 0; i < size; ++i) {
    order[i] = i;
  }
  for (std::size_t i = 0; i < count; ++i) {
    std::swap(order[i], order[i + uniform_below(generator, size - i)]);
  }
  order.resize(count);
  return order;
}

/// `count` different numbers of 0..size − 1, every set as likely as any other, in time that grows with the count alone
/// (Floyd's method; Bentley and Floyd, 1987). Their order is not random.
[[nodiscard]] inline std::vector<std::size_t> draw_few_without_repetition(std::mt19937_64 &generator, std::size_t size,
                                                                          std::size_t count) {
  std::vector<std::size_t> drawn;
  drawn.reserve(count);
  std::unordered_set<std::size_t> seen;
  for (std::size_t last = size - count; last < size; ++last) {
    const std::size_t number = uniform_below(generator, last + 1);
    drawn.push_back(seen.contains(number) ? last : number); // `last` is new: all before it are smaller
    seen.insert(drawn.back());
  }
  return drawn;
}

} // namespace duplex
