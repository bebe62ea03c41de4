#pragma once
// What methods without second derivatives share. The lower level is held by a penalty c on f(x, y) − f(x, z), z being
// (near) a minimizer of f(x, ·), so that gradients are all they need:
//
//   y follows −(∇yF + c ∇y f)(x, y)       d = ∇xF(x, y) + c (∇x f(x, y) − ∇x f(x, z))       v = c (z − y)
//
// Where y minimizes F + c f and z minimizes f, v → (∇²yy f)⁻¹∇yF and d → ∇φ as c grows, with errors O(1/c) (Kwon et
// al., 2023).

#include <duplex/problem/problem.hpp>

#include <cstdint>

namespace duplex {

template <PenalizableProblem P> class PenalizedLevels {
public:
  using V = VectorOf<P>;

  PenalizedLevels(const P &problem, const State<V> &start)
      : lower_(problem.lower()), lower_at_z_(problem.lower()), upper_(problem.upper()),
        lower_slope_(zeros_like(start.y)), upper_slope_(zeros_like(start.y)), gap_(zeros_like(start.x)),
        scratch_(zeros_like(start.x)), direction_(zeros_like(start.x)) {
    expect_gradients_alone(lower_);
    expect_gradients_alone(lower_at_z_);
    expect_gradients_alone(upper_);
  }

  /// `steps` steps of gradient descent on f(x, ·) + (weight/2) ‖· − centre‖².
  void descend(const V &x, double beta, std::int64_t steps, V &z, double weight = 0.0, const V *centre = nullptr) {
    for (std::int64_t t = 0; t < steps; ++t) {
      lower_at_z_.at(x, z);
      lower_at_z_.grad_y(lower_slope_);
      if (centre != nullptr) {
        axpy(weight, z, lower_slope_);
        axpy(-weight, *centre, lower_slope_);
      }
      axpy(-beta, lower_slope_, z);
    }
  }

  /// The next calls speak of (x, y), until y is moved.
  void stand_at(const V &x, const V &y) {
    upper_.at(x, y);
    lower_.at(x, y);
  }
  /// Takes ∇yF(x, y) and ∇y f(x, y).
  void take_slopes_in_y() {
    upper_.grad_y(upper_slope_);
    lower_.grad_y(lower_slope_);
  }
  /// Takes ∇xF(x, y) and ∇x f(x, y) − ∇x f(x, z).
  void take_slopes_in_x(const V &x, const V &z) {
    upper_.grad_x(direction_);
    lower_.grad_x(gap_);
    lower_at_z_.at(x, z);
    lower_at_z_.grad_x(scratch_);
    axpy(-1.0, scratch_, gap_);
  }

  // With q = f(x, y) − f(x, z), z held, before set_direction().
  /// ‖∇q‖²
  [[nodiscard]] double gap_square() const { return dot(gap_, gap_) + dot(lower_slope_, lower_slope_); }
  /// ⟨∇F, ∇q⟩
  [[nodiscard]] double gap_along_upper() const { return dot(direction_, gap_) + dot(upper_slope_, lower_slope_); }

  /// d and v for the penalty c.
  void set_direction(double c, const V &y, const V &z, V &v) {
    axpy(c, gap_, direction_);
    assign(z, v);
    axpy(-1.0, y, v);
    scale(c, v);
  }
  [[nodiscard]] const V &direction() const { return direction_; }

  /// y ← y − step · (upper_weight ∇yF + lower_weight ∇y f).
  void move(double step, double upper_weight, double lower_weight, V &y) {
    axpy(-step * upper_weight, upper_slope_, y);
    axpy(-step * lower_weight, lower_slope_, y);
  }
  /// The same with (weight/2) ‖· − centre‖² taken off f.
  void move_away(double step, double upper_weight, double weight, const V &centre, V &y) {
    axpy(-weight, y, lower_slope_);
    axpy(weight, centre, lower_slope_);
    move(step, upper_weight, 1.0, y);
  }

private:
  LowerOf<P> lower_;      ///< at y
  LowerOf<P> lower_at_z_; ///< at z
  UpperOf<P> upper_;
  V lower_slope_; ///< ∇y f
  V upper_slope_; ///< ∇yF
  V gap_;         ///< ∇x f(x, y) − ∇x f(x, z)
  V scratch_;
  V direction_;
};

/// The options of a method that holds the lower level by a penalty, for its own fields().
template <class Self, class Visit> void visit_penalty_fields(Self &self, Visit &&visit) {
  visit_step_fields(self, visit);
  visit("inner", self.inner, at_least_one, "lower steps T per upper step");
}

} // namespace duplex
