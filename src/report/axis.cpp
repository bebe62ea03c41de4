#include "report/axis.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace duplex::report {
namespace {

// Beyond these, differences overflow and steps underflow.
constexpr double largest = 1e300;
constexpr double smallest = 1e-290;

// Closer together than this, values are shown as equal: labels would need more digits.
constexpr double relative_resolution = 1e-9;

// In steps: whether a tick falls on the end of the axis must not hinge on rounding.
constexpr double slack = 1e-6;

std::string with_minus_sign(std::string number) { return number.starts_with('-') ? "−" + number.substr(1) : number; }

std::string fixed(double value, int decimals) { return with_minus_sign(fmt::format("{:.{}f}", value, decimals)); }

/// Multiples of a step of 1, 2 or 5 times a power of ten.
struct NiceSteps {
  long long digit;
  int power;
  long long first;
  long long last;

  NiceSteps(double low, double high, int at_most) {
    power = static_cast<int>(std::floor(std::log10((high - low) / at_most)));
    digit = 1;
    while (high - low > at_most * step()) {
      advance();
    }
    first = std::llround(std::ceil(low / step() - slack));
    last = std::llround(std::floor(high / step() + slack));
  }

  [[nodiscard]] double step() const { return static_cast<double>(digit) * std::pow(10.0, power); }
  [[nodiscard]] double value(long long k) const { return static_cast<double>(k) * step(); }

  [[nodiscard]] Tick label(long long k) const {
    const double extreme = std::max(std::abs(value(first)), std::abs(value(last)));
    if (k == 0 || extreme == 0) {
      return {0, "0"};
    }
    const int magnitude = static_cast<int>(std::floor(std::log10(extreme) + slack));
    if (magnitude >= 5 || magnitude < -3) {
      const double mantissa = static_cast<double>(k * digit) * std::pow(10.0, power - magnitude);
      return {0, fixed(mantissa, std::max(0, magnitude - power)) + "×10", magnitude};
    }
    return {0, fixed(value(k), std::max(0, -power))};
  }

private:
  void advance() {
    if (digit == 5) {
      ++power;
    }
    digit = digit == 1 ? 2 : digit == 2 ? 5 : 1;
  }
};

Tick label_of_multiple(int digit, int power) {
  if (-3 <= power && power <= 4) {
    return {0, fixed(digit * std::pow(10.0, power), std::max(0, -power))};
  }
  return {0, digit == 1 ? "10" : fmt::format("{}×10", digit), power};
}

} // namespace

bool Axis::can_show(bool logarithmic, double value) {
  return std::isfinite(value) && (logarithmic ? value > 0 : std::abs(value) <= largest);
}

Axis::Axis(bool logarithmic, std::span<const double> values, Padding padding)
    : logarithmic_(logarithmic), low_(std::numeric_limits<double>::infinity()), high_(-low_) {
  for (const double value : values) {
    if (!can_show(logarithmic_, value)) {
      continue;
    }
    const double scaled = logarithmic_ ? std::log10(value) : value;
    low_ = std::min(low_, scaled);
    high_ = std::max(high_, scaled);
  }
  if (low_ > high_) {
    low_ = high_ = 0;
  }
  const double magnitude = std::max(std::abs(low_), std::abs(high_));
  if (high_ - low_ <= std::max(relative_resolution * (logarithmic_ ? 1 : magnitude), smallest)) {
    const double room = logarithmic_ ? 0.5 : magnitude > 1e10 * smallest ? 0.1 * magnitude : 1;
    low_ -= room;
    high_ += room;
  }
  const double distance = high_ - low_;
  low_ -= padding.low * distance;
  high_ += padding.high * distance;
}

double Axis::fraction(double value) const {
  if (!can_show(logarithmic_, value)) {
    return std::numeric_limits<double>::quiet_NaN();
  }
  return along(logarithmic_ ? std::log10(value) : value);
}

Ticks Axis::ticks(int at_most) const {
  at_most = std::max(at_most, 2);
  if (!logarithmic_) {
    return linear_ticks(at_most);
  }
  const double decades = std::floor(high_ + slack) - std::ceil(low_ - slack) + 1;
  return decades >= 2 ? decade_ticks(at_most) : ticks_within_decades(at_most);
}

Ticks Axis::linear_ticks(int at_most) const {
  const NiceSteps steps(low_, high_, at_most);
  Ticks result;
  for (long long k = steps.first; k <= steps.last; ++k) {
    result.major.push_back(steps.label(k));
    result.major.back().fraction = along(steps.value(k));
  }
  return result;
}

Ticks Axis::decade_ticks(int at_most) const {
  const int first = static_cast<int>(std::ceil(low_ - slack));
  const int last = static_cast<int>(std::floor(high_ + slack));
  constexpr std::array<int, 9> strides{1, 2, 3, 4, 5, 10, 20, 50, 100};
  const auto fits = [&](int stride) { return (last - first) / stride < at_most; };
  const auto found = std::ranges::find_if(strides, fits);
  const int stride = found == strides.end() ? 200 : *found;

  Ticks result;
  for (int power = first - 1; power <= last; ++power) {
    if (power >= first && power % stride == 0) {
      result.major.push_back({along(power), "10", power});
    } else if (power >= first && stride <= 10) {
      result.minor.push_back(along(power));
    }
    for (int digit = 2; stride == 1 && digit <= 9; ++digit) {
      const double at = along(power + std::log10(digit));
      if (0 <= at && at <= 1) {
        result.minor.push_back(at);
      }
    }
  }
  return result;
}

Ticks Axis::ticks_within_decades(int at_most) const {
  Ticks result;
  for (int power = static_cast<int>(std::floor(low_)); power <= static_cast<int>(std::ceil(high_)); ++power) {
    for (const int digit : {1, 2, 5}) {
      const double at = along(power + std::log10(digit));
      if (-slack <= at && at <= 1 + slack) {
        result.major.push_back(label_of_multiple(digit, power));
        result.major.back().fraction = at;
      }
    }
  }
  const bool powers_are_normal = std::log10(smallest) < low_ && high_ < std::log10(largest);
  if (result.major.size() >= 3 || !powers_are_normal) {
    return result;
  }

  const NiceSteps steps(std::pow(10.0, low_), std::pow(10.0, high_), at_most);
  result.major.clear();
  for (long long k = std::max(steps.first, 1LL); k <= steps.last; ++k) {
    result.major.push_back(steps.label(k));
    result.major.back().fraction = fraction(steps.value(k));
  }
  return result;
}

} // namespace duplex::report
