#include "measure/difference_ladder.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace duplex::detail {

Numbers noise_of(const Curve &curve, const Numbers &at_zero, Room room, double precision, int samples) {
  constexpr std::array<double, 7> weights{1.0, 0.5, 1.0 / 6.0, 1.0 / 20.0, 1.0 / 70.0, 1.0 / 252.0, 1.0 / 924.0};
  constexpr int first_order = 3; // below, what is smooth does not cancel
  constexpr int tries = 4;
  const std::size_t count = at_zero.size();
  Numbers noise(count);
  for (std::size_t i = 0; i < count; ++i) {
    noise[i] = precision * std::abs(at_zero[i]);
  }
  const double side = room.above >= room.below ? 1.0 : -1.0;
  double step = std::exp2(std::round(std::log2(std::cbrt(precision))));
  while (step * samples > std::max(room.above, room.below) && step > 0.0) {
    step *= 0.5;
  }
  std::vector<Numbers> table;
  for (int attempt = 0; attempt < tries && table.empty(); ++attempt, step /= 64.0) {
    table.push_back(at_zero);
    for (int j = 1; j <= samples && !table.empty(); ++j) {
      table.push_back(curve(side * step * j));
      if (table.back().empty()) {
        table.clear();
      }
    }
  }
  if (table.empty()) {
    for (double &entry : noise) {
      entry *= ladder_safety;
    }
    return noise;
  }
  for (std::size_t i = 0; i < count; ++i) {
    std::array<double, 7> column{};
    for (std::size_t j = 0; j < table.size(); ++j) {
      column[j] = table[j][i];
    }
    double least = std::numeric_limits<double>::infinity();
    double before = 0.0;
    for (int order = 1; order <= samples; ++order) {
      const auto left = static_cast<std::size_t>(samples + 1 - order);
      double sum = 0.0;
      for (std::size_t j = 0; j < left; ++j) {
        column[j] = column[j + 1] - column[j];
        sum += column[j] * column[j];
      }
      const double found = std::sqrt(weights[static_cast<std::size_t>(order)] * sum / static_cast<double>(left));
      if (order > first_order || (order == first_order && samples == first_order)) {
        least = std::min(least, std::max(before, found));
      }
      before = found;
    }
    noise[i] = std::max(noise[i], least);
  }
  return noise;
}

} // namespace duplex::detail
