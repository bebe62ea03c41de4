#pragma once
// Runs on random problems whose claims are checked in quadruple precision. Drawn so that claims are likely to be wrong:
// lower levels that are singular or all but singular, scales and tolerances over their whole range, steps that
// overshoot.

#include <cstdint>
#include <string>
#include <string_view>

namespace duplex::reproduce {

enum class ClaimFamily : std::uint8_t { singular, nearly_singular, scaled, relative_kkt };

[[nodiscard]] constexpr std::string_view title_of(ClaimFamily family) {
  switch (family) {
  case ClaimFamily::singular:
    return "many lower minimizers";
  case ClaimFamily::nearly_singular:
    return "lower level all but singular";
  case ClaimFamily::scaled:
    return "scales and tolerances at random";
  default:
    return "relative KKT tolerance, steps that overshoot";
  }
}

struct CheckedClaim {
  double tolerance = 0.0;
  bool claimed = false; ///< the run says that it has converged
  double ratio = 0.0; ///< ‖∇φ(x)‖/‖∇φ(x₀)‖ in quadruple precision, where it is claimed to be at most the tolerance
  std::string problem; ///< in words
  std::string said;    ///< by the run

  [[nodiscard]] bool is_false() const { return claimed && !(ratio <= tolerance); }
};

[[nodiscard]] CheckedClaim check_claim(ClaimFamily family, std::uint64_t seed);

} // namespace duplex::reproduce
