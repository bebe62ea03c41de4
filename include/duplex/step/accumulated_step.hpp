#pragma once
// AdaGrad with one step for all entries (Ward, Wu and Bottou, 2019): after gradients g₁, …, g_k the step is
//
//   1/√(1/s² + ‖g₁‖² + … + ‖g_k‖²),
//
// s before any. While it is longer than the curvature bears, gradients grow and make it shorter; then they fall, and it
// hardly changes any more.

#include <duplex/core/fields.hpp>

#include <cmath>

namespace duplex {

class AccumulatedStep {
public:
  explicit AccumulatedStep(double first) : squares_(1.0 / (first * first)) {}

  /// The step along a gradient of this squared norm, which it counts.
  [[nodiscard]] double along(double squared_norm) {
    squares_ += squared_norm;
    return now();
  }
  /// The step as it is.
  [[nodiscard]] double now() const { return 1.0 / std::sqrt(squares_); }

  template <class Archive> void archive(Archive &members) { members("squares", squares_); }

private:
  double squares_; ///< 1/s² and the squared norms so far
};

/// Why there is no step.
inline constexpr const char *no_lower_step = "‖∇y f‖² is not finite";
inline constexpr const char *no_multiplier_step = "‖∇²yy f·v − ∇yF‖² is not finite";

/// The first steps of a method whose steps accumulate, for its own fields(). They have the roles of steps, since no
/// step is longer than its first.
template <class Self, class Visit> void visit_first_step_fields(Self &self, Visit &&visit) {
  visit("alpha", self.alpha, finite_positive, "upper step before any gradient is seen", Role::upper_step);
  visit("beta", self.beta, finite_positive, "lower step before any gradient is seen", Role::lower_step);
  visit("eta", self.eta, finite_positive, "multiplier step before any gradient is seen", Role::multiplier_step);
}

} // namespace duplex
