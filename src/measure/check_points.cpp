#include "measure/check_points.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace duplex::detail {

namespace {

double power_of_two_below(double value) { return value > 0.0 ? std::exp2(std::floor(std::log2(value))) : 0.0; }

Numbers normal_draws(std::mt19937_64 &generator, std::size_t count) {
  std::normal_distribution<double> normal;
  Numbers out(count);
  for (double &entry : out) {
    entry = normal(generator);
  }
  return out;
}

} // namespace

std::string CheckPoints::not_finite_at_start() {
  problem_->lower.at(problem_->x, problem_->y);
  problem_->upper.at(problem_->x, problem_->y);
  if (!std::isfinite(problem_->lower.value())) {
    return "f";
  }
  return std::isfinite(problem_->upper.value()) ? "" : "F";
}

bool CheckPoints::is_finite(const Numbers &x, const Numbers &y) {
  problem_->lower.at(x, y);
  if (!std::isfinite(problem_->lower.value())) {
    return false;
  }
  problem_->upper.at(x, y);
  return std::isfinite(problem_->upper.value());
}

/// That of its entry, at most 1; where the entry is zero, that of the others.
Numbers CheckPoints::scales_of(const Numbers &start) {
  double sum = 0.0;
  for (const double entry : start) {
    sum += entry * entry;
  }
  const double rms = std::sqrt(sum / static_cast<double>(std::max<std::size_t>(start.size(), 1)));
  const double usual = rms > 0.0 ? std::min(1.0, rms) : 1.0;
  Numbers out(start.size());
  for (std::size_t i = 0; i < start.size(); ++i) {
    out[i] = start[i] != 0.0 ? std::min(1.0, std::abs(start[i])) : usual;
  }
  return out;
}

Numbers CheckPoints::moved(const Numbers &start, const Numbers &scales, const Numbers &draws, double share) const {
  Numbers out(start.size());
  for (std::size_t i = 0; i < start.size(); ++i) {
    out[i] = start[i] + share * spread_ * scales[i] * draws[i];
    if (problem_->precision > 1e-10) {
      out[i] = static_cast<double>(static_cast<float>(out[i])); // as the problem will see it
    }
  }
  return out;
}

/// What left the box goes as far to the other side of the start or, where that is outside too, between the bounds.
void CheckPoints::fold(Numbers &x) {
  if (!has_bounds()) {
    return;
  }
  std::uniform_real_distribution<double> middle(0.25, 0.75);
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double low = problem_->lower_bound[i];
    const double high = problem_->upper_bound[i];
    const auto is_inside = [&](double entry) { return entry > low && entry < high; };
    if (!is_inside(x[i])) {
      x[i] = 2.0 * problem_->x[i] - x[i];
    }
    if (!is_inside(x[i])) {
      x[i] = low + (high - low) * middle(*generator_);
    }
  }
  keep_inside(x);
}

void CheckPoints::keep_inside(Numbers &x) const {
  for (std::size_t i = 0; has_bounds() && i < x.size(); ++i) {
    x[i] = std::clamp(x[i], problem_->lower_bound[i], problem_->upper_bound[i]);
  }
}

/// For a start at the edge of where f and F are finite: each entry to the one side, or to the other, or not at all.
void CheckPoints::move_one_by_one(Numbers &entries, const Numbers &steps, CheckPoint &point) {
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const double before = entries[i];
    for (const double side : {1.0, -1.0, 0.0}) {
      entries[i] = before + side * steps[i];
      keep_inside(point.x);
      if (side == 0.0 || (entries[i] != before && is_finite(point.x, point.y))) {
        break;
      }
    }
  }
}

CheckPoint CheckPoints::draw() {
  constexpr int halvings = 30;
  constexpr double small_share = 0x1p-6;
  constexpr std::size_t most_entries = 1000;
  const Numbers x_draws = normal_draws(*generator_, problem_->x.size());
  const Numbers y_draws = normal_draws(*generator_, problem_->y.size());
  const Numbers x_scales = scales_of(problem_->x);
  const Numbers y_scales = scales_of(problem_->y);
  CheckPoint point;
  double share = 1.0;
  bool found = false;
  for (int i = 0; i < halvings && !found; ++i) {
    share = std::ldexp(1.0, -i);
    point.x = moved(problem_->x, x_scales, x_draws, share);
    point.y = moved(problem_->y, y_scales, y_draws, share);
    fold(point.x);
    found = is_finite(point.x, point.y);
  }
  if (!found) {
    share = small_share;
    point.x = problem_->x;
    point.y = problem_->y;
    if (point.x.size() + point.y.size() <= most_entries) {
      Numbers zeros(std::max(point.x.size(), point.y.size()), 0.0);
      zeros.resize(point.x.size());
      move_one_by_one(point.x, moved(zeros, x_scales, x_draws, share), point);
      zeros.assign(point.y.size(), 0.0);
      move_one_by_one(point.y, moved(zeros, y_scales, y_draws, share), point);
    }
  }
  const auto units = [&](const Numbers &at, const Numbers &start, const Numbers &scales) {
    Numbers out(at.size());
    for (std::size_t i = 0; i < at.size(); ++i) {
      out[i] = power_of_two_below(std::max({std::abs(at[i]), std::abs(start[i]), share * scales[i]}));
    }
    return out;
  };
  point.x_unit = units(point.x, problem_->x, x_scales);
  point.y_unit = units(point.y, problem_->y, y_scales);
  for (std::size_t i = 0; has_bounds() && i < point.x.size(); ++i) {
    const double below = point.x[i] - problem_->lower_bound[i];
    const double above = problem_->upper_bound[i] - point.x[i];
    const double farther = std::max(below, above);
    const double nearer = std::min(below, above);
    const bool hugs_a_bound = nearer < 0x1p-10 * std::min(farther, point.x_unit[i]);
    point.x_unit[i] = std::min(point.x_unit[i], power_of_two_below(hugs_a_bound ? farther : nearer));
  }
  return point;
}

Room CheckPoints::room(const Numbers &x, const Numbers &direction) const {
  Room out{.below = std::numeric_limits<double>::infinity(), .above = std::numeric_limits<double>::infinity()};
  for (std::size_t i = 0; has_bounds() && i < x.size(); ++i) {
    if (direction[i] != 0.0) {
      const double low = (problem_->lower_bound[i] - x[i]) / direction[i];
      const double high = (problem_->upper_bound[i] - x[i]) / direction[i];
      out.below = std::min(out.below, -std::min(low, high));
      out.above = std::min(out.above, std::max(low, high));
    }
  }
  return out;
}

} // namespace duplex::detail
