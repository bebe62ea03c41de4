#pragma once
// The truth at a point x: y*(x), v*(x), φ(x) = F(x, y*(x)) and ∇φ(x), solved to
// machine precision. Methods are scored by these, never by their own y.

#include <duplex/dense.hpp>
#include <duplex/fields.hpp>
#include <duplex/linear.hpp>
#include <duplex/problem.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

namespace duplex {

template <class V> struct ExactPoint {
  V y;                         ///< y*(x)
  V v;                         ///< v*(x): ∇²yy f·v = ∇yF at y*
  V hypergradient;             ///< ∇φ(x) = ∇xF − ∇²xy f·v*
  double value = 0.0;          ///< φ(x)
  double lower_residual = 0.0; ///< ‖∇y f(x, y*)‖ that rounding left
};

/// A problem that knows y*(x) and v*(x) in closed form; respond() writes them, or
/// returns false where this object does not.
template <class P>
concept ClosedFormLower = SecondOrderProblem<P> && requires(const P &problem, const VectorOf<P> &x, VectorOf<P> &out) {
  { problem.respond(x, out, out) } -> std::convertible_to<bool>;
};

/// Newton's method on the lower level, with the Hessian factorized where y is
/// small and by conjugate gradients where it is not. Throws NotAvailable where
/// the lower Hessian is singular or indefinite at y*.
template <SecondOrderProblem P> class ExactSolver {
public:
  using V = VectorOf<P>;

  /// Up to this many lower variables the Hessian is assembled and factorized.
  static constexpr Index direct_limit = 256;

  explicit ExactSolver(const P &problem) : problem_(&problem), lower_(problem.lower()), upper_(problem.upper()) {}

  /// `guess` starts the first solve; later ones start at the last y*.
  const ExactPoint<V> &at(const V &x, const V &guess) {
    if (size(point_.y) == 0) {
      point_.y = guess;
      point_.v = zeros_like(guess);
      point_.hypergradient = zeros_like(x);
      gradient_ = zeros_like(guess);
      step_ = zeros_like(guess);
      trial_ = zeros_like(guess);
      cross_ = zeros_like(x);
      scratch_ = zeros_like(guess);
      image_ = zeros_like(guess);
    }
    if (!(known_closed_form(x))) {
      minimize_lower(x);
      lower_.at(x, point_.y);
      upper_.at(x, point_.y);
      upper_.grad_y(gradient_);
      solve_hessian(gradient_, point_.v);
    }
    lower_.at(x, point_.y);
    upper_.at(x, point_.y);
    lower_.grad_y(gradient_);
    point_.lower_residual = norm(gradient_);
    implicit_direction(lower_, upper_, point_.v, point_.hypergradient, cross_);
    point_.value = upper_.value();
    return point_;
  }

private:
  bool known_closed_form(const V &x) {
    if constexpr (ClosedFormLower<P>) {
      return problem_->respond(x, point_.y, point_.v);
    } else {
      return false;
    }
  }

  /// Damped Newton on ∇y f = 0; ends when rounding stops the gradient's norm from
  /// falling.
  void minimize_lower(const V &x) {
    constexpr int most_steps = 200;
    constexpr int most_halvings = 40;
    lower_.at(x, point_.y);
    lower_.grad_y(gradient_);
    double current = norm(gradient_);
    for (int n = 0; n < most_steps && current > 0.0; ++n) {
      solve_hessian(gradient_, step_);
      double length = 1.0;
      double reached = current;
      int halvings = 0;
      for (; halvings < most_halvings; ++halvings, length *= 0.5) {
        assign(point_.y, trial_);
        axpy(-length, step_, trial_);
        lower_.at(x, trial_);
        lower_.grad_y(gradient_);
        reached = norm(gradient_);
        if (reached <= (1.0 - 1e-4 * length) * current) {
          break;
        }
        if (halvings == 0 && current <= rounding_level(x)) {
          halvings = most_halvings; // at rounding: a shorter step cannot help
        }
      }
      if (halvings >= most_halvings) {
        break;
      }
      std::swap(point_.y, trial_);
      current = reached;
      lower_.at(x, point_.y);
      lower_.grad_y(gradient_);
    }
    if (!(current <= 1e3 * rounding_level(x))) {
      throw NotAvailable("Newton's method ended with ‖∇y f‖ = " + field_text(current) +
                         "; is the lower level smooth and strongly convex in y?");
    }
  }

  /// What rounding alone leaves in ∇y f: ε (‖H y‖ + ‖∇y f‖ at y = 0), at least.
  double rounding_level(const V &x) {
    assign(point_.y, trial_);
    lower_.at(x, point_.y);
    lower_.hess_yy(point_.y, trial_);
    const double curvature = norm(trial_);
    set_zero(trial_);
    lower_.at(x, trial_);
    lower_.grad_y(scratch_);
    return 16.0 * precision(x) * (curvature + norm(scratch_)) * std::sqrt(static_cast<double>(size(point_.y)));
  }

  /// out = H⁻¹ b at the point where lower_ stands, refined against the residual.
  void solve_hessian(const V &b, V &out) {
    if constexpr (EigenVector<V>) {
      if (size(b) <= direct_limit) {
        factorize(size(b));
        factor_.solve(b, out);
        lower_.hess_yy(out, image_);
        image_ = b - image_;
        factor_.solve(image_, correction_);
        out += correction_;
        return;
      }
    }
    set_zero(out);
    double before = infinity;
    for (int round = 0; round < 6; ++round) {
      const LinearResult solved = linear_.solve([&](const V &in, V &product) { lower_.hess_yy(in, product); }, b, out,
                                                {.tolerance = precision(b), .max_steps = 10 * size(b)}, round == 0);
      if (solved.status != LinearStatus::converged && solved.status != LinearStatus::step_limit) {
        refuse(std::string(name_of(solved.status)));
      }
      lower_.hess_yy(out, image_);
      axpy(-1.0, b, image_);
      const double residual = norm(image_);
      if (!(residual < 0.5 * before)) {
        break;
      }
      before = residual;
    }
  }

  void factorize(Index m) requires EigenVector<V> {
    hessian_.resize(m, m);
    V unit = V::Zero(m);
    V column(m);
    for (Index j = 0; j < m; ++j) {
      unit[j] = 1;
      lower_.hess_yy(unit, column);
      hessian_.col(j) = column;
      unit[j] = 0;
    }
    factor_ = dense::SymmetricFactor<typename V::Scalar>(hessian_);
    if (!factor_.is_positive_definite()) {
      refuse(factor_.smallest_pivot() < -1e-8 * factor_.largest_pivot() ? "indefinite" : "singular");
    }
  }

  [[noreturn]] static void refuse(const std::string &what) {
    throw NotAvailable("the lower Hessian is " + what + ", so y*(x) and ∇φ(x) are not defined");
  }

  struct Nothing {};
  template <class W> struct Storage {
    using Matrix = Nothing;
    using Factor = Nothing;
  };
  template <EigenVector W> struct Storage<W> {
    using Matrix = dense::Matrix<typename W::Scalar>;
    using Factor = dense::SymmetricFactor<typename W::Scalar>;
  };

  const P *problem_;
  LowerOf<P> lower_;
  UpperOf<P> upper_;
  ExactPoint<V> point_;
  ConjugateGradient<V> linear_;
  V gradient_;
  V step_;
  V trial_;
  V scratch_;
  V image_;
  V cross_;
  V correction_;
  typename Storage<V>::Matrix hessian_;
  typename Storage<V>::Factor factor_;
};

/// ‖∇φ‖ at a state's x, from its y; none where it does not exist.
template <SecondOrderProblem P>
[[nodiscard]] std::optional<double> exact_slope(const P &problem, const State<VectorOf<P>> &state) {
  try {
    return norm(ExactSolver<P>(problem).at(state.x, state.y).hypergradient);
  } catch (const NotAvailable &) {
    return std::nullopt;
  }
}

} // namespace duplex
