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
  const Values values = values_at(problem_->x, problem_->y);
  if (!std::isfinite(values.lower)) {
    return "f";
  }
  return std::isfinite(values.upper) ? "" : "F";
}

CheckPoints::Values CheckPoints::values_at(const Numbers &x, const Numbers &y) {
  problem_->lower.at(x, y);
  problem_->upper.at(x, y);
  return {.lower = problem_->lower.value(), .upper = problem_->upper.value()};
}

bool CheckPoints::is_tame(const Values &start, const Values &half, const Values &far) {
  constexpr double most_growth = 64.0; // that of a sixth power
  constexpr double usual_change = 10.0;
  const auto grows = [&](double from, double by_half, double to) {
    return std::abs(to - from) > std::max(most_growth * std::abs(by_half - from), usual_change * std::abs(from));
  };
  return far.are_finite() && (!half.are_finite() || (!grows(start.lower, half.lower, far.lower) &&
                                                     !grows(start.upper, half.upper, far.upper)));
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
    if (is_single_precision(problem_->precision)) {
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
      if (side == 0.0 || (entries[i] != before && values_at(point.x, point.y).are_finite())) {
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
  point.x = problem_->x;
  point.y = problem_->y;
  // The largest of 1, ½, ¼, … by which a variable may move from where it is; 0 where it may not at all.
  const auto move = [&](Numbers &entries, const std::function<Numbers(double)> &at_share) {
    const Numbers before = entries;
    const Values at_start = values_at(point.x, point.y);
    Numbers nearer = at_share(1.0);
    const auto values_of = [&](const Numbers &moved_to) {
      entries = moved_to;
      return values_at(point.x, point.y);
    };
    Values at_nearer = values_of(nearer);
    for (int i = 0; i < halvings; ++i) {
      const Numbers here = std::move(nearer);
      const Values at_here = at_nearer;
      nearer = at_share(std::ldexp(0.5, -i));
      at_nearer = values_of(nearer);
      if (is_tame(at_start, at_nearer, at_here)) {
        entries = here;
        return std::ldexp(1.0, -i);
      }
    }
    entries = before;
    return 0.0;
  };
  // At the edge of where f and F are finite: each entry to the one side, or to the other.
  const auto moved_or_edged = [&](Numbers &entries, const Numbers &scales, const Numbers &draws,
                                  const std::function<Numbers(double)> &at_share) {
    const double share = move(entries, at_share);
    if (share > 0.0) {
      return share;
    }
    if (entries.size() <= most_entries) {
      move_one_by_one(entries, moved(Numbers(entries.size(), 0.0), scales, draws, small_share), point);
    }
    return small_share;
  };
  const double y_share = moved_or_edged(point.y, y_scales, y_draws,
                                        [&](double share) { return moved(problem_->y, y_scales, y_draws, share); });
  const double x_share = moved_or_edged(point.x, x_scales, x_draws, [&](double share) {
    Numbers out = moved(problem_->x, x_scales, x_draws, share);
    fold(out);
    return out;
  });
  const auto units = [](const Numbers &at, const Numbers &start, const Numbers &scales, double share) {
    Numbers out(at.size());
    for (std::size_t i = 0; i < at.size(); ++i) {
      out[i] = power_of_two_below(std::max({std::abs(at[i]), std::abs(start[i]), share * scales[i]}));
    }
    return out;
  };
  point.x_unit = units(point.x, problem_->x, x_scales, x_share);
  point.y_unit = units(point.y, problem_->y, y_scales, y_share);
  for (std::size_t i = 0; has_bounds() && i < point.x.size(); ++i) {
    const double below = point.x[i] - problem_->lower_bound[i];
    const double above = problem_->upper_bound[i] - point.x[i];
    const double most = std::max(below, above);
    const double least = std::min(below, above);
    const bool hugs_a_bound = least < 0x1p-10 * std::min(most, point.x_unit[i]);
    point.x_unit[i] = std::min(point.x_unit[i], power_of_two_below(hugs_a_bound ? most : least));
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
