#include "measure/derivative_check.hpp"

#include <duplex/core/text.hpp>
#include <duplex/measure/response.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace duplex::detail {

namespace {

LadderSettings ladder_for(double precision, double tolerance) {
  return {.precision = precision, .levels = is_single_precision(precision) ? 12 : 24, .tolerance = tolerance};
}

Numbers moved_along(Numbers from, const Numbers &direction, double t) {
  for (std::size_t i = 0; i < from.size(); ++i) {
    from[i] += t * direction[i];
  }
  return from;
}

/// What is compared with differences of something wrong, or is made of it, is not to blame by itself.
void blame_the_first(std::vector<CheckRow> &rows) {
  const auto blame = [&](const std::string &quantity, CheckRow &on) {
    const bool is_wrong = std::any_of(rows.begin(), rows.end(), [&](const CheckRow &row) {
      return &row != &on && row.is_wrong() && row.quantity.rfind(quantity, 0) == 0;
    });
    if (is_wrong && on.is_wrong() && std::isfinite(on.error)) {
      on.unchecked = "it disagrees, but so does the " + quantity + (quantity.back() == 'r' ? " level" : "") +
                     " that it is judged by";
      on.note.clear();
    }
  };
  for (auto &row : rows) {
    for (const std::string level : {"lower", "upper"}) {
      if (row.quantity == "hypergradient") {
        blame(level, row);
      } else if (row.quantity == level + " hess_yy" || row.quantity == level + " cross_xy") {
        blame(level + " grad_y", row);
      }
    }
  }
}

} // namespace

DerivativeCheck::DerivativeCheck(CheckedProblem problem, const CheckOptions &options, double tolerance)
    : problem_(std::move(problem)), options_(options), tolerance_(tolerance), generator_(options.seed),
      points_(problem_, options.spread, generator_), ladder_(ladder_for(problem_.precision, tolerance)) {}

std::vector<CheckRow> DerivativeCheck::rows() {
  const std::string not_finite = points_.not_finite_at_start();
  for (int i = 0; i < options_.points && not_finite.empty() && !any_refused(); ++i) {
    counts_ = i == 0 ? probes_at_first_point : probes_at_other_points;
    point_ = points_.draw();
    check_all();
  }
  if (!not_finite.empty()) {
    for (const auto *quantity : {"lower grad_y", "upper grad_y", "upper grad_x"}) {
      tally(quantity).could_not(not_finite + " is not finite at the start");
    }
  }
  std::vector<CheckRow> out;
  for (const auto &tally : tallies_) {
    out.push_back(tally.row());
  }
  blame_the_first(out);
  return out;
}

void DerivativeCheck::check_all() {
  At lower{"lower", &problem_.lower, {}, {}, {}};
  At upper{"upper", &problem_.upper, {}, {}, {}};
  gradient(lower, Variable::y, "grad_y", problem_.lower.grad_y);
  if (problem_.lower.grad_x) {
    gradient(lower, Variable::x, "grad_x", problem_.lower.grad_x);
  }
  gradient(upper, Variable::y, "grad_y", problem_.upper.grad_y);
  gradient(upper, Variable::x, "grad_x", problem_.upper.grad_x);
  for (At *at : {&lower, &upper}) {
    if (at->level->hess_yy && !any_refused()) {
      at->noise_in_x = noise(*at, Variable::x, at->slope, [at] { return at->level->grad_y(0.0); });
      hessian(*at);
    }
    if (at->level->cross_xy && !any_refused()) {
      cross(*at);
    }
  }
  if (problem_.lower.hess_yy && !any_refused()) {
    inverses(lower);
  }
  if (problem_.phi && !any_refused()) {
    hypergradient();
  }
}

Tally &DerivativeCheck::tally(const std::string &quantity) {
  const auto found =
      std::find_if(tallies_.begin(), tallies_.end(), [&](const Tally &one) { return one.quantity() == quantity; });
  return found != tallies_.end() ? *found : tallies_.emplace_back(quantity, tolerance_);
}

/// Otherwise nothing that is computed with its output can be believed, or read.
bool DerivativeCheck::any_refused() const {
  return std::any_of(tallies_.begin(), tallies_.end(), [](const Tally &one) { return one.is_refused(); });
}

Room DerivativeCheck::room(Variable variable, const Numbers &direction) const {
  constexpr double infinite = std::numeric_limits<double>::infinity();
  return variable == Variable::x ? points_.room(point_.x, direction) : Room{.below = infinite, .above = infinite};
}

Curve DerivativeCheck::along(const At &at, Variable variable, const Numbers &direction,
                             const std::function<Numbers()> &values) const {
  return [this, &at, variable, direction, values](double t) {
    Numbers moved = moved_along(variable == Variable::x ? point_.x : point_.y, direction, t);
    if (variable == Variable::x) {
      points_.keep_inside(moved);
      at.level->at(moved, point_.y);
    } else {
      at.level->at(point_.x, moved);
    }
    if (!std::isfinite(at.level->value())) {
      return Numbers();
    }
    Numbers out = values();
    return is_all_finite(out) ? out : Numbers();
  };
}

Numbers DerivativeCheck::noise(const At &at, Variable variable, const Numbers &at_zero,
                               const std::function<Numbers()> &values) {
  constexpr int samples = 6;
  const Numbers direction = with_signs(unit(variable), generator_);
  return noise_of(along(at, variable, direction, values), at_zero, room(variable, direction), problem_.precision,
                  samples);
}

