#pragma once
// A problem with bounds on x that it does not have by itself: bounded(problem, lower, upper).

#include <duplex/problem/fused.hpp>
#include <duplex/problem/offered.hpp>
#include <duplex/problem/problem.hpp>
#include <duplex/problem/problem_view.hpp>
#include <duplex/problem/stochastic.hpp>

#include <optional>
#include <utility>

namespace duplex {

namespace detail {

template <class P> struct DrawsOf {};
template <StochasticProblem P> struct DrawsOf<P> { using Draw = typename P::Draw; };

} // namespace detail

/// Holds a copy of (or takes over) a problem and offers exactly what that one offers, within the box.
template <class P> class Bounded : public detail::DrawsOf<P> {
public:
  using Vector = VectorOf<P>;

  Bounded(P problem, Box<Vector> box) : problem_(std::move(problem)), box_(std::move(box)) {}

  [[nodiscard]] Box<Vector> box() const { return box_; }

  [[nodiscard]] auto lower() const requires requires(const P &p) { p.lower(); }
  { return problem_.lower(); }
  [[nodiscard]] auto upper() const requires requires(const P &p) { p.upper(); }
  { return problem_.upper(); }
  [[nodiscard]] Index x_size() const { return problem_.x_size(); }
  [[nodiscard]] Index y_size() const { return problem_.y_size(); }
  [[nodiscard]] bool offers_aggregation() const requires FirstOrderProblem<P> {
    return duplex::offers_aggregation(problem_);
  }
  [[nodiscard]] double upper_scale() const requires FirstOrderProblem<P> { return duplex::upper_scale(problem_); }

  [[nodiscard]] Vector x_scale() const { return duplex::x_scale(problem_); }
  [[nodiscard]] Vector y_scale() const { return duplex::y_scale(problem_); }

  // Of a problem that draws samples.
  template <class Generator, class D> void draw(Generator &generator, D &sample) const requires requires(const P &p) {
    p.draw(generator, sample);
  }
  { problem_.draw(generator, sample); }
  template <class D> [[nodiscard]] auto lower(const D &sample) const requires requires(const P &p) { p.lower(sample); }
  { return problem_.lower(sample); }
  template <class D> [[nodiscard]] auto upper(const D &sample) const requires requires(const P &p) { p.upper(sample); }
  { return problem_.upper(sample); }

  // Of a finite sum, and of one that is drawn in batches (finite_sum.hpp).
  [[nodiscard]] Index lower_samples() const requires requires(const P &p) { p.lower_samples(); }
  { return problem_.lower_samples(); }
  [[nodiscard]] Index upper_samples() const requires requires(const P &p) { p.upper_samples(); }
  { return problem_.upper_samples(); }
  template <class D> [[nodiscard]] const auto &batches(const D &sample) const requires requires(const P &p) {
    p.batches(sample);
  }
  { return problem_.batches(sample); }
  [[nodiscard]] auto lower_batch(Index number) const requires requires(const P &p) { p.lower_batch(number); }
  { return problem_.lower_batch(number); }
  [[nodiscard]] auto upper_batch(Index number) const requires requires(const P &p) { p.upper_batch(number); }
  { return problem_.upper_batch(number); }

  /// The problem's own start, with the nearest x in the box.
  [[nodiscard]] State<Vector> start() const requires requires(const P &p) { p.start(); }
  {
    State<Vector> start = problem_.start();
    box_.project(start.x);
    return start;
  }
  void check_start(const State<Vector> &state) const requires requires(const P &p) { p.check_start(state); }
  { problem_.check_start(state); }
  /// The best x of all is the best in the box where it lies in it; otherwise nothing is known.
  [[nodiscard]] std::optional<Answer<Vector>> answer() const requires AnsweredProblem<P> {
    auto answer = problem_.answer();
    return answer && box_.holds(answer->x) ? std::move(answer) : std::nullopt;
  }
  [[nodiscard]] std::optional<double> held_out(const Vector &x, const Vector &y) const requires HeldOutProblem<P> {
    return problem_.held_out(x, y);
  }
  bool respond(const Vector &x, Vector &y, Vector &v) const requires ClosedFormLower<P> {
    return problem_.respond(x, y, v);
  }
  [[nodiscard]] auto fused_bagdc() const requires FusedProblem<P> { return problem_.fused_bagdc(); }

private:
  P problem_;
  Box<Vector> box_;
};

/// The problem with lower ≤ x ≤ upper, entry by entry, within what bounds it has by itself. An empty vector, or an
/// infinite entry, stands for no bound. Throws InvalidInput where bounds do not fit, with the entry.
template <class P>
[[nodiscard]] Bounded<P> bounded(P problem, VectorOf<P> lower, VectorOf<P> upper) requires BoundedSpace<VectorOf<P>> {
  const auto box = Box<VectorOf<P>>(std::move(lower), std::move(upper), problem.x_size()).within(box_of(problem));
  return {std::move(problem), box};
}

/// The same with one number for all entries.
template <class P>
[[nodiscard]] Bounded<P> bounded(P problem, double lower, double upper) requires BoundedSpace<VectorOf<P>> {
  using V = VectorOf<P>;
  const auto like_x = [&] {
    if constexpr (EigenVector<V>) {
      return V(V::Zero(problem.x_size()));
    } else {
      return zeros_like(problem.start().x);
    }
  };
  V low = like_x();
  V high = like_x();
  fill(lower, low);
  fill(upper, high);
  return bounded(std::move(problem), std::move(low), std::move(high));
}

} // namespace duplex
