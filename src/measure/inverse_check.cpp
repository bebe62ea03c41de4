// What a problem offers in the place of ∇²yy f's inverse against products with ∇²yy f: solve_lower(b) must solve
// hess_yy(w) = b, and precondition must be linear, symmetric and positive, as conjugate gradients need it. Where H is
// singular or not convex neither need exist, so that what is not finite is no mistake.

#include "measure/derivative_check.hpp"

#include <duplex/core/text.hpp>

#include <algorithm>
#include <cmath>

namespace duplex::detail {

namespace {

bool is_finite(const Numbers &numbers) {
  return std::all_of(numbers.begin(), numbers.end(), [](double number) { return std::isfinite(number); });
}

} // namespace

void DerivativeCheck::inverses(At &at) {
  constexpr const char *not_finite = "what it writes is not finite here, as where hess_yy is singular";
  const Numbers &units = point_.y_unit;
  const Numbers v = with_signs(units, generator_);
  const Numbers w = with_signs(units, generator_);
  if (at.level->solve_lower) {
    Tally &into = tally("lower solve_lower");
    place(at);
    const Numbers right = at.level->hess_yy(v, 0.0);
    const Numbers solved = at.level->solve_lower(right, 0.0);
    if (solved.size() != right.size()) {
      into.refuse("out was made " + std::to_string(solved.size()) + " entries long, expected " +
                  std::to_string(right.size()));
    } else if (!is_finite(solved)) {
      into.could_not(not_finite);
    } else {
      const Numbers back = at.level->hess_yy(solved, 0.0);
      const double largest = std::max(largest_of(right, units), largest_of(back, units));
      into.begin_point();
      for (std::size_t i = 0; i < right.size(); ++i) {
        const double scale = largest / units[i];
        into.add(Compared{.claimed = back[i],
                          .measured = right[i],
                          .scale = scale,
                          .margin = 100.0 * problem_.precision * scale,
                          .zero_scale = scale,
                          .weight = units[i]},
                 [&] {
                   return entry_name("y", i) + " of hess_yy(solve_lower(b)) is " + short_number(back[i]) +
                          " where that of b is " + short_number(right[i]);
                 });
      }
      into.end_point();
    }
  }
  if (at.level->precondition) {
    Tally &into = tally("lower precondition");
    place(at);
    const Numbers of_v = at.level->precondition(v, 0.0);
    const Numbers of_w = at.level->precondition(w, 0.0);
    if (of_v.size() != v.size() || of_w.size() != w.size()) {
      into.refuse("out was made " + std::to_string(of_v.size()) + " entries long, expected " +
                  std::to_string(v.size()));
      return;
    }
    if (!is_finite(of_v) || !is_finite(of_w)) {
      into.could_not(not_finite);
      return;
    }
    if (!(dot_of(v, of_v) > 0.0) || !(dot_of(w, of_w) > 0.0)) {
      into.refuse("v'precondition(v) is " + short_number(std::min(dot_of(v, of_v), dot_of(w, of_w))) +
                  " for some v, expected a positive number: conjugate gradients cannot use it");
      return;
    }
    linearity(at, "precondition", at.level->precondition, Variable::y, into);
    const double one = dot_of(w, of_v);
    const double other = dot_of(v, of_w);
    const double scale = std::sqrt(dot_of(v, of_v) * dot_of(w, of_w));
    into.begin_point();
    into.add(Compared{.claimed = one,
                      .measured = other,
                      .scale = scale,
                      .margin = 1e3 * problem_.precision * scale,
                      .zero_scale = scale,
                      .weight = 1.0},
             [&] {
               return "w'precondition(v) is " + short_number(one) + " and v'precondition(w) is " + short_number(other) +
                      ", and a preconditioner must be symmetric";
             });
    into.end_point();
  }
}

} // namespace duplex::detail
