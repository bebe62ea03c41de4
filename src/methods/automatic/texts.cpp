#include <duplex/methods/automatic/texts.hpp>

namespace duplex::automatic {

std::string failure_text(LinearStatus status) {
  switch (status) {
  case LinearStatus::singular:
    return "the lower Hessian is singular and the system for y or v inconsistent: the lower level has many minimizers, "
           "or none; give the upper level's second derivatives in y, so that mu > 0 can choose among them, or make the "
           "lower level strongly convex";
  case LinearStatus::indefinite:
    return "the lower Hessian is indefinite: the lower level is not convex in y here, and y is no minimizer of it; "
           "start y elsewhere, or add a penalty on y to the lower level";
  case LinearStatus::not_finite:
    return "a loss or a derivative is NaN or infinity, however short the step";
  default:
    return "conjugate gradients on the lower Hessian did not end: it is too badly conditioned for this precision; add "
           "a penalty on y to the lower level";
  }
}

std::string stalled_text(const std::string &what, double precision_of_numbers) {
  const bool in_doubles = precision_of_numbers < 1e-10;
  return what + "; rounding or a kink may hide the rest, or the derivatives may be wrong (`check` tells): ask for " +
         (in_doubles ? "less" : "less, or use doubles");
}

std::string text_of(const Findings &found) {
  const auto number = [](double value) { return short_number(value); };
  const auto count = [](std::int64_t value) { return std::to_string(value); };
  const char *kind = found.lower_is_curved         ? "not quadratic in y: Newton's method on it"
                     : found.lower_hessian_changes ? "quadratic in y, with a Hessian that changes with x"
                                                   : "quadratic in y with a constant Hessian, as far as seen";
  std::string text = "lower level: curvatures from " + number(found.smallest_curvature) + " to " +
                     number(found.largest_curvature) + " were met, " + kind + "; " + count(found.y_steps) +
                     " conjugate-gradient steps on y and " + count(found.v_steps) + " on v\n";
  if (found.mu > 0.0) {
    text += "mu: the lower Hessian is singular, so that mu F + (1 - mu) f stands for the lower level, with mu from 0.5 "
            "down to " +
            number(found.mu) + "\n";
  }
  text += "accuracy: d feels " + number(found.y_gain) + " times y's error and " + number(found.v_gain) +
          " times v's; both are solved until that is " + number(found.share) + " of the norm of d\n";
  text += "upper level: alpha from " + number(found.smallest_alpha) + " to " + number(found.largest_alpha) +
          " by secant pairs; " + count(found.interpolated) + " of " + count(found.steps) +
          " steps interpolated, d computed anew " + count(found.refreshes) + " times, back to the best point " +
          count(found.restarts) + " times\n";
  return text + "end: d is " + number(found.relative_direction) + " of the first";
}

} // namespace duplex::automatic
