#include "zoo/rescaled.hpp"

#include <duplex/core/random.hpp>

#include <algorithm>
#include <cmath>
#include <random>

namespace duplex::zoo {

Eigen::VectorXd spread_units(Index size, double largest, std::uint64_t seed) {
  std::mt19937_64 generator(seed);
  const auto count = static_cast<std::size_t>(size);
  const auto order = draw_without_repetition(generator, count, count);
  Eigen::VectorXd units(size);
  for (Index i = 0; i < size; ++i) {
    const double place =
        static_cast<double>(order[static_cast<std::size_t>(i)]) / static_cast<double>(std::max<Index>(size - 1, 1));
    units[i] = std::exp2(std::round((2.0 * place - 1.0) * std::log2(largest)));
  }
  return units;
}

} // namespace duplex::zoo
