#pragma once
// ‖∇φ(x)‖ with how far it may be from the truth. With ε_y, ε_v the errors of y and v, that of d = ∇xF − ∇²xy f·v is at
// most about g_y‖ε_y‖ + g_v‖ε_v‖, where ‖ε‖ ≤ (‖residual‖ + rounding of it)/λ_min. All of these are measured:
//
//   λ_min      by conjugate gradients with a random right-hand side, from which no flat direction hides
//   g_v, g_y   by products and one more solve, along a flat and random directions. A residual may lie along the one
//              direction that d feels: a random u of length one shows ‖C‖_F/√n of a matrix C, so that √n times that
//              bounds ‖C‖. Rounding has no direction, and is felt as a random one is.
//   rounding   by evaluating everything once more where x, y and v differ in their last bits
//
// Where x has bounds, ‖∇φ‖ is that of the free part (box.hpp). It changes by no more than ∇φ does, entry by entry.
//
// Where H is assembled, y and v are solved anew at such points: that shows what rounding really does to d, which is
// often far less than the worst that it could do.

#include <duplex/measure/response.hpp>
#include <duplex/measure/selection.hpp>
#include <duplex/space/last_bits.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <string>

namespace duplex {

/// When a measurement of ∇φ is good enough: where its error is at most either of these.
struct WantedAccuracy {
  double absolute = 0.0;
  double relative = 0.0; ///< of ‖∇φ‖
  bool exactly = false;  ///< with ∇²yy f assembled, whatever that costs, where y is small enough for that
};

struct MeasuredSlope {
  double norm = 0.0;            ///< ‖∇φ(x)‖
  double error = 0.0;           ///< by which it may be wrong
  std::string unavailable = {}; ///< why it does not exist, or could not be had

  bool met_infinity = false; ///< or NaN
  bool is_singular = false;  ///< unavailable because the lower level has many minimizers

