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
  hopeless, ///< no shorter one will
};

/// The first t = 1, ½, ¼, … that attempt(t) accepts, of at most so many; zero where none is.
template <class Attempt> [[nodiscard]] double backtrack(int most_attempts, Attempt &&attempt) {
  double t = 1.0;
  for (int i = 0; i < most_attempts; ++i, t *= 0.5) {
    switch (attempt(t)) {
    case TrialStep::accepted:
      return t;
    case TrialStep::hopeless:
      return 0.0;
    case TrialStep::rejected:
      break;
    }
  }
  return 0.0;
}

} // namespace duplex
