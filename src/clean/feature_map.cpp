#include "clean/feature_map.hpp"

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>

namespace duplex::clean {

namespace {

/// Φ⁻¹ by rational functions (Acklam), right to nine digits.
double inverse_normal(double p) {
  constexpr std::array<double, 6> a{-3.969683028665376e+01, 2.209460984245205e+02,  -2.759285104469687e+02,
                                    1.383577518672690e+02,  -3.066479806614716e+01, 2.506628277459239e+00};
  constexpr std::array<double, 5> b{-5.447609879822406e+01, 1.615858368580409e+02, -1.556989798598866e+02,
                                    6.680131188771972e+01, -1.328068155288572e+01};
  constexpr std::array<double, 6> c{-7.784894002430293e-03, -3.223964580411365e-01, -2.400758277161838e+00,
                                    -2.549732539343734e+00, 4.374664141464968e+00,  2.938163982698783e+00};
  constexpr std::array<double, 4> d{7.784695709041462e-03, 3.224671290700398e-01, 2.445134137142996e+00,
                                    3.754408661907416e+00};
  constexpr double low = 0.02425;
  if (p > 0.5) {
    return -inverse_normal(1.0 - p);
  }
  if (p < low) {
    const double q = std::sqrt(-2.0 * std::log(p));
    return (((((c[0] * q + c[1]) * q + c[2]) * q + c[3]) * q + c[4]) * q + c[5]) /
           ((((d[0] * q + d[1]) * q + d[2]) * q + d[3]) * q + 1.0);
  }
  const double q = p - 0.5;
  const double r = q * q;
  return (((((a[0] * r + a[1]) * r + a[2]) * r + a[3]) * r + a[4]) * r + a[5]) * q /
         (((((b[0] * r + b[1]) * r + b[2]) * r + b[3]) * r + b[4]) * r + 1.0);
}

struct Knot {
  float value;
  double normal; ///< Φ⁻¹ of its rank among the rows
};

/// One for each value that a sorted column has.
std::vector<Knot> knots_of(const std::vector<float> &sorted) {
  std::vector<Knot> out;
  const auto count = static_cast<double>(sorted.size());
  for (std::size_t first = 0; first < sorted.size();) {
    std::size_t end = first;
    while (end < sorted.size() && sorted[end] == sorted[first]) {
      ++end;
    }
    out.push_back({sorted[first], inverse_normal(0.5 * static_cast<double>(first + end) / count)});
    first = end;
  }
  return out;
}

/// As many as are kept: the first, the last, and those between that divide the normal scores evenly.
std::vector<Knot> some_of(const std::vector<Knot> &all) {
  const auto most = static_cast<std::size_t>(knots_of_ranks);
  if (all.size() <= most) {
    return all;
  }
  std::vector<Knot> out{all.front()};
  const double step = (all.back().normal - all.front().normal) / static_cast<double>(most - 1);
  for (std::size_t i = 1; i + 1 < all.size(); ++i) {
    const bool is_due = all[i].normal >= all.front().normal + step * static_cast<double>(out.size());
    if (is_due && out.size() + 1 < most) {
      out.push_back(all[i]);
    }
  }
  out.push_back(all.back());
  return out;
}

} // namespace

float ColumnRule::operator()(Index column, float value) const {
  switch (kind) {
  case ColumnMap::as_it_is:
    return value;
  case ColumnMap::clipped:
    return std::clamp(value, -farthest_feature, farthest_feature);
  case ColumnMap::ranks:
    break;
  }
  const float *from = knots.data() + 2 * knots_of_ranks * column;
  const float *to = from + knots_of_ranks;
  const auto above = std::upper_bound(from, from + knots_of_ranks, value) - from;
  if (above == 0) {
    return to[0];
  }
  if (above == knots_of_ranks) {
    return to[knots_of_ranks - 1];
  }
  const float part = (value - from[above - 1]) / (from[above] - from[above - 1]);
  return to[above - 1] + part * (to[above] - to[above - 1]);
}

ColumnMap robust_map(const FeatureTable &table, bool pixels) {
  if (table.is_sparse()) {
    return ColumnMap::as_it_is; // rows have about one length, and are not filled up
  }
  for (Index i = 0; i < table.rows() && !pixels; ++i) {
    for (Index j = 0; j < table.columns(); ++j) {
      if (!(std::abs(table.value(i, j)) <= farthest_feature)) {
        return ColumnMap::clipped;
      }
    }
  }
  return ColumnMap::as_it_is;
}

ColumnRule ranks_of(const FeatureTable &table) {
  constexpr Index enough = 8000;
  const Index step = std::max<Index>(1, table.rows() / enough);
  ColumnRule rule{.kind = ColumnMap::ranks};
  rule.knots.reserve(static_cast<std::size_t>(2 * knots_of_ranks * table.columns()));
  std::vector<float> column;
  for (Index j = 0; j < table.columns(); ++j) {
    column.clear();
    for (Index i = 0; i < table.rows(); i += step) {
      column.push_back(table.value(i, j));
    }
    std::sort(column.begin(), column.end());
    const auto all = knots_of(column);
    double mean = 0.0;
    double square = 0.0;
    std::size_t at = 0;
    for (const float value : column) {
      at += all[at].value == value ? 0 : 1;
      mean += all[at].normal / static_cast<double>(column.size());
      square += all[at].normal * all[at].normal / static_cast<double>(column.size());
    }
    const double deviation = std::sqrt(std::max(square - mean * mean, 0.0));
    auto kept = some_of(all);
    kept.resize(static_cast<std::size_t>(knots_of_ranks), kept.back());
    for (const auto &knot : kept) {
      rule.knots.push_back(knot.value);
    }
    for (const auto &knot : kept) {
      rule.knots.push_back(all.size() > 1 ? static_cast<float>((knot.normal - mean) / deviation) : 0.0F);
    }
  }
  return rule;
}

std::shared_ptr<const FeatureTable> mapped(const ColumnRule &rule, const std::shared_ptr<const FeatureTable> &table) {
  if (rule.kind == ColumnMap::as_it_is) {
    return table;
  }
  auto out = std::make_shared<FeatureTable>(Storage::float32, table->columns());
  out->reserve(table->rows());
  std::vector<float> row(static_cast<std::size_t>(table->columns()));
  for (Index i = 0; i < table->rows(); ++i) {
    for (Index j = 0; j < table->columns(); ++j) {
      row[static_cast<std::size_t>(j)] = rule(j, table->value(i, j));
    }
    out->append(std::span<const float>(row));
  }
  return out;
}

} // namespace duplex::clean
