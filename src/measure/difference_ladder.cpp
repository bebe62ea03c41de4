#include "measure/difference_ladder.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace duplex::detail {

namespace {

constexpr double unknown = std::numeric_limits<double>::infinity();

/// A table of extrapolations, of which two rows are kept.
class Extrapolation {
public:
  Extrapolation(const Numbers &claimed, const LadderSettings &settings)
      : claimed_(&claimed), settings_(&settings), value_(claimed.size(), 0.0), truncation_(claimed.size(), unknown),
        rounding_(claimed.size(), unknown) {}

  /// What is known stays; the next row does not follow the one before.
  void interrupt() { rows_ = 0; }

  /// The slopes over the next step, and what rounding makes of them. Errors of theirs go with the powers of `base`: 4
  /// for steps to both sides, 2 for steps to one.
  ///
  /// Two extrapolations may agree by chance where a slope turns. So an error is never taken for less than a sixteenth
  /// of that in the row before, and the first that there is is not taken at all.
  void add(Numbers slopes, const Numbers &rounding, const Numbers &jumps, double base) {
    constexpr double most_gain = 16.0;
    std::swap(row_, previous_);
    std::swap(errors_, previous_errors_);
    row_[0] = std::move(slopes);
    double power = 1.0;
    for (std::size_t j = 1; j < std::min<std::size_t>(rows_ + 1, depth); ++j) {
      power *= base;
      const Numbers &near = row_[j - 1];
      const Numbers &far = previous_[j - 1];
      Numbers &next = row_[j];
      next.resize(near.size());
      errors_[j].resize(near.size());
      for (std::size_t i = 0; i < near.size(); ++i) {
        next[i] = near[i] + (near[i] - far[i]) / (power - 1.0);
        double &error = errors_[j][i];
        error = std::max(std::abs(next[i] - near[i]), std::abs(next[i] - far[i]));
        if (rows_ > 1) {
          error = std::max(error, previous_errors_[std::max<std::size_t>(j - 1, 1)][i] / most_gain);
        }
        const double all = error + (jumps.empty() ? 0.0 : 0.5 * jumps[i]);
        if (rows_ > 1 && all + rounding[i] < truncation_[i] + rounding_[i]) {
          value_[i] = next[i];
          truncation_[i] = all;
          rounding_[i] = rounding[i];
        }
      }
    }
    ++rows_;
  }

  [[nodiscard]] bool any() const {
    return truncation_.empty() || std::isfinite(truncation_[0]); // all values are found together
  }

  /// Each claimed slope is within the error, which is small or as small as rounding lets it become.
  [[nodiscard]] bool bears_out() const {
    constexpr double fine = 1e-8;
    if (settings_->all || rows_ < 3) {
      return false;
    }
    for (std::size_t i = 0; i < value_.size(); ++i) {
      const double error = truncation_[i] + rounding_[i];
      const double size = std::max(std::abs(value_[i]), std::abs((*claimed_)[i]));
      if (!(std::abs(value_[i] - (*claimed_)[i]) <= ladder_safety * error + settings_->tolerance * size) ||
          (error > fine * size && truncation_[i] > rounding_[i])) {
        return false;
      }
    }
    return true;
  }

  [[nodiscard]] Slopes result() const {
    Slopes out{.value = value_, .error = truncation_, .any = any()};
    for (std::size_t i = 0; i < out.error.size(); ++i) {
      out.error[i] += rounding_[i];
    }
    return out;
  }

private:
  static constexpr std::size_t depth = 6;

  const Numbers *claimed_;
  const LadderSettings *settings_;
  std::vector<Numbers> row_ = std::vector<Numbers>(depth);
  std::vector<Numbers> previous_ = std::vector<Numbers>(depth);
  std::vector<Numbers> errors_ = std::vector<Numbers>(depth);
  std::vector<Numbers> previous_errors_ = std::vector<Numbers>(depth);
  std::size_t rows_ = 0;
  Numbers value_;
  Numbers truncation_;
  Numbers rounding_;
};

/// How much the slope jumps within a step: (g(h) + g(−h) − 2g(0))/h, whose smooth part goes with the odd powers of h,
/// extrapolated to h = 0. The least of a row counts.
class JumpWatch {
public:
  void interrupt() { rows_ = 0; }
  [[nodiscard]] Numbers add(Numbers seconds, const Numbers &rounding) {
    constexpr double of_rounding = 8.0;
    Numbers least(seconds.size(), unknown);
    std::swap(row_, previous_);
    row_[0] = std::move(seconds);
    double power = 0.5;
    for (std::size_t j = 1; j < std::min<std::size_t>(rows_ + 1, depth); ++j) {
      power *= 4.0;
      row_[j].resize(least.size());
      for (std::size_t i = 0; i < least.size(); ++i) {
        row_[j][i] = row_[j - 1][i] + (row_[j - 1][i] - previous_[j - 1][i]) / (power - 1.0);
        least[i] = std::min(least[i], std::max(0.0, std::abs(row_[j][i]) - of_rounding * rounding[i]));
      }
    }
    ++rows_;
    return least;
  }

private:
  static constexpr std::size_t depth = 6;

  std::vector<Numbers> row_ = std::vector<Numbers>(depth);
  std::vector<Numbers> previous_ = std::vector<Numbers>(depth);
  std::size_t rows_ = 0;
};

} // namespace

Slopes slopes_of(const Curve &curve, const Numbers &at_zero, const Numbers &noise, const Numbers &claimed, Room room,
                 const LadderSettings &settings) {
  const std::size_t count = at_zero.size();
  Extrapolation table(claimed, settings);
  JumpWatch jumps;
  Numbers slopes(count);
  Numbers seconds(count);
  Numbers rounding(count);
  int above = 0; // how often the curve was finite on that side alone
  int below = 0;
  for (int level = 0; level < settings.levels; ++level) {
    const double h = std::ldexp(settings.first, -level);
    if (h > room.below || h > room.above) {
      continue;
    }
    const Numbers forward = curve(h);
    const Numbers back = curve(-h);
    above += forward.empty() ? 0 : 1;
    below += back.empty() ? 0 : 1;
    if (forward.empty() || back.empty()) {
      table.interrupt();
      jumps.interrupt();
      continue;
    }
    for (std::size_t i = 0; i < count; ++i) {
      slopes[i] = (forward[i] - back[i]) / (2.0 * h);
      seconds[i] = (forward[i] + back[i] - 2.0 * at_zero[i]) / h;
      rounding[i] = 2.0 * (noise[i] + settings.precision * std::max(std::abs(forward[i]), std::abs(back[i]))) / h;
    }
    table.add(slopes, rounding, jumps.add(seconds, rounding), 4.0);
    if (table.bears_out()) {
      break;
    }
  }
  if (table.any()) {
    return table.result();
  }
  const double side = above >= below && room.above > 0.0 ? 1.0 : -1.0;
  table.interrupt();
  for (int level = 0; level < settings.levels; ++level) {
    const double h = std::ldexp(settings.first, -level);
    if (h > (side > 0.0 ? room.above : room.below)) {
      continue;
    }
    const Numbers moved = curve(side * h);
    if (moved.empty()) {
      table.interrupt();
      continue;
    }
    for (std::size_t i = 0; i < count; ++i) {
      slopes[i] = side * (moved[i] - at_zero[i]) / h;
      rounding[i] = 8.0 * (noise[i] + settings.precision * std::abs(moved[i])) / h; // extrapolation makes more of it
    }
    table.add(slopes, rounding, {}, 2.0);
    if (table.bears_out()) {
      break;
    }
  }
  return table.result();
}

} // namespace duplex::detail
