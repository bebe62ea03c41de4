#pragma once
// What a class lacks to be a problem, as the first error of the compiler: each member that is missing, misspelt or of
// another signature is named with its level and with the signature that is expected. solve() and check() have an
// overload for what is not a problem, which ends here; a program whose problems are complete compiles none of it.

#include <duplex/problem/problem.hpp>
#include <duplex/problem/stochastic.hpp>

#include <concepts>
#include <random>

namespace duplex {

/// A variable, not a part of the concept below: g++ 12 would take the constraints of Drawn<P> and of its Vector, which
/// it meets at once there, for one that depends on itself.
template <class P> inline constexpr bool drawn_is_second_order = SecondOrderProblem<Drawn<P>>;

/// A problem on which methods can run, the same at every step or drawn.
template <class P>
concept SolvableProblem = DeterministicProblem<P> ||(StochasticProblem<P> &&drawn_is_second_order<P>);

/// What a problem would be whose samples may be asked for again: what a method needs besides is known by it.
template <StochasticProblem P> struct DrawnAndRemembered : Drawn<P> { static constexpr bool forgets_samples = false; };

namespace detail {

template <class E, class V>
concept HasAt = requires(E e, const V &point) {
  e.at(point, point);
};
template <class E>
concept HasValue = requires(E e) {
  { e.value() } -> std::convertible_to<double>;
};
template <class E, class V>
concept HasGradY = requires(E e, V &out) {
  e.grad_y(out);
};
template <class E, class V>
concept HasHessYY = requires(E e, const V &v, V &out) {
  e.hess_yy(v, out);
};
template <class E, class V>
concept HasCrossXY = requires(E e, const V &v, V &out) {
  e.cross_xy(v, out);
};

template <class E, class V> constexpr void explain_lower_level() {
  static_assert(std::movable<E>, "the problem's lower() makes an evaluation that cannot be moved and assigned");
  static_assert(HasAt<E, V>, "the problem's lower() lacks at(x, y): expected "
                             "void at(const Vector &x, const Vector &y)");
  static_assert(HasValue<E>, "the problem's lower() lacks value(): expected double value(), the loss f(x, y)");
  static_assert(HasGradY<E, V>, "the problem's lower() lacks grad_y(out): expected void grad_y(Vector &out), "
                                "which writes the gradient of f in y to out");
}

template <class E, class V> constexpr void explain_second_order() {
  static_assert(HasHessYY<E, V>, "the problem's lower() lacks hess_yy(v, out): expected "
                                 "void hess_yy(const Vector &v, Vector &out), "
                                 "which writes the Hessian of f in y times v to out; or, where there are only "
                                 "gradients, grad_x(out) and a method without second derivatives, or "
                                 "duplex::by_differences(problem)");
  static_assert(HasCrossXY<E, V>, "the problem's lower() lacks cross_xy(v, out): expected "
                                  "void cross_xy(const Vector &v, Vector &out), "
                                  "which writes the gradient in x of (grad_y f)'v to out");
}

template <class E, class V> constexpr void explain_upper_level() {
  static_assert(std::movable<E>, "the problem's upper() makes an evaluation that cannot be moved and assigned");
  static_assert(HasAt<E, V>, "the problem's upper() lacks at(x, y): expected "
                             "void at(const Vector &x, const Vector &y)");
  static_assert(HasValue<E>, "the problem's upper() lacks value(): expected double value(), the loss F(x, y)");
  static_assert(OffersGradX<E, V>, "the problem's upper() lacks grad_x(out): expected void grad_x(Vector &out), "
                                   "which writes the gradient of F in x to out");
  static_assert(HasGradY<E, V>, "the problem's upper() lacks grad_y(out): expected void grad_y(Vector &out), "
                                "which writes the gradient of F in y to out");
}

template <class P> constexpr void explain_sizes() {
  static_assert(
      requires(const P &problem) {
        { problem.x_size() } -> std::convertible_to<Index>;
      },
      "the problem lacks x_size(): expected Index x_size() const, the number of entries of x");
  static_assert(
      requires(const P &problem) {
        { problem.y_size() } -> std::convertible_to<Index>;
      },
      "the problem lacks y_size(): expected Index y_size() const, the number of entries of y");
}

/// Tiers 1 and 2 of a problem whose Vector is a vector.
template <class P, bool NeedsSecondOrder> constexpr void explain_levels() {
  using V = VectorOf<P>;
  explain_sizes<P>();
  static_assert(
      requires(const P &problem) { problem.lower(); },
      "the problem lacks lower(): expected Lower lower() const, which makes an evaluation of the lower level");
  static_assert(
      requires(const P &problem) { problem.upper(); },
      "the problem lacks upper(): expected Upper upper() const, which makes an evaluation of the upper level");
  if constexpr (requires(const P &problem) { problem.lower(); }) {
    explain_lower_level<LowerOf<P>, V>();
    if constexpr (NeedsSecondOrder) {
      explain_second_order<LowerOf<P>, V>();
    }
  }
  if constexpr (requires(const P &problem) { problem.upper(); }) {
    explain_upper_level<UpperOf<P>, V>();
  }
}

/// Of a class that says, by a type Draw, that it draws samples.
template <class P> constexpr void explain_draws() {
  using Draw = typename P::Draw;
  explain_sizes<P>();
  static_assert(std::default_initializable<Draw>, "the problem's Draw cannot be made without arguments");
  static_assert(
      requires(const P &problem, std::mt19937_64 &generator, Draw &draw) { problem.draw(generator, draw); },
      "the problem has a type Draw and lacks draw(generator, draw): expected "
      "void draw(std::mt19937_64 &generator, Draw &draw) const");
  static_assert(
      requires(const P &problem, const Draw &draw) { problem.lower(draw); },
      "the problem has a type Draw and lacks lower(draw): expected Lower lower(const Draw &draw) const");
  static_assert(
      requires(const P &problem, const Draw &draw) { problem.upper(draw); },
      "the problem has a type Draw and lacks upper(draw): expected Upper upper(const Draw &draw) const");
}

/// Does not compile where a method without second derivatives lacks a gradient, and says so.
template <class P> constexpr void explain_missing_grad_x() {
  static_assert(OffersGradX<LowerOf<P>, VectorOf<P>>,
                "the problem's lower() lacks grad_x(out): expected void grad_x(Vector &out), which writes the gradient "
                "of f in x to out; a method without second derivatives needs it");
}

/// Does not compile where a method asks for samples again and the problem cannot give them, and says so.
template <class P> constexpr void explain_forgotten_samples() {
  static_assert(
      !Drawn<P>::forgets_samples,
      "the problem draws samples of which this method can ask for none again: expected a finite sum with "
      "Lower lower(const duplex::Batch &batch) const, Upper upper(const duplex::Batch &batch) const, "
      "duplex::Index lower_samples() const and duplex::Index upper_samples() const beside lower() and upper() of the "
      "whole, drawn by duplex::in_batches(problem, 64)");
}

/// Does not compile, and says why.
template <class P, bool NeedsSecondOrder = true> constexpr void explain_incomplete_problem() {
  static_assert(
      requires { typename P::Vector; },
      "the problem lacks Vector: expected the type of x and y, such as using Vector = Eigen::VectorXd");
  if constexpr (requires { typename P::Vector; }) {
    static_assert(VectorSpace<typename P::Vector>,
                  "the problem's Vector is not a vector of duplex/space/space.hpp, such as Eigen::VectorXd");
    if constexpr (StochasticProblem<P>) {
      explain_levels<Drawn<P>, NeedsSecondOrder>();
    } else if constexpr (requires { typename P::Draw; }) {
      explain_draws<P>();
    } else if constexpr (VectorSpace<typename P::Vector>) {
      explain_levels<P, NeedsSecondOrder>();
    }
    if constexpr (!NeedsSecondOrder && StochasticProblem<P>) {
      static_assert(
          !FirstOrderProblem<Drawn<P>>,
          "a problem that draws samples cannot be used here; hold one sample: duplex::Drawn<P>(problem, seed)");
    }
  }
}

} // namespace detail

} // namespace duplex
