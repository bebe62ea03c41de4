#pragma once
// The truth at a point x: y*(x), v*(x), φ(x) = F(x, y*(x)) and ∇φ(x), solved to
// machine precision. Methods are scored by these, never by their own y.

#include <duplex/core/fields.hpp>
#include <duplex/measure/response.hpp>

#include <memory>
#include <optional>
#include <string>

namespace duplex {

template <class V> struct ExactPoint {
  V y;                         ///< y*(x)
  V v;                         ///< v*(x): ∇²yy f·v = ∇yF at y*
  V hypergradient;             ///< ∇φ(x) = ∇xF − ∇²xy f·v*
  double value = 0.0;          ///< φ(x)
  double lower_residual = 0.0; ///< ‖∇y f(x, y*)‖ that rounding left
};

namespace detail {

template <VectorSpace V> class ExactResponse {
public:
  explicit ExactResponse(const ProblemView<V> &problem) : response_(problem) {}

  const ExactPoint<V> &at(const V &x, const V &guess);

private:
  void solve(const V &x) {
    response_.begin(x, point_.y, true);
    response_.minimize(0.0);
    if (response_.hessian().is_direct()) {
      Response<V>::require(response_.hessian().explore());
    }
    response_.solve_multiplier(0.0);
    assign(response_.y(), point_.y);
    assign(response_.v(), point_.v);
  }

  void evaluate(const V &x) {
    auto &lower = response_.lower();
    auto &upper = response_.upper();
    if (size(y_scratch_) != size(point_.y) || size(x_scratch_) != size(x)) {
      y_scratch_ = zeros_like(point_.y);
      x_scratch_ = zeros_like(x);
    }
    lower.at(x, point_.y);
    upper.at(x, point_.y);
    lower.grad_y(y_scratch_);
    point_.lower_residual = norm(y_scratch_);
    implicit_direction(lower, upper, point_.v, point_.hypergradient, x_scratch_);
    point_.value = upper.value();
  }

  Response<V> response_;
  ExactPoint<V> point_;
  V x_scratch_;
  V y_scratch_;
};

// Outside of the class: within it, it would be inline, and be compiled by every program that calls it.
template <VectorSpace V> const ExactPoint<V> &ExactResponse<V>::at(const V &x, const V &guess) {
  if (size(point_.y) != size(guess) || size(point_.hypergradient) != size(x)) {
    point_.v = zeros_like(guess);
    point_.hypergradient = zeros_like(x);
  }
  point_.y = guess; // and nothing of what was solved before: a run that goes on measures what it would have measured
  if (!response_.problem().respond(x, point_.y, point_.v)) {
    solve(x);
  }
  evaluate(x);
  return point_;
}

} // namespace detail

/// By the problem's closed form, or by Newton's method on the lower level, with the Hessian's factors where y is
/// small and by conjugate gradients where it is not. Throws NotAvailable where the lower Hessian is singular or
/// indefinite at y*.
template <SecondOrderProblem P> class ExactSolver {
public:
  using V = VectorOf<P>;

  static constexpr Index direct_limit = HessianSolver<V>::direct_limit;

  explicit ExactSolver(const P &problem)
      : response_(std::make_unique<detail::ExactResponse<V>>(ProblemView<V>(problem))) {}

  /// `guess` is where the solve for y*(x) starts.
  const ExactPoint<V> &at(const V &x, const V &guess) { return response_->at(x, guess); }

private:
  std::unique_ptr<detail::ExactResponse<V>> response_;
};

/// ‖∇φ‖ at a state's x, from its y, of the free part where x has bounds; none where it does not exist.
template <SecondOrderProblem P>
[[nodiscard]] std::optional<double> exact_slope(const P &problem, const State<VectorOf<P>> &state) {
  try {
    ExactSolver<P> exact(problem);
    VectorOf<P> scratch;
    return box_of(problem).free_norm(state.x, exact.at(state.x, state.y).hypergradient, scratch);
  } catch (const NotAvailable &) {
    return std::nullopt;
  }
}

extern template class detail::ExactResponse<Eigen::VectorXf>;
extern template class detail::ExactResponse<Eigen::VectorXd>;

} // namespace duplex
