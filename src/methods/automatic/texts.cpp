#include <duplex/methods/automatic/slope_probe.hpp>
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

std::string SlopeReport::text(double precision_of_numbers) const {
  const bool in_doubles = precision_of_numbers < 1e-10;
  const auto number = [](double value) { return short_number(value); };
  switch (finding) {
  case SlopeFinding::wrong:
    return "; d is not the slope of F(x, y*(x)): along a move of the run that is " + number(0.5 * (left + right)) +
           " by differences, and d says " + number(said) + ": a derivative is wrong; run `check`";
  case SlopeFinding::kink:
    return "; F(x, y*(x)) has a kink here: along a move of the run its slope is " + number(left) + " on one side and " +
           number(right) + " on the other; smooth what has the kink";
  case SlopeFinding::hidden:
    return std::string("; differences of F(x, y*(x)) along the last moves show nothing but rounding: ask for ") +
           (in_doubles ? "less" : "less, or use doubles");
  default:
    return "; differences of F(x, y*(x)) along the last moves agree with d: F is smooth here, and badly scaled or all "
           "but "
           "flat; give x other units, bounds, or a penalty";
  }
}

std::string unbounded_text(double first, double now, double length_of_x) {
  return "F(x, y*(x)) seems to be unbounded below: it was " + short_number(first) + " and is " + short_number(now) +
         ", with ||x|| = " + short_number(length_of_x) +
         ": the upper level has no minimum; give x bounds, or add a penalty on it to F";
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
