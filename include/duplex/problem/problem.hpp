#pragma once
// A bilevel problem: min over x, y of F(x, y) subject to y in argmin f(x, ·).
//
// A problem is a plain class that makes *evaluations*. An evaluation is moved
// to a point by at(x, y), keeps what the forward pass computed there, and is
// reused from step to step, so that a run allocates nothing after its first
// step. It borrows x and y: both must stay alive and unchanged for as long as
// the evaluation is asked about that point.
//
//   lower: value  f      grad_y ∇y f     hess_yy(v) ∇²yy f·v   cross_xy(v) ∂/∂x (∇y f·v)
//          and, where it has no such products, grad_x ∇x f
//   upper: value  F      grad_x, grad_y  and, for aggregation, hess_yy, cross_xy

#include <duplex/core/error.hpp>
#include <duplex/space/box.hpp>
#include <duplex/space/space.hpp>

#include <concepts>
#include <optional>
#include <string>
#include <utility>

namespace duplex {

/// Where an evaluation stands. A problem's evaluations may derive from it.
template <class V> class Point {
public:
  void at(const V &x, const V &y) {
    x_ = &x;
    y_ = &y;
  }
  void at(V &&, const V &) = delete; // the point is borrowed, so a temporary would dangle
  void at(const V &, V &&) = delete;
  void at(V &&, V &&) = delete;

protected:
  [[nodiscard]] const V &x() const { return *x_; }
  [[nodiscard]] const V &y() const { return *y_; }

private:
  const V *x_ = nullptr;
  const V *y_ = nullptr;
};

/// A value that is computed at most once per point, when first asked for.
template <class T> class Kept {
public:
  void forget() { known_ = false; }

  template <class Compute> const T &get(Compute &&compute) {
    if (!known_) {
      std::forward<Compute>(compute)(value_);
      known_ = true;
    }
    return value_;
  }

private:
  T value_;
  bool known_ = false;
};

/// The variables of a run: upper x, lower y, multiplier v of ∇y f = 0.
/// An empty v stands for zero.
template <class V> struct State {
  V x;
  V y;
  V v;

  template <class Archive> void archive(Archive &members) {
    members("x", x);
    members("y", y);
    members("v", v);
  }
};

/// destination = source, within its memory.
template <VectorSpace V> void assign(const State<V> &source, State<V> &destination) {
  assign(source.x, destination.x);
  assign(source.y, destination.y);
  assign(source.v, destination.v);
}

/// A known solution: x*, y*(x*), v*(x*) and F(x*, y*).
template <class V> struct Answer {
  V x;
  V y;
  V v;
  double value = 0.0;
};

template <class P> using VectorOf = typename P::Vector;
template <class P> using LowerOf = decltype(std::declval<const P &>().lower());
template <class P> using UpperOf = decltype(std::declval<const P &>().upper());

template <class E, class V>
concept Evaluation = std::movable<E> && requires(E at, const V &point) {
  at.at(point, point);
  { at.value() } -> std::convertible_to<double>;
};

template <class E, class V>
concept OffersSecondOrder = requires(E at, const V &direction, V &out) {
  at.hess_yy(direction, out);
  at.cross_xy(direction, out);
};

template <class E, class V>
concept OffersGradX = requires(E at, V &out) {
  at.grad_x(out);
};

/// Tier 1: values and gradients.
template <class P>
concept FirstOrderProblem = VectorSpace<VectorOf<P>> && Evaluation<LowerOf<P>, VectorOf<P>> &&
    Evaluation<UpperOf<P>, VectorOf<P>> && OffersGradX<UpperOf<P>, VectorOf<P>> &&
    requires(const P &problem, LowerOf<P> lower, UpperOf<P> upper, VectorOf<P> &out) {
  { problem.x_size() } -> std::convertible_to<Index>;
  { problem.y_size() } -> std::convertible_to<Index>;
  lower.grad_y(out);
  upper.grad_y(out);
};

/// Tier 1 with ∇x f: all that methods need which hold the lower level by a penalty, f(x, y) − min f(x, ·).
template <class P>
concept PenalizableProblem = FirstOrderProblem<P> && OffersGradX<LowerOf<P>, VectorOf<P>>;

/// Tier 2: products with the lower level's second derivatives. All of the
/// paper's methods need these.
template <class P>
concept SecondOrderProblem = FirstOrderProblem<P> && OffersSecondOrder<LowerOf<P>, VectorOf<P>>;

/// Tier 3: products with the upper level's second derivatives in y too, so that
/// ψ = μλF + (1 − μ)f can take the lower level's place (BDA, BAGDC with μ > 0).
template <class P>
concept AggregatedProblem = SecondOrderProblem<P> && OffersSecondOrder<UpperOf<P>, VectorOf<P>>;

/// A problem that carries its start.
template <class P>
concept StartedProblem = FirstOrderProblem<P> && requires(const P &problem) {
  { problem.start() } -> std::convertible_to<State<VectorOf<P>>>;
};

/// A problem that carries its answer (empty where none is known).
template <class P>
concept AnsweredProblem = StartedProblem<P> && requires(const P &problem) {
  { problem.answer() } -> std::convertible_to<std::optional<Answer<VectorOf<P>>>>;
};

/// Both products of one v. An evaluation that has them for less than each by itself offers both_products(v, hess,
/// cross).
template <class Lower, VectorSpace V> void both_products(Lower &lower, const V &v, V &hess, V &cross) {
  if constexpr (requires { lower.both_products(v, hess, cross); }) {
    lower.both_products(v, hess, cross);
  } else {
    lower.hess_yy(v, hess);
    lower.cross_xy(v, cross);
  }
}

/// Tells an evaluation that wants to know it that no products will be asked of it, so that it may keep less.
template <class E> void expect_gradients_alone(E &evaluation) {
  if constexpr (requires { evaluation.expect_gradients_alone(); }) {
    evaluation.expect_gradients_alone();
  }
}

/// d = ∇xF − ∇²xy f·v at the points where the two evaluations stand.
template <class Lower, class Upper, VectorSpace V>
void implicit_direction(Lower &lower, Upper &upper, const V &v, V &d, V &scratch) {
  upper.grad_x(d);
  lower.cross_xy(v, scratch);
  axpy(-1.0, scratch, d);
}

/// Whether this very object offers tier 3: known from its type, unless the
/// object hides another one and says so itself.
template <FirstOrderProblem P> [[nodiscard]] bool offers_aggregation(const P &problem) {
  if constexpr (requires {
                  { problem.offers_aggregation() } -> std::convertible_to<bool>;
                }) {
    return problem.offers_aggregation();
  } else {
    return AggregatedProblem<P>;
  }
}

/// The same of ∇x f.
template <FirstOrderProblem P> [[nodiscard]] bool offers_lower_grad_x(const P &problem) {
  if constexpr (requires {
                  { problem.lower().offers_grad_x() } -> std::convertible_to<bool>;
                }) {
    return problem.lower().offers_grad_x();
  } else {
    return PenalizableProblem<P>;
  }
}

/// A change of an entry of x that matters, where the problem knows one: 1 for a logit. Zero where it does not.
template <FirstOrderProblem P> [[nodiscard]] double upper_scale(const P &problem) {
  if constexpr (requires {
                  { problem.upper_scale() } -> std::convertible_to<double>;
                }) {
    return problem.upper_scale();
  } else {
    return 0.0;
  }
}

/// A problem that knows what x must be at least or at most: lower_bound() and upper_bound(), or one of them.
template <class P>
concept OffersLowerBound = requires(const P &problem) {
  { problem.lower_bound() } -> std::convertible_to<VectorOf<P>>;
};
template <class P>
concept OffersUpperBound = requires(const P &problem) {
  { problem.upper_bound() } -> std::convertible_to<VectorOf<P>>;
};

/// The bounds of x, none where the problem has none. An object that hides another problem says by box() which they are.
/// Throws InvalidInput where they are none.
template <class P> [[nodiscard]] Box<VectorOf<P>> box_of(const P &problem) {
  using V = VectorOf<P>;
  if constexpr (requires {
                  { problem.box() } -> std::same_as<Box<V>>;
                }) {
    return problem.box();
  } else if constexpr (OffersLowerBound<P> || OffersUpperBound<P>) {
    V lower;
    V upper;
    if constexpr (OffersLowerBound<P>) {
      lower = problem.lower_bound();
    }
    if constexpr (OffersUpperBound<P>) {
      upper = problem.upper_bound();
    }
    return Box<V>(std::move(lower), std::move(upper), problem.x_size());
  } else {
    return {};
  }
}

/// A problem with samples that neither level sees: the upper level's loss on them (empty where this object has none).
template <class P>
concept HeldOutProblem = FirstOrderProblem<P> && requires(const P &problem, const VectorOf<P> &point) {
  { problem.held_out(point, point) } -> std::convertible_to<std::optional<double>>;
};

/// Refuses a start whose sizes do not fit the problem, whose entries are not
/// finite or whose x is outside of its bounds, and fills an empty multiplier with zeros. Throws InvalidInput.
template <FirstOrderProblem P> void prepare_start(const P &problem, State<VectorOf<P>> &state) {
  if (size(state.v) == 0) {
    state.v = zeros_like(state.y);
  }
  const auto require = [](const char *name, const VectorOf<P> &vector, Index expected) {
    if (size(vector) != expected) {
      throw InvalidInput("start: " + std::string(name) + " has " + std::to_string(size(vector)) +
                         " entries, the problem expects " + std::to_string(expected));
    }
    if (!all_finite(vector)) {
      throw InvalidInput("start: " + std::string(name) + " holds NaN or infinity, expected finite numbers");
    }
  };
  if constexpr (requires { problem.check_start(state); }) {
    problem.check_start(state);
  }
  require("x", state.x, problem.x_size());
  require("y", state.y, problem.y_size());
  require("v", state.v, problem.y_size());
  if (const std::string outside = box_of(problem).outside_text(state.x); !outside.empty()) {
    throw InvalidInput("start: " + outside);
  }
}

} // namespace duplex
