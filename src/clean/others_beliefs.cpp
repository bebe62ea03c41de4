#include "clean/others_beliefs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace duplex::clean {

Matrix log_beliefs(const data::Dataset &probabilities) {
  constexpr double rounding = 0.01; // of probabilities that were written with few digits
  constexpr double least = 1e-6;    // a class of probability 0 is improbable, not impossible
  const auto &table = probabilities.features;
  Matrix out(table.rows(), table.columns());
  for (Index i = 0; i < table.rows(); ++i) {
    double sum = 0.0;
    for (Index k = 0; k < table.columns(); ++k) {
      const auto p = static_cast<double>(table.stored(i, k));
      if (!(p >= 0.0 && p <= 1.0 + rounding)) {
        throw InvalidInput(fmt::format("{}: row {}: found {}, expected a probability from 0 to 1", probabilities.source,
                                       probabilities.row_number(static_cast<std::size_t>(i)),
                                       std::isnan(p) ? "no number" : fmt::format("{:.6g}", p)));
      }
      sum += p;
      out(i, k) = static_cast<float>(std::log(std::max(p, least)));
    }
    if (!(std::abs(sum - 1.0) <= rounding)) {
      throw InvalidInput(fmt::format("{}: row {}: found probabilities that add up to {:.4g}, expected 1",
                                     probabilities.source, probabilities.row_number(static_cast<std::size_t>(i)), sum));
    }
  }
  return out;
}

} // namespace duplex::clean
