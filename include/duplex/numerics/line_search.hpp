#pragma once
// Backtracking line searches: the first of the lengths t = 1, ½, ¼, … that lowers a value enough (Armijo).

#include <cmath>
#include <cstdint>

namespace duplex {

/// Armijo's condition: the value has fallen by at least 10⁻⁴ of what the slope along the step promises, as far as the
/// values are known. `promised` is that slope times t, which is negative; `noise` is what rounding may do to the
/// values.
[[nodiscard]] inline bool falls_enough(double before, double now, double promised, double noise = 0.0) {
  constexpr double sufficient = 1e-4;
  return std::isfinite(now) && now <= before + sufficient * promised + noise;
}

enum class TrialStep : std::uint8_t {
  accepted,
  rejected, ///< a shorter one may do
  outside,  ///< the same, beyond where the value exists
  hopeless, ///< no shorter one will
};

/// A trial step by Armijo's condition.
[[nodiscard]] inline TrialStep judged(double before, double now, double promised, double noise = 0.0) {
  if (falls_enough(before, now, promised, noise)) {
    return TrialStep::accepted;
  }
  return std::isfinite(now) ? TrialStep::rejected : TrialStep::outside;
}

/// The first t = 1, ½, ¼, … that attempt(t) accepts, of at most so many; zero where none is. A step may end very far
/// beyond the domain of the value: what is outside of it is not among these.
template <class Attempt> [[nodiscard]] double backtrack(int most_attempts, Attempt &&attempt) {
  constexpr int most_outside = 200; // 2⁻²⁰⁰ is 10⁻⁶⁰
  int inside = 0;
  int outside = 0;
  for (double t = 1.0; inside < most_attempts && outside < most_outside; t *= 0.5) {
    switch (attempt(t)) {
    case TrialStep::accepted:
      return t;
    case TrialStep::hopeless:
      return 0.0;
    case TrialStep::rejected:
      ++inside;
      break;
    case TrialStep::outside:
      ++outside;
      break;
    }
  }
  return 0.0;
}

} // namespace duplex