Numbers DerivativeCheck::written(Tally &into, const At &at, std::size_t size, const Write &write) {
  place(at);
  Numbers out = write(std::numeric_limits<double>::quiet_NaN());
  if (out.size() != size) {
    into.refuse("out was made " + std::to_string(out.size()) + " entries long, expected " + std::to_string(size));
    return {};
  }
  if (!is_all_finite(out)) { // what was not written, or a derivative that is not finite
    out = write(0.0);
    const auto bad = std::find_if(out.begin(), out.end(), [](double entry) { return !std::isfinite(entry); });
    into.refuse(bad == out.end() ? "not every entry of out is written, or out is added to"
                                 : "entry " + std::to_string(bad - out.begin()) + " is " + short_number(*bad) +
                                       " where " + (at.name == "lower" ? "f" : "F") + " is finite");
    return {};
  }
  return out;
}

void DerivativeCheck::gradient(At &at, Variable variable, const std::string &name, const Slope &slope) {
  Tally &into = tally(at.name + " " + name);
  const Numbers &units = unit(variable);
  const Numbers claimed = written(into, at, units.size(), slope);
  if (into.is_refused()) {
    return;
  }
  const double value = at.level->value();
  const auto value_here = [&at] { return Numbers{at.level->value()}; };
  const auto slope_here = [&slope] { return slope(0.0); };
  const Numbers noise_of_value = noise(at, variable, {value}, value_here);
  const Numbers noise_of_slope = noise(at, variable, claimed, slope_here);
  if (variable == Variable::y) {
    at.slope = claimed;
    at.noise_in_y = noise_of_slope;
  }
  const Numbers signs = with_signs(units, generator_);
  const double largest = largest_of(claimed, units);
  const auto compare = [&](const Group &group) {
    const Numbers direction = along_group(group, signs);
    const double sum = dot_of(claimed, direction);
    const Slopes found = confirmed_slopes(along(at, variable, direction, value_here), {value}, noise_of_value, {sum},
                                          room(variable, direction), ladder_);
    const double rounding =
        size_of_dot(noise_of_slope, direction) + problem_.precision * size_of_dot(claimed, direction);
    return Compared{.claimed = sum,
                    .measured = found.value[0],
                    .scale = group.size() > 1 ? length_of_terms(claimed, direction) : 0.0,
                    .margin = ladder_safety * (found.error[0] + rounding),
                    .zero_scale = std::max(std::abs(value), largest),
                    .weight = 1.0};
  };
  into.begin_point();
  for (Group group : probe_groups(units, claimed, counts_, generator_)) {
    Compared compared = compare(group);
    if (group.size() > 1 && compared.excess(tolerance_) > 0.0) {
      group = worst_within(std::move(group), tolerance_, compare);
      compared = compare(group);
    }
    into.add(compared, [&] {
      const double sign = group.size() == 1 ? signs[group[0]] : 1.0;
      return "entry " + std::to_string(group[0]) +
             (group.size() == 1 ? "" : " and " + std::to_string(group.size() - 1) + " others together") + " is " +
             compared_text(compared, sign);
    });
  }
  into.end_point();
  if (std::none_of(units.begin(), units.end(), [](double one) { return one > 0.0; })) {
    into.does_not_exist("bounds leave no entry of x any room");
  }
}

void DerivativeCheck::hypergradient() {
  constexpr int samples = 4;
  constexpr int levels = 14;
  constexpr int float_levels = 6;
  Tally &into = tally("hypergradient");
  if (into.is_checked()) { // at one point: each of a dozen values is a solve of the lower level
    return;
  }
  into.begin_point();
  try {
    const CheckedPhi here = problem_.phi(point_.x, point_.y);
    const Numbers direction = with_signs(point_.x_unit, generator_);
    const Curve phi = [&](double t) {
      Numbers moved = moved_along(point_.x, direction, t);
      points_.keep_inside(moved);
      try {
        const double value = problem_.phi(moved, point_.y).value;
        return std::isfinite(value) ? Numbers{value} : Numbers();
      } catch (const NotAvailable &) {
        return Numbers(); // a shorter step may do
      }
    };
    const Room inside = points_.room(point_.x, direction);
    LadderSettings ladder = ladder_;
    ladder.first = 0x1p-4;
    ladder.levels = is_single_precision(problem_.precision) ? float_levels : levels;
    const Numbers noise = noise_of(phi, {here.value}, inside, problem_.precision, samples);
    const double claimed = dot_of(here.slope, direction);
    const Slopes found = confirmed_slopes(phi, {here.value}, noise, {claimed}, inside, ladder);
    const double rounding = problem_.precision * size_of_dot(here.slope, direction);
    const Compared compared{.claimed = claimed,
                            .measured = found.value[0],
                            .scale = length_of_terms(here.slope, direction),
                            .margin = ladder_safety * (found.error[0] + rounding),
                            .zero_scale = std::max(std::abs(here.value), largest_of(here.slope, point_.x_unit)),
                            .weight = 1.0};
    into.add(compared, [&] { return "along a random direction it is " + compared_text(compared, 1.0); });
  } catch (const SingularLowerLevel &) {
    into.does_not_exist("undefined: singular H");
  } catch (const NoLowerMinimizer &) {
    into.does_not_exist("undefined: singular H");
  } catch (const NotAvailable &reason) {
    into.could_not(reason.what());
  }
  into.end_point();
}

} // namespace duplex::detail
