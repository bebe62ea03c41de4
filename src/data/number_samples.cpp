#include "data/number_samples.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>

namespace duplex::data {

float quantile(std::vector<float> &values, double part) {
  const auto at = static_cast<std::ptrdiff_t>(std::lround(part * static_cast<double>(values.size() - 1)));
  std::nth_element(values.begin(), values.begin() + at, values.end());
  return values[static_cast<std::size_t>(at)];
}

NumberSamples::NumberSamples(const RawTable &table) : table_(table) {
  sample_numbers();
  count_far_values();
}

/// Sorted parts of columns, some columns at once: a column's cells lie far from one another.
void NumberSamples::sample_numbers() {
  constexpr std::size_t most_rows = 4096;
  constexpr std::size_t columns_at_once = 64;
  samples_.resize(table_.columns());
  const std::size_t step = std::max<std::size_t>(1, (table_.rows() + most_rows - 1) / most_rows);
  std::vector<std::vector<float>> values(columns_at_once);
  for (std::size_t first = 0; first < table_.columns(); first += columns_at_once) {
    const std::size_t count = std::min(columns_at_once, table_.columns() - first);
    for (auto &column : values) {
      column.clear();
    }
    for (std::size_t row = 0; row < table_.rows(); row += step) {
      for (std::size_t k = 0; k < count; ++k) {
        const float cell = table_.cell(row, first + k);
        if (is_number_cell(cell)) {
          values[k].push_back(cell);
        }
      }
    }
    for (std::size_t k = 0; k < count; ++k) {
      if (!values[k].empty()) {
        samples_[first + k] = {quantile(values[k], 0.5), quantile(values[k], 0.25), quantile(values[k], 0.75)};
      }
    }
  }
}

std::pair<float, float> NumberSamples::ends_of(std::size_t at, double times) const {
  const auto low = static_cast<double>(samples_[at].lower_quarter);
  const auto high = static_cast<double>(samples_[at].upper_quarter);
  return {static_cast<float>(low - times * (high - low)), static_cast<float>(high + times * (high - low))};
}

/// Of columns of which half of the values are the same, none are.
void NumberSamples::count_far_values() {
  constexpr double far = 100.0;
  const std::size_t columns = table_.columns();
  std::vector<float> below(columns);
  std::vector<float> above(columns);
  for (std::size_t i = 0; i < columns; ++i) {
    std::tie(below[i], above[i]) = ends_of(i, far);
    if (!(samples_[i].upper_quarter > samples_[i].lower_quarter)) {
      below[i] = -std::numeric_limits<float>::infinity();
      above[i] = std::numeric_limits<float>::infinity();
    }
  }
  // Nearly all columns have none, which their least and largest values tell soonest.
  std::vector<float> least(columns, std::numeric_limits<float>::infinity());
  std::vector<float> largest(columns, -std::numeric_limits<float>::infinity());
  for (std::size_t row = 0; row < table_.rows(); ++row) {
    const float *cells = table_.row(row);
    for (std::size_t i = 0; i < columns; ++i) { // of a NaN neither is true
      least[i] = cells[i] < least[i] ? cells[i] : least[i];
      largest[i] = cells[i] > largest[i] ? cells[i] : largest[i];
    }
  }
  far_.assign(columns, 0);
  for (std::size_t i = 0; i < columns; ++i) {
    if (least[i] < below[i] || largest[i] > above[i]) {
      far_[i] = swamps_the_others(i) ? count_beyond(i, below[i], above[i]) : 0;
    }
  }
}

std::uint64_t NumberSamples::count_beyond(std::size_t at, float below, float above) const {
  std::uint64_t count = 0;
  for (std::size_t row = 0; row < table_.rows(); ++row) {
    const float cell = table_.cell(row, at);
    count += cell < below || cell > above ? 1 : 0;
  }
  return count;
}

/// Divided by the standard deviation, the middle half of the values would be as good as one value.
bool NumberSamples::swamps_the_others(std::size_t at) const {
  const auto middle = static_cast<double>(samples_[at].median);
  double squares = 0.0; // about the median, which is near the mean beside such values
  for (std::size_t row = 0; row < table_.rows(); ++row) {
    const float cell = table_.cell(row, at);
    const double off = is_number_cell(cell) ? static_cast<double>(cell) - middle : 0.0;
    squares += off * off;
  }
  constexpr double nothing = 1e-3;
  const double width =
      static_cast<double>(samples_[at].upper_quarter) - static_cast<double>(samples_[at].lower_quarter);
  return width < nothing * std::sqrt(squares / static_cast<double>(table_.rows()));
}

} // namespace duplex::data