  [[nodiscard]] bool known() const { return unavailable.empty(); }
  [[nodiscard]] bool is_finite() const { return !met_infinity && std::isfinite(norm + error); }
};

/// Compiled once for Eigen's vectors.
template <VectorSpace V> class SlopeMeter {
public:
  explicit SlopeMeter(const ProblemView<V> &problem)
      : response_(problem), lower_(problem.lower()), upper_(problem.upper()), box_(problem.box()) {}

  /// At x, with y solved from a guess, and v where there is one of it. The error is what was wanted or, where rounding
  /// forbids that, more.
  [[nodiscard]] MeasuredSlope at(const V &x, const V &guess, const WantedAccuracy &wanted,
                                 const V *guess_of_v = nullptr);

  /// y*, v* and all of ∇φ, of the last measurement that is known.
  [[nodiscard]] const V &y() const { return response_.y(); }
  [[nodiscard]] const V &v() const { return response_.v(); }
  [[nodiscard]] const V &hypergradient() const { return d_; }
  /// Whether y* is that of many lower minimizers which the upper level prefers.
  [[nodiscard]] bool has_chosen() const { return selects_; }
  /// Whether ∇²yy f was seen to be another one at another point.
  [[nodiscard]] bool met_another_hessian() const { return response_.met_another_hessian(); }
  /// Whether f(x, ·) seems convex on the line from one y to another: its slope along it never falls by more than
  /// rounding.
  [[nodiscard]] bool bends_up_between(const V &x, const V &from, const V &to);
  /// Whether the curvatures along the entries of y are so unlike that conjugate gradients would be slow; where H was
  /// assembled.
  [[nodiscard]] bool has_unlike_curvatures() const { return curvatures_are_unlike_; }
  /// Whether y* and v* are as exact as rounding lets them be.
  [[nodiscard]] bool is_exact() const { return is_exact_; }

private:
  static constexpr double safety = 10.0;
  static constexpr double infinite = std::numeric_limits<double>::infinity();

  [[nodiscard]] MeasuredSlope iteratively(const WantedAccuracy &wanted) {
    constexpr double first_fall = 1e-4; // of ∇y f, after which H is about that of y*
    constexpr double first_accuracy = 1e-3;
    constexpr double share = 0.2; // of the error that is wanted, for each of the two residuals
    constexpr int most_rounds = 3;
    response_.minimize(first_fall * response_.lower_residual());
    const LinearStatus kind = response_.hessian().explore();
    if (response_.hessian().is_direct()) {
      return directly(wanted);
    }
    Response<V>::require(kind);
    flattest_ = response_.hessian().curvatures().smallest;
    assign(response_.hessian().flat_direction(), flat_);
    response_.solve_multiplier(0.0, first_accuracy);
    response_.direction(d_);
    measure_gains();
    MeasuredSlope slope;
    for (int round = 0; round < most_rounds; ++round) {
      const double goal = share / safety * flattest_ * std::max(wanted.absolute, wanted.relative * free_slope());
      response_.minimize(y_gain_.most > 0.0 ? goal / y_gain_.most : infinite);
      response_.solve_multiplier(v_gain_.most > 0.0 ? goal / v_gain_.most : infinite);
      response_.direction(d_);
      const double rounding = rounding_error();
      slope = {.norm = free_slope(), .error = rounding + residual_error()};
      if (box_.leaves_nothing_free(*x_, d_, slope.error)) {
        return {};
      }
      const double allowed = std::max(wanted.absolute, wanted.relative * slope.norm);
      if (slope.error <= allowed) {
        return slope;
      }
      if (!(rounding <= allowed)) {
        break;
      }
    }
    return response_.hessian().make_direct() ? directly(wanted) : slope;
  }

  /// With H assembled, as exactly as rounding lets.
  [[nodiscard]] MeasuredSlope directly(const WantedAccuracy &wanted) {
    is_exact_ = true;
    response_.assemble();
    response_.minimize(0.0);
    const LinearStatus kind = response_.hessian().explore();
    selects_ = EigenVector<V> && kind == LinearStatus::singular;
    if (selects_) {
      select();
    } else {
      Response<V>::require(kind);
    }
    if constexpr (EigenVector<V>) {
      constexpr double unlike = 1e4;
      const V &sizes = response_.hessian().sizes();
      curvatures_are_unlike_ = sizes.maxCoeff() > unlike * sizes.minCoeff();
    }
    response_.solve_multiplier(0.0);
    response_.direction(d_);
    const double length = free_slope();
    return {.norm = length, .error = error_of_samples(std::max(wanted.absolute, wanted.relative * length))};
  }

  /// By how much d may be wrong, from how much it changes where everything is solved anew with other last bits: three
  /// samples say enough where even a hundred times their change is allowed, otherwise ten times that of eight.
  [[nodiscard]] double error_of_samples(double allowed) {
    constexpr int some = 3;
    constexpr int enough = 8;
    constexpr double of_some = 100.0;
    constexpr double of_enough = 10.0;
    SplitMix64 generator(7);
    double largest = 0.0;
    for (int i = 1; i <= enough; ++i) {
      solve_anew(generator);
      box_.keep_free(*x_, d_moved_);
      const double change = distance(d_moved_, box_.exists() ? free_ : d_, cross_);
      largest = std::isfinite(change) ? std::max(largest, change) : infinite;
      if (i == some && allowed > 0.0 && of_some * largest <= allowed) {
        return std::max(of_some * largest, 0.1 * allowed); // less may be luck
      }
    }
    return of_enough * largest;
  }

  /// Of a lower level with many minimizers, that which the upper level prefers.
  void select() {
    if constexpr (EigenVector<V>) {
      constexpr int most_steps = 50;
      constexpr double of_noise = 16.0;
      double before = infinite;
      for (int n = 0; n < most_steps; ++n) {
        selection_.begin(response_);
        upper_.at(*x_, response_.y());
        upper_.grad_y(residual_);
        const double left = selection_.part_in_null_space(residual_);
        SplitMix64 generator(9);
        move_last_bits_of_x(generator);
        change_last_bits(response_.y(), generator, y_moved_);
        upper_.at(x_moved_, y_moved_);
        upper_.grad_y(v_moved_);
        if (left <= of_noise * distance(v_moved_, residual_, step_)) {
          return;
        }
        if (!(left < 0.5 * before)) {
          break;
        }
        before = left;
        selection_.step(residual_, step_);
        response_.move(step_);
        response_.minimize(0.0);
        if (response_.hessian().explore() != LinearStatus::singular) {
          break;
        }
      }
      throw SingularLowerLevel(
          "the lower Hessian is singular, and Newton's method does not find which of its minimizers F "
          "prefers");
    }
  }

  /// d_moved_ = ∇φ where x, y and v begin from other last bits, with H⁻¹ as it is.
  void solve_anew(SplitMix64 &generator) {
    move_last_bits_of_x(generator);
    change_last_bits(response_.y(), generator, y_moved_);
    change_last_bits(response_.v(), generator, v_moved_);
    lower_.at(x_moved_, y_moved_);
    lower_.grad_y(residual_);
    response_.hessian().invert(residual_, step_);
    axpy(-1.0, step_, y_moved_);
    if constexpr (EigenVector<V>) {
      if (selects_) {
        upper_.at(x_moved_, y_moved_);
        upper_.grad_y(residual_);
        selection_.step(residual_, step_);
        axpy(1.0, step_, y_moved_);
      }
    }
    round_anew(generator, y_moved_);
    stand(x_moved_, y_moved_);
    measure_multiplier(v_moved_);
    response_.hessian().invert(residual_, step_);
    axpy(1.0, step_, v_moved_);
    round_anew(generator, v_moved_);
    implicit_direction(lower_, upper_, v_moved_, d_moved_, cross_);
  }

  /// x_moved_ = x with other last bits, in the box.
  void move_last_bits_of_x(SplitMix64 &generator) {
    change_last_bits(*x_, generator, x_moved_);
    box_.project(x_moved_);
  }

  /// ‖∇φ‖ of the free part, which is in free_ where there are bounds.
  [[nodiscard]] double free_slope() { return box_.free_norm(*x_, d_, free_); }

  /// No y and no v is exact in its last bit, even where a solve finds the same ones again.
  void round_anew(SplitMix64 &generator, V &vector) {
    assign(vector, step_);
    change_last_bits(step_, generator, vector, 1);
  }

  void stand(const V &x, const V &y) {
    lower_.at(x, y);
    upper_.at(x, y);
  }

  /// residual_ = ∇yF − ∇²yy f·v where the two levels stand.
  void measure_multiplier(const V &v) {
    lower_.hess_yy(v, step_);
    upper_.grad_y(residual_);
    axpy(-1.0, step_, residual_);
  }

  /// How much d feels an error of v, and of y with v following it.
  void measure_gains() {
    constexpr double some_accuracy = 0.1;
    constexpr int random_directions = 3; // to which a matrix of rank one can hardly be blind
    const V &y = response_.y();
    const double spread = std::sqrt(static_cast<double>(size(y)));
    stand(*x_, y);
    const auto gain_along = [&](const V &u) {
      const double length = norm(u);
      if (!(length > 0.0)) {
        return 0.0;
      }
      lower_.cross_xy(u, cross_);
      return norm(cross_) / length;
    };
    v_gain_.usual = std::max(gain_along(flat_), gain_along(response_.v()));
    v_gain_.most = v_gain_.usual;
    std::mt19937_64 generator(6);
    for (int i = 0; i < random_directions; ++i) {
      fill_normal(generator, random_);
      scale(1.0 / norm(random_), random_);
      const double gain = gain_along(random_);
      v_gain_.usual = std::max(v_gain_.usual, gain);
      v_gain_.most = std::max(v_gain_.most, spread * gain);
    }
    measure_multiplier(response_.v());
    assign(residual_, v_moved_);
    const double length = norm(y);
    const double move = std::sqrt(precision(y)) * (length > 0.0 ? length : 1.0);
    assign(y, y_moved_);
    axpy(move, flat_, y_moved_);
    axpy(move, random_, y_moved_);
    stand(*x_, y_moved_);
    measure_multiplier(response_.v());
    axpy(-1.0, v_moved_, residual_); // the change of the residual
    Response<V>::require(response_.hessian().solve(residual_, v_moved_, some_accuracy));
    axpy(1.0, response_.v(), v_moved_);
    implicit_direction(lower_, upper_, v_moved_, d_moved_, cross_);
    y_gain_.usual = distance(d_moved_, d_, cross_) / move;
    y_gain_.most = spread * y_gain_.usual;
  }

  [[nodiscard]] double residual_error() const {
    return safety * (y_gain_.most * response_.lower_residual() + v_gain_.most * response_.multiplier_residual()) /
           flattest_;
  }

  [[nodiscard]] double rounding_error() {
    stand(*x_, response_.y());
    measure_multiplier(response_.v());
    assign(residual_, flat_); // which has served
    SplitMix64 generator(8);
    move_last_bits_of_x(generator);
    change_last_bits(response_.y(), generator, y_moved_);
    change_last_bits(response_.v(), generator, v_moved_);
    stand(x_moved_, y_moved_);
    measure_multiplier(v_moved_);
    const double of_multiplier = distance(residual_, flat_, step_);
    implicit_direction(lower_, upper_, v_moved_, d_moved_, cross_);
    const double of_direction = distance(d_moved_, d_, cross_);
    return safety *
           ((y_gain_.usual * response_.gradient_noise() + v_gain_.usual * of_multiplier) / flattest_ + of_direction);
  }

  Response<V> response_;
  AnyLower<V> lower_; ///< for points beside that of the response
  AnyUpper<V> upper_;
  Box<V> box_;
  template <class W> using SelectionOf = Selection<W>; // Selection itself takes Eigen's vectors alone
  OnlyForEigen<V, SelectionOf> selection_;
  bool selects_ = false;  ///< the lower level has many minimizers
  bool is_exact_ = false; ///< H was assembled
  bool curvatures_are_unlike_ = false;
  const V *x_ = nullptr;
  double flattest_ = 0.0; ///< λ_min
  struct Gain {
    double usual = 0.0; ///< along random and flat directions
    double most = 0.0;  ///< along any
  };
  Gain y_gain_;
  Gain v_gain_;
  V d_;
  V d_moved_;
  V x_moved_;
  V free_;
  V cross_;
  V y_moved_;
  V v_moved_;
  V flat_;
  V random_;
  V residual_;
  V step_;
};

// Outside of the class, where it would be inline, and be compiled by every program that calls it.
template <VectorSpace V>
MeasuredSlope SlopeMeter<V>::at(const V &x, const V &guess, const WantedAccuracy &wanted, const V *guess_of_v) {
  if (size(d_) != size(x) || size(y_moved_) != size(guess)) {
    d_ = d_moved_ = x_moved_ = free_ = cross_ = zeros_like(x);
    y_moved_ = v_moved_ = flat_ = random_ = residual_ = step_ = zeros_like(guess);
  }
  x_ = &x;
  selects_ = is_exact_ = curvatures_are_unlike_ = false;
  try {
    response_.begin(x, guess, wanted.exactly, guess_of_v);
    const Index directly_up_to = wanted.exactly ? HessianSolver<V>::direct_limit : HessianSolver<V>::always_direct;
    return size(guess) <= directly_up_to ? directly(wanted) : iteratively(wanted);
  } catch (const NotFinite &reason) {
    return {.unavailable = reason.what(), .met_infinity = true};
  } catch (const SingularLowerLevel &reason) {
    return {.unavailable = reason.what(), .is_singular = true};
  } catch (const NotAvailable &reason) {
    return {.unavailable = reason.what()};
  }
}

template <VectorSpace V> bool SlopeMeter<V>::bends_up_between(const V &x, const V &from, const V &to) {
  constexpr int parts = 8;
  constexpr double roundings = 100.0;
  assign(to, step_);
  axpy(-1.0, from, step_);
  double before = -infinite;
  for (int i = 0; i <= parts; ++i) {
    assign(from, y_moved_);
    axpy(static_cast<double>(i) / parts, step_, y_moved_);
    lower_.at(x, y_moved_);
    lower_.grad_y(residual_);
    const double slope = dot(residual_, step_);
    if (!(slope >= before - roundings * precision(step_) * norm(residual_) * norm(step_))) {
      return false;
    }
    before = slope;
  }
  return true;
}

extern template class SlopeMeter<Eigen::VectorXf>;
extern template class SlopeMeter<Eigen::VectorXd>;

} // namespace duplex
