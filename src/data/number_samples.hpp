#pragma once
// What the numbers of a table's columns are like, for the choice of its plan.

#include "data/raw_table.hpp"

#include <cstdint>
#include <utility>
#include <vector>

namespace duplex::data {

/// The value below which that part of them lies; puts them in another order.
[[nodiscard]] float quantile(std::vector<float> &values, double part);

/// What is known of a column of numbers, from rows that are taken evenly.
struct NumberSample {
  float median = 0.0F;
  float lower_quarter = 0.0F;
  float upper_quarter = 0.0F;
};

class NumberSamples {
public:
  /// The table must outlive it.
  explicit NumberSamples(const RawTable &table);

  [[nodiscard]] const NumberSample &of(std::size_t column) const { return samples_[column]; }
  /// How many values are out of all proportion: beside them nothing would be left of the others.
  [[nodiscard]] std::uint64_t far_values(std::size_t column) const { return far_[column]; }
  /// So many times the width of the middle half of the values away from it.
  [[nodiscard]] std::pair<float, float> ends_of(std::size_t at, double times) const;

private:
  void sample_numbers();
  void count_far_values();
  [[nodiscard]] std::uint64_t count_beyond(std::size_t at, float below, float above) const;
  [[nodiscard]] bool swamps_the_others(std::size_t at) const;

  const RawTable &table_;
  std::vector<NumberSample> samples_;
  std::vector<std::uint64_t> far_;
};

} // namespace duplex::data
