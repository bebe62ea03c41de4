#pragma once
// y and v where the lower level has many minimizers: its Hessian H is singular with null space N, and the upper level
// chooses, φ(x) = min {F(x, y) : y minimizes f(x, ·)}. In turns,
//
//   y ← y − H⁺∇y f                      until f is minimal
//   y ← y − N (NᵀF_yyN)⁻¹ Nᵀ∇yF         until F is minimal where f is flat
//
// and then v = H⁺∇yF, with which d = ∇xF − ∇²xy f·v is the hypergradient (measure/selection.hpp says when). H and
// NᵀF_yyN are assembled once, and again only where they no longer serve: never where both levels are quadratic.

#include <duplex/methods/automatic/estimate.hpp>
#include <duplex/methods/automatic/null_space_choice.hpp>
#include <duplex/numerics/assembled_hessian.hpp>
#include <duplex/numerics/line_search.hpp>
#include <duplex/space/space.hpp>

#include <cmath>
#include <cstdint>

namespace duplex::automatic {

/// Of vectors that are not Eigen's: it is never possible.
template <class V> class SelectedResponse {
public:
  SelectedResponse(const V & /*x*/, const V & /*y*/) {}
  [[nodiscard]] static bool is_possible() { return false; }
  template <class Lower, class Upper>
  [[nodiscard]] LinearStatus solve(Lower & /*lower*/, Upper & /*upper*/, Estimate<V> & /*point*/) {
    return LinearStatus::singular;
  }
  template <class Archive> void archive(Archive & /*members*/) {}
  template <class Lower, class Upper> void restore(Lower & /*lower*/, Upper & /*upper*/) {}
};

template <EigenVector V> class SelectedResponse<V> {
public:
  SelectedResponse(const V &x, const V &y)
      : choice_(x, y), gradient_(zeros_like(y)), slope_(zeros_like(y)), step_(zeros_like(y)), before_(zeros_like(y)),
        assembled_x_(zeros_like(x)), assembled_y_(zeros_like(y)) {}

  [[nodiscard]] bool is_possible() const { return gradient_.size() <= AssembledHessian<V>::largest; }

  /// Moves y and v at the point's x, and leaves their errors and ∇y f there. The levels stand at x and the new y.
  template <class Lower, class Upper> [[nodiscard]] LinearStatus solve(Lower &lower, Upper &upper, Estimate<V> &point) {
    constexpr int most_assemblies = 20;
    LinearStatus status = choose(lower, upper, point);
    for (int n = 0; status == LinearStatus::converged && !solve_multiplier(lower, point) && n < most_assemblies; ++n) {
      status = assemble(lower, V(point.at.x), V(point.at.y)); // at y, which it then moves by a little
      if (status == LinearStatus::converged) {
        status = choose(lower, upper, point);
      }
    }
    assign(gradient_, point.lower_gradient);
    return status;
  }

  /// How many dimensions the upper level chooses in, where that was last looked at.
  [[nodiscard]] Index dimensions() const { return choice_.null_space().cols(); }

  template <class Archive> void archive(Archive &members) {
    members("assembled x", assembled_x_);
    members("assembled y", assembled_y_);
    members("choice", choice_);
  }
  /// After archive() has read: both matrices as they were. The levels are moved to where that was.
  template <class Lower, class Upper> void restore(Lower &lower, Upper &upper) {
    lower.at(assembled_x_, assembled_y_);
    (void)assemble(lower, V(assembled_x_), V(assembled_y_));
    choice_.restore(upper);
  }

private:
  static constexpr double stale = 0.1; ///< a step that leaves more than this of the next one was not Newton's

  /// y by both kinds of steps in turns, with its error.
  template <class Lower, class Upper>
  [[nodiscard]] LinearStatus choose(Lower &lower, Upper &upper, Estimate<V> &point) {
    constexpr int most_rounds = 50;
    State<V> &s = point.at;
    double before = infinity;
    for (int round = 0; round < most_rounds; ++round) {
      const LinearStatus status = minimize_lower(lower, s.x, s.y);
      if (status != LinearStatus::converged) {
        return status;
      }
      upper.at(s.x, s.y);
      upper.grad_y(slope_);
      if (!choice_.propose(upper, s, slope_, step_)) {
        return LinearStatus::singular;
      }
      const double length = norm(step_);
      if (is_rounding(length, s.y) || (round > 1 && !(length <= 0.5 * before))) {
        break;
      }
      if (!(length <= stale * before)) {
        choice_.renew(); // at the next round
      }
      before = length;
      move(upper, s.x, s.y, dot(slope_, step_));
    }
    point.y_error = y_error_ + norm(step_);
    return LinearStatus::converged;
  }

  [[nodiscard]] static bool is_rounding(double length, const V &y) {
    return length == 0.0 || length <= 10.0 * precision(y) * norm(y);
  }

  template <class Lower> [[nodiscard]] LinearStatus assemble(Lower &lower, const V &x, const V &y) {
    hessian_.assemble([&](const V &in, V &out) { lower.hess_yy(in, out); }, y);
    choice_.begin(hessian_.null_space());
    assign(x, assembled_x_);
    assign(y, assembled_y_);
    const LinearStatus kind = hessian_.kind();
    return kind == LinearStatus::singular ? LinearStatus::converged : kind;
  }

  /// y to a minimizer of f(x, ·), the nearest by Newton's method in the range of H. `singular` where there is none.
  template <class Lower> [[nodiscard]] LinearStatus minimize_lower(Lower &lower, const V &x, V &y) {
    constexpr int most_steps = 100;
    double before = infinity;
    bool is_new = false;
    for (int n = 0; n < most_steps; ++n) {
      lower.at(x, y);
      lower.grad_y(gradient_);
      if (!all_finite(gradient_)) {
        return LinearStatus::not_finite;
      }
      const bool renews = !hessian_.is_there() || (!is_new && n > 0 && !(error_of_gradient() <= stale * before));
      if (renews) {
        if (const auto status = assemble(lower, x, y); status != LinearStatus::converged) {
          return status;
        }
      }
      y_error_ = error_of_gradient();
      if (is_rounding(y_error_, y) || (is_new && !(y_error_ <= 0.5 * before))) {
        break;
      }
      is_new = renews;
      before = y_error_;
      scale(-1.0, step_);
      move(lower, x, y, dot(gradient_, step_));
    }
    return falls_where_flat(lower, y) ? LinearStatus::singular : LinearStatus::converged;
  }

  /// ‖H⁺∇y f‖, with that vector in step_.
  [[nodiscard]] double error_of_gradient() {
    hessian_.invert(gradient_, step_);
    return norm(step_);
  }

  /// Whether f has a slope along N that is no rounding of ∇y f, whose terms are about as large as Hy: then it has no
  /// minimizer.
  template <class Lower> [[nodiscard]] bool falls_where_flat(Lower &lower, const V &y) {
    constexpr double share = 1e-7;
    const double slope = static_cast<double>((choice_.null_space().transpose() * gradient_).norm());
    if (slope == 0.0) {
      return false;
    }
    lower.hess_yy(y, before_);
    return slope > share * (norm(before_) + norm(gradient_));
  }

  /// y ← y + t·step_ with the first t = 1, ½, ¼, … that lowers the level's value, as far as that is known.
  template <class Level> void move(Level &level, const V &x, V &y, double slope) {
    constexpr int most_attempts = 40;
    level.at(x, y);
    const double value = level.value();
    const double noise = 100.0 * precision(y) * std::abs(value);
    assign(y, before_);
    (void)backtrack(most_attempts, [&](double t) {
      assign(before_, y);
      axpy(t, step_, y);
      level.at(x, y);
      return judged(value, level.value(), t * slope, noise);
    });
    level.at(x, y);
  }

  /// v = H⁺∇yF, refined once. False where H was assembled at another point and is another one here: then neither v nor
  /// the null space that y was chosen in is right.
  template <class Lower> [[nodiscard]] bool solve_multiplier(Lower &lower, Estimate<V> &point) {
    constexpr double unchanged = 1e-8;
    V &v = point.at.v;
    lower.at(point.at.x, point.at.y);
    hessian_.invert(slope_, v);
    bool is_same = assembled_x_ == point.at.x && assembled_y_ == point.at.y;
    for (int refinement = 0; refinement < 2; ++refinement) {
      lower.hess_yy(v, before_);
      before_ = slope_ - before_;
      hessian_.invert(before_, step_);
      point.v_error = norm(step_);
      if (refinement == 0) {
        before_ -= choice_.null_space() * (choice_.null_space().transpose() * slope_);
        is_same = is_same || (point.v_error <= unchanged * norm(v) && norm(before_) <= unchanged * norm(slope_));
        v += step_;
      }
    }
    return is_same;
  }

  AssembledHessian<V> hessian_;
  NullSpaceChoice<V> choice_;
  double y_error_ = 0.0;
  V gradient_; ///< ∇y f
  V slope_;    ///< ∇yF
  V step_;
  V before_;      ///< y before a move, and scratch
  V assembled_x_; ///< where H was assembled
  V assembled_y_;
};

} // namespace duplex::automatic
