#pragma once
// The slope at t = 0 of a function of t with many values, by differences over steps that are halved again and again and
// extrapolated to a step of zero (Richardson), with an estimate of the error of each value: what two extrapolations
// differ by, what rounding makes of the step, and half of the jump of the slope where the function bends at 0.

#include <duplex/measure/checked_problem.hpp>

#include <functional>

namespace duplex::detail {

/// The values at t; none where they are not all finite.
using Curve = std::function<Numbers(double t)>;

/// How far t may go to both sides.
struct Room {
  double below;
  double above;
};

struct LadderSettings {
  double precision;     ///< of the numbers by which the curve is computed
  double first = 0.5;   ///< the longest step
  int levels = 24;      ///< how often it is halved
  double tolerance = 0; ///< relative error of a claimed slope that is not looked at
  bool all = false;     ///< goes on to the shortest step, also where the claimed slopes are borne out before
};

/// Errors are trusted to this factor.
inline constexpr double ladder_safety = 10.0;

struct Slopes {
  Numbers value;
  Numbers error;   ///< estimated; the slope is within ladder_safety times this
  bool any = true; ///< there were steps at which the curve is finite
};

/// `noise` is what rounding does to each value of the curve. Ends as soon as the claimed slopes are borne out as well
/// as they can be.
[[nodiscard]] Slopes slopes_of(const Curve &curve, const Numbers &at_zero, const Numbers &noise, const Numbers &claimed,
                               Room room, const LadderSettings &settings);

/// What rounding does to the values of a curve, by differences of high order over `samples` tiny steps, in which what
/// is smooth cancels (ECnoise, after Moré and Wild).
[[nodiscard]] Numbers noise_of(const Curve &curve, const Numbers &at_zero, Room room, double precision, int samples);

} // namespace duplex::detail
