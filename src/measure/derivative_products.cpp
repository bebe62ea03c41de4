// Products with second derivatives against differences of gradients.

#include "measure/derivative_check.hpp"

#include <duplex/core/text.hpp>

#include <algorithm>
#include <cmath>

namespace duplex::detail {

namespace {

/// What rounding within a product may do to its entries, beside the largest of them in its unit.
constexpr double product_rounding = 16.0;

/// The rms of an entry over products, which stands for its terms where a product is with many entries.
double rms_of_entry(const std::vector<Numbers> &products, std::size_t i) {
  double sum = 0.0;
  for (const auto &product : products) {
    sum += product[i] * product[i];
  }
  return std::sqrt(sum / static_cast<double>(std::max<std::size_t>(products.size(), 1)));
}

} // namespace

/// A product that is not linear in v is no product, whatever it is along one v.
void DerivativeCheck::linearity(At &at, const char *name, const Product &product, Variable out, Tally &into) {
  constexpr double factor = -3.0;
  const Numbers v = with_signs(point_.y_unit, generator_);
  Numbers w = with_signs(point_.y_unit, generator_);
  Numbers both = v;
  for (std::size_t i = 0; i < w.size(); ++i) {
    w[i] *= static_cast<double>(generator_() % 8) / 8.0;
    both[i] += factor * w[i];
  }
  const auto of = [&](const Numbers &direction) {
    return written(into, at, unit(out).size(), [&](double fill) { return product(direction, fill); });
  };
  const Numbers of_v = of(v);
  const Numbers of_w = of(w);
  const Numbers of_both = of(both);
  if (into.is_refused()) {
    return;
  }
  const Numbers &units = unit(out);
  const double largest = std::max({largest_of(of_v, units), largest_of(of_w, units), largest_of(of_both, units)});
  for (std::size_t i = 0; i < of_v.size(); ++i) {
    const double expected = of_v[i] + factor * of_w[i];
    const double size = std::abs(of_v[i]) + std::abs(factor * of_w[i]) + std::abs(of_both[i]);
    const double rounding = units[i] > 0.0 ? 100.0 * problem_.precision * largest / units[i] : infinity;
    if (std::abs(of_both[i] - expected) > tolerance_ * size + rounding) {
      into.refuse(std::string(name) + " is not linear in v: entry " + std::to_string(i) + " at v − 3w is " +
                  short_number(of_both[i], 8) + ", and those at v and w make " + short_number(expected, 8));
      return;
    }
  }
}

void DerivativeCheck::hessian(At &at) {
  Tally &into = tally(at.name + " hess_yy");
  linearity(at, "hess_yy", at.level->hess_yy, Variable::y, into);
  if (into.is_refused()) {
    return;
  }
  const Numbers signs = with_signs(point_.y_unit, generator_);
  const auto groups = probe_groups(point_.y_unit, {}, counts_, generator_);
  std::vector<Numbers> products;
  for (const Group &group : groups) {
    const Numbers direction = along_group(group, signs);
    products.push_back(
        written(into, at, direction.size(), [&](double fill) { return at.level->hess_yy(direction, fill); }));
    if (into.is_refused()) {
      return;
    }
  }
  into.begin_point();
  for (std::size_t k = 0; k < groups.size(); ++k) {
    hessian_columns(at, groups[k], signs, products, k, into);
  }
  into.end_point();
  symmetry(at, groups, signs, products);
}

void DerivativeCheck::hessian_columns(At &at, const Group &group, const Numbers &signs,
                                      const std::vector<Numbers> &products, std::size_t k, Tally &into) {
  const Numbers &product = products[k];
  const Numbers &units = point_.y_unit;
  const auto slope_here = [&at] { return at.level->grad_y(0.0); };
  const auto measured = [&](const Numbers &direction, const Numbers &claimed) {
    return confirmed_slopes(along(at, Variable::y, direction, slope_here), at.slope, at.noise_in_y, claimed,
                            room(Variable::y, direction), ladder_);
  };
  const auto entry = [&](const Numbers &claimed, const Slopes &found, std::size_t i) {
    const double largest = largest_of(claimed, units);
    const double rounding = product_rounding * problem_.precision * largest / units[i];
    return Compared{.claimed = claimed[i],
                    .measured = found.value[i],
                    .scale = group.size() > 1 ? rms_of_entry(products, i) : 0.0,
                    .margin = ladder_safety * found.error[i] + rounding,
                    .zero_scale = std::abs(at.slope[i]) + largest / units[i],
                    .weight = units[i]};
  };
  const Slopes found = measured(along_group(group, signs), product);
  for (std::size_t i = 0; i < product.size(); ++i) {
    Compared compared = entry(product, found, i);
    into.add(compared, [&] {
      const Group column = worst_within(group, tolerance_, [&](const Group &part) {
        const Numbers direction = along_group(part, signs);
        place(at);
        const Numbers claimed = at.level->hess_yy(direction, 0.0);
        compared = entry(claimed, measured(direction, claimed), i);
        return compared;
      });
      if (column.size() > 1) {
        return entry_name("y", i) + " of a product with " + std::to_string(column.size()) + " entries is " +
               compared_text(entry(product, found, i), 1.0);
      }
      const Numbers direction = along_group(column, signs);
      place(at);
      const Numbers claimed = at.level->hess_yy(direction, 0.0);
      return "entry " + entry_name("y", i) + ", " + entry_name("y", column[0]) + " is " +
             compared_text(entry(claimed, measured(direction, claimed), i), signs[column[0]]);
    });
  }
}

void DerivativeCheck::symmetry(At &at, const std::vector<Group> &groups, const Numbers &signs,
                               const std::vector<Numbers> &products) {
  Tally &into = tally(at.name + " hess_yy symmetry");
  into.begin_point();
  for (std::size_t k = 0; k < groups.size(); ++k) {
    const Numbers along_k = along_group(groups[k], signs);
    for (std::size_t l = 0; l <= k; ++l) {
      const Numbers along_l = along_group(groups[l], signs);
      const double one = dot_of(products[l], along_k);
      const double other = dot_of(products[k], along_l);
      const double largest = std::max(largest_of(products[l], point_.y_unit), largest_of(products[k], point_.y_unit));
      const auto count = static_cast<double>(std::max(groups[k].size(), groups[l].size()));
      const double rounding = product_rounding * problem_.precision * std::sqrt(count) * largest;
      // Nothing is measured: what is within rounding is as right as can be.
      into.add(Compared{.claimed = one,
                        .measured = other,
                        .scale = infinity,
                        .margin = rounding,
                        .zero_scale = 0.0,
                        .weight = 1.0},
               [&] {
                 if (groups[k].size() > 1 || groups[l].size() > 1) {
                   return "w·Hv is " + short_number(one, 8) + " and v·Hw " + short_number(other, 8);
                 }
                 const double unit_of_both = along_k[groups[k][0]] * along_l[groups[l][0]];
                 const std::string row = entry_name("y", groups[k][0]);
                 const std::string column = entry_name("y", groups[l][0]);
                 return "entry " + row + ", " + column + " is " + short_number(one / unit_of_both, 8) + ", and " +
                        column + ", " + row + " is " + short_number(other / unit_of_both, 8);
               });
    }
  }
  into.end_point();
}

void DerivativeCheck::cross(At &at) {
  Tally &into = tally(at.name + " cross_xy");
  linearity(at, "cross_xy", at.level->cross_xy, Variable::x, into);
  if (into.is_refused()) {
    return;
  }
  const Numbers x_signs = with_signs(point_.x_unit, generator_);
  const Numbers y_signs = with_signs(point_.y_unit, generator_);
  const auto x_groups = probe_groups(point_.x_unit, {}, counts_, generator_);
  const auto y_groups = probe_groups(point_.y_unit, {}, counts_, generator_);
  const auto product = [&](const Group &of_y) {
    const Numbers direction = along_group(of_y, y_signs);
    return written(into, at, point_.x.size(), [&](double fill) { return at.level->cross_xy(direction, fill); });
  };
  /// The entries of one direction in x and many in y.
  const auto compare = [&](const Group &of_x, const std::vector<Group> &of_y, const std::vector<Numbers> &products) {
    const Numbers direction = along_group(of_x, x_signs);
    const auto onto = [&](const Numbers &slope) {
      Numbers out;
      for (const Group &group : of_y) {
        out.push_back(dot_of(slope, along_group(group, y_signs)));
      }
      return out;
    };
    Numbers noise;
    Numbers claimed;
    for (std::size_t k = 0; k < of_y.size(); ++k) {
      noise.push_back(size_of_dot(at.noise_in_x, along_group(of_y[k], y_signs)));
      claimed.push_back(dot_of(products[k], direction));
    }
    const Numbers at_zero = onto(at.slope);
    const Slopes found =
        confirmed_slopes(along(at, Variable::x, direction, [&] { return onto(at.level->grad_y(0.0)); }), at_zero, noise,
                         claimed, room(Variable::x, direction), ladder_);
    std::vector<Compared> out;
    for (std::size_t k = 0; k < of_y.size(); ++k) {
      const double largest = largest_of(products[k], point_.x_unit);
      const double rounding =
          product_rounding * problem_.precision * largest * std::sqrt(static_cast<double>(of_x.size()));
      const bool is_one = of_x.size() == 1 && of_y[k].size() == 1;
      out.push_back(Compared{.claimed = claimed[k],
                             .measured = found.value[k],
                             .scale = is_one ? 0.0 : length_of_terms(products[k], direction),
                             .margin = ladder_safety * found.error[k] + rounding,
                             .zero_scale = std::abs(at_zero[k]) + largest,
                             .weight = 1.0});
    }
    return out;
  };
  std::vector<Numbers> products;
  for (const Group &group : y_groups) {
    products.push_back(product(group));
    if (into.is_refused()) {
      return;
    }
  }
  std::vector<std::vector<Compared>> all;
  into.begin_point();
  for (const Group &of_x : x_groups) {
    all.push_back(compare(of_x, y_groups, products));
    for (std::size_t k = 0; k < y_groups.size(); ++k) {
      into.add(all.back()[k], [&] {
        const Group in_x = worst_within(
            of_x, tolerance_, [&](const Group &part) { return compare(part, {y_groups[k]}, {products[k]})[0]; });
        const Group in_y = worst_within(y_groups[k], tolerance_,
                                        [&](const Group &part) { return compare(in_x, {part}, {product(part)})[0]; });
        const Compared worst = compare(in_x, {in_y}, {product(in_y)})[0];
        const bool is_one = in_x.size() == 1 && in_y.size() == 1;
        return (is_one ? "entry " + entry_name("x", in_x[0]) + ", " + entry_name("y", in_y[0])
                       : "the sum over " + std::to_string(in_x.size()) + " × " + std::to_string(in_y.size()) +
                             " entries") +
               " is " + compared_text(worst, is_one ? x_signs[in_x[0]] * y_signs[in_y[0]] : 1.0);
      });
    }
  }
  into.end_point();
  if (into.is_wrong() && point_.x.size() == point_.y.size() && x_groups.size() == point_.x.size() &&
      y_groups.size() == point_.y.size()) {
    bool is_transposed = x_groups.size() > 1;
    for (std::size_t i = 0; i < all.size(); ++i) {
      for (std::size_t j = 0; j < all.size(); ++j) {
        const double claimed = all[i][j].claimed / (x_signs[i] * y_signs[j]);
        const double unit_of_other = x_signs[j] * y_signs[i];
        const Compared other{.claimed = claimed,
                             .measured = all[j][i].measured / unit_of_other,
                             .scale = 0.0,
                             .margin = all[j][i].margin / std::abs(unit_of_other),
                             .zero_scale = 0.0,
                             .weight = 1.0};
        is_transposed = is_transposed && !(other.excess(tolerance_) > 0.0);
      }
    }
    if (is_transposed) {
      into.remark("all of it is the transpose of the differences");
    }
  }
  if (x_groups.empty()) {
    into.does_not_exist("bounds leave no entry of x any room");
  }
}

} // namespace duplex::detail
