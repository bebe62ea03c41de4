#pragma once
// Products with second derivatives of f for a problem that has none, by central differences of its gradients:
//
//   ∇²yy f·v = d/dt ∇y f(x, y + tv)        ∇²xy f·v = d/dt ∇x f(x, y + tv)        at t = 0,
//
// right to about ε^⅔ where f bends over lengths like those of y. A product costs two gradients. What measures and
// diagnoses a run of a method without second derivatives sees the problem so; and so any other method runs on it:
//
//   solve(by_differences(problem), state);

#include <duplex/problem/problem.hpp>
#include <duplex/space/difference_step.hpp>

#include <optional>
#include <utility>

namespace duplex {

template <PenalizableProblem P> class ByDifferences {
public:
  using Vector = VectorOf<P>;

  /// Holds a copy of (or takes over) a problem.
  explicit ByDifferences(P problem) : problem_(std::move(problem)) {}

  class Lower : public Point<Vector> {
  public:
    explicit Lower(const P &problem) : here_(problem.lower()), beside_(problem.lower()) {}

    void at(const Vector &x, const Vector &y) {
      Point<Vector>::at(x, y);
      here_.at(x, y);
    }
    [[nodiscard]] double value() { return here_.value(); }
    void grad_x(Vector &out) { here_.grad_x(out); }
    void grad_y(Vector &out) { here_.grad_y(out); }
    void hess_yy(const Vector &v, Vector &out) {
      difference(v, out, y_scratch_, this->y(), [this](Vector &to) { beside_.grad_y(to); });
    }
    void cross_xy(const Vector &v, Vector &out) {
      difference(v, out, x_scratch_, this->x(), [this](Vector &to) { beside_.grad_x(to); });
    }

  private:
    /// out = (slope(y + hv) − slope(y − hv)) / 2h
    template <class Slope>
    void difference(const Vector &v, Vector &out, Vector &scratch, const Vector &like, const Slope &slope) {
      const double length = norm(v);
      out = zeros_like(like);
      if (length == 0.0) {
        return;
      }
      scratch = zeros_like(like);
      const double h = detail::difference_step(this->y()) / length;
      moved_ = this->y();
      axpy(h, v, moved_);
      beside_.at(this->x(), moved_);
      slope(out);
      axpy(-2.0 * h, v, moved_);
      beside_.at(this->x(), moved_);
      slope(scratch);
      axpy(-1.0, scratch, out);
      scale(0.5 / h, out);
    }

    LowerOf<P> here_;
    LowerOf<P> beside_;
    Vector moved_;
    Vector x_scratch_;
    Vector y_scratch_;
  };

  [[nodiscard]] Lower lower() const { return Lower(problem_); }
  [[nodiscard]] UpperOf<P> upper() const { return problem_.upper(); }
  [[nodiscard]] Index x_size() const { return problem_.x_size(); }
  [[nodiscard]] Index y_size() const { return problem_.y_size(); }
  [[nodiscard]] double upper_scale() const { return duplex::upper_scale(problem_); }
  [[nodiscard]] Box<Vector> box() const { return box_of(problem_); }
  [[nodiscard]] State<Vector> start() const requires StartedProblem<P> { return problem_.start(); }
  [[nodiscard]] std::optional<double> held_out(const Vector &x, const Vector &y) const requires HeldOutProblem<P> {
    return problem_.held_out(x, y);
  }

private:
  P problem_;
};

/// The problem with products by differences.
template <PenalizableProblem P> [[nodiscard]] ByDifferences<P> by_differences(P problem) {
  return ByDifferences<P>(std::move(problem));
}

/// A problem that has ∇x f in the place of second derivatives.
template <class P>
concept GradientsOnly = PenalizableProblem<P> && !SecondOrderProblem<P>;

} // namespace duplex
