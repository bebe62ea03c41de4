#pragma once
// Scales and ticks, shared by all drawings.

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace duplex::report {

struct Tick {
  double fraction; ///< of the way along the axis
  std::string text;
  std::optional<int> exponent = std::nullopt; ///< raised, after the text
};

struct Ticks {
  std::vector<Tick> major;
  std::vector<double> minor; ///< fractions; no labels
};

/// Empty room beyond the extreme values, as a fraction of their distance.
struct Padding {
  double low;
  double high;
};

class Axis {
public:
  /// Covers those of the values that it can show.
  Axis(bool logarithmic, std::span<const double> values, Padding padding);

  /// Finite, and positive on a logarithmic axis.
  [[nodiscard]] static bool can_show(bool logarithmic, double value);

  /// 0 at the low end, 1 at the high end.
  [[nodiscard]] double fraction(double value) const;

  /// At nice places, about `at_most` of them or fewer.
  [[nodiscard]] Ticks ticks(int at_most) const;

private:
  [[nodiscard]] double along(double scaled) const { return (scaled - low_) / (high_ - low_); }
  [[nodiscard]] Ticks linear_ticks(int at_most) const;
  [[nodiscard]] Ticks decade_ticks(int at_most) const;
  [[nodiscard]] Ticks ticks_within_decades(int at_most) const;

  bool logarithmic_;
  double low_;  ///< the value, or its logarithm to base 10
  double high_; ///< likewise
};

} // namespace duplex::report
