#include <duplex/measure/verification.hpp>

namespace duplex {

std::string Verdict::text() const {
  const auto measured = [](const MeasuredSlope &of) {
    return short_number(of.norm) + " ± " + short_number(of.error, 1);
  };
  if (!first.known()) {
    return "‖∇φ‖ at the start could not be had, and nothing can be measured beside it: " + first.unavailable;
  }
  if (!slope.known()) {
    return "‖∇φ‖ could not be had at the end: " + slope.unavailable;
  }
  if (!(first.norm > first.error) && !holds()) {
    return "‖∇φ‖ is " + measured(first) +
           " at the start already: rounding hides it, and nothing can be measured beside it";
  }
  const std::string found = "‖∇φ‖ is " + measured(slope) + ", and was " + measured(first) +
                            " at the start, by solves that share nothing with the run";
  if (holds()) {
    return "verified: " + found;
  }
  return found + (hidden_by_rounding()
                      ? ": rounding hides whether that is " + short_number(tolerance) + " of it; ask for less"
                  : slope.norm - slope.error > goal()
                      ? ": more than " + short_number(tolerance) + " of it"
                      : ": perhaps more than " + short_number(tolerance) + " of it, which the error leaves open");
}

} // namespace duplex
