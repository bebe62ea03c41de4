#pragma once
// Products with second derivatives of f for a problem that has none, by central differences of its gradients:
//
//   ∇²yy f·v = d/dt ∇y f(x, y + tv)        ∇²xy f·v = d/dt ∇x f(x, y + tv)        at t = 0,
//
// right to about ε^⅔ where f bends over lengths like max(1, ‖y‖); nearer where f or a gradient is not finite at that
// distance. A product costs two gradients. What measures and diagnoses a run of a method without second derivatives
// sees the problem so; and so any other method runs on it:
//
//   solve(by_differences(problem), state);

#include <duplex/problem/offered.hpp>
#include <duplex/problem/problem.hpp>
#include <duplex/problem/stochastic.hpp>
#include <duplex/space/difference_step.hpp>

#include <cmath>
#include <memory>
#include <optional>
#include <utility>

namespace duplex {

/// Of a problem that lies elsewhere, and must outlive its view.
template <PenalizableProblem P> class DifferencedView {
public:
  using Vector = VectorOf<P>;

  /// Throws InvalidInput where the problem has forgotten its type and has no ∇x f.
  explicit DifferencedView(const P &problem) : problem_(&problem) {
    if (!offers_lower_grad_x(problem)) {
      throw InvalidInput("by_differences: the problem lacks lower().grad_x(out)");
    }
  }

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
      difference(v, out, y_scratch_, [this](Vector &to) { beside_.grad_y(to); });
    }
    void cross_xy(const Vector &v, Vector &out) {
      difference(v, out, x_scratch_, [this](Vector &to) { beside_.grad_x(to); });
    }
    [[nodiscard]] OfferedInverse offered_inverse() const { return duplex::offered_inverse<Vector>(here_); }
    void apply_offered_inverse(const Vector &v, Vector &out) { duplex::apply_offered_inverse(here_, v, out); }

  private:
    template <class Slope> void difference(const Vector &v, Vector &out, Vector &scratch, const Slope &slope) {
      constexpr int most_attempts = 4;
      constexpr double nearer = 1e-2;
      const double length = norm(v);
      if (size(scratch) != size(out)) {
        scratch = zeros_like(out);
      }
      double h = detail::difference_step(this->y()) / (length > 0.0 ? length : 1.0);
      for (int i = 0; i < most_attempts && !differs(v, h, out, scratch, slope); ++i) { // it is left not finite
        h *= nearer;
      }
    }

    /// out = (slope(y + hv) − slope(y − hv)) / 2h; false where f or a slope is not finite there.
    template <class Slope>
    [[nodiscard]] bool differs(const Vector &v, double h, Vector &out, Vector &scratch, const Slope &slope) {
      assign_or_copy(this->y(), moved_);
      axpy(h, v, moved_);
      beside_.at(this->x(), moved_);
      bool is_finite = std::isfinite(beside_.value());
      slope(out);
      axpy(-2.0 * h, v, moved_);
      beside_.at(this->x(), moved_);
      is_finite = is_finite && std::isfinite(beside_.value());
      slope(scratch);
      axpy(-1.0, scratch, out);
      scale(0.5 / h, out);
      return is_finite && std::isfinite(norm(out));
    }

    static void assign_or_copy(const Vector &from, Vector &to) {
      if (size(to) == size(from)) {
        assign(from, to);
      } else {
        to = from;
      }
    }

    LowerOf<P> here_;
    LowerOf<P> beside_;
    Vector moved_;
    Vector x_scratch_;
    Vector y_scratch_;
  };

  [[nodiscard]] Lower lower() const { return Lower(*problem_); }
  [[nodiscard]] UpperOf<P> upper() const { return problem_->upper(); }
  [[nodiscard]] Index x_size() const { return problem_->x_size(); }
  [[nodiscard]] Index y_size() const { return problem_->y_size(); }
  [[nodiscard]] bool offers_aggregation() const {
    return duplex::offers_aggregation(*problem_) || (OffersSecondOrder<UpperOf<P>, Vector> && !SecondOrderProblem<P>);
  }
  [[nodiscard]] double upper_scale() const { return duplex::upper_scale(*problem_); }
  [[nodiscard]] Box<Vector> box() const { return box_of(*problem_); }
  [[nodiscard]] Vector x_scale() const { return duplex::x_scale(*problem_); }
  [[nodiscard]] Vector y_scale() const { return duplex::y_scale(*problem_); }
  [[nodiscard]] State<Vector> start() const requires StartedProblem<P> { return problem_->start(); }
  void check_start(const State<Vector> &state) const requires requires(const P &p) { p.check_start(state); }
  { problem_->check_start(state); }
  [[nodiscard]] std::optional<Answer<Vector>> answer() const requires AnsweredProblem<P> { return problem_->answer(); }
  [[nodiscard]] std::optional<double> held_out(const Vector &x, const Vector &y) const requires HeldOutProblem<P> {
    return problem_->held_out(x, y);
  }

private:
  const P *problem_;
};

/// The same of a problem that it owns.
template <PenalizableProblem P> class ByDifferences : public DifferencedView<P> {
  static_assert(!StochasticProblem<P>,
                "by_differences: the problem draws samples, and would be solved in whole; hold one sample, "
                "duplex::Drawn<P>(problem, seed), or offer hess_yy(v, out) and cross_xy(v, out)");

public:
  explicit ByDifferences(P problem) : ByDifferences(std::make_shared<const P>(std::move(problem))) {}

private:
  explicit ByDifferences(std::shared_ptr<const P> held) : DifferencedView<P>(*held), held_(std::move(held)) {}

  std::shared_ptr<const P> held_;
};

/// The problem with products by differences.
template <PenalizableProblem P> [[nodiscard]] ByDifferences<P> by_differences(P problem) {
  return ByDifferences<P>(std::move(problem));
}

/// A problem that has ∇x f in the place of second derivatives.
template <class P>
concept GradientsOnly = PenalizableProblem<P> && !SecondOrderProblem<P>;

} // namespace duplex
