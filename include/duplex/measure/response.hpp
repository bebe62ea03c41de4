#pragma once
// The lower level's answer to an x, y*(x), and its multiplier v*(x): what exact solves and verifications have in
// common. Newton's method with plain conjugate gradients or factors; it shares nothing with any method.

#include <duplex/core/error.hpp>
#include <duplex/core/fields.hpp>
#include <duplex/core/random.hpp>
#include <duplex/numerics/hessian_solver.hpp>
#include <duplex/numerics/line_search.hpp>
#include <duplex/problem/problem_view.hpp>
#include <duplex/space/last_bits.hpp>
#include <duplex/space/underflow.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>

namespace duplex {

/// A gradient or a product met NaN or infinity.
class NotFinite : public NotAvailable {
public:
  using NotAvailable::NotAvailable;
};

/// The lower level has many minimizers, and which of them counts is not decided.
class SingularLowerLevel : public NotAvailable {
public:
  using NotAvailable::NotAvailable;
};

/// ∇y f does not vanish where f has no curvature.
class NoLowerMinimizer : public NotAvailable {
public:
  using NotAvailable::NotAvailable;
};

/// Compiled once for Eigen's vectors. Member functions throw NotAvailable where what they look for does not exist.
template <VectorSpace V> class Response {
public:
  explicit Response(const ProblemView<V> &problem)
      : problem_(problem), lower_(problem_.lower()), upper_(problem_.upper()), box_(problem_.box()),
        hessian_([this](const V &in, V &out) { lower_.hess_yy(in, out); }) {}
  Response(const Response &) = delete; // its parts point to it
  Response &operator=(const Response &) = delete;
  ~Response() = default;

  /// From now on of this x, which must stay alive, with y from a guess, and v where there is one of it. `exactly`: H is
  /// assembled where y is small.
  void begin(const V &x, const V &guess, bool exactly, const V *guess_of_v = nullptr) {
    if (size(y_) != size(guess) || size(x_scratch_) != size(x)) {
      y_ = v_ = gradient_ = slope_ = step_ = trial_ = trial_gradient_ = zeros_like(guess);
      x_moved_ = x_scratch_ = zeros_like(x);
    }
    x_ = &x;
    exactly_ = exactly;
    assign(guess, y_);
    v_is_zero_ = guess_of_v == nullptr || size(*guess_of_v) != size(v_) || !all_finite(*guess_of_v);
    if (v_is_zero_) {
      set_zero(v_);
    } else {
      assign(*guess_of_v, v_);
    }
    stand_at_y();
    lower_.grad_y(gradient_);
    length_ = norm(gradient_);
    if (!std::isfinite(length_)) {
      throw NotFinite("∇y f is not finite where the lower level's solve is to begin");
    }
  }

  /// From now on with H assembled, where y is small.
  void assemble() {
    exactly_ = true;
    (void)hessian().make_direct();
  }

  /// y by damped Newton steps until ‖∇y f‖ is at most `target`, or until rounding stops it from falling. Where
  /// something else does, y is no minimizer, and nothing is claimed of it. Where H is indefinite on the way, f falls
  /// along |H|⁻¹∇y f; whether it is positive definite at the end is for the caller to see.
  void minimize(double target) {
    constexpr int most_rounds = 4;
    bool moved = true;
    for (int round = 0; round < most_rounds && moved; ++round) {
      minimize_norm(target);
      moved = false;
      if constexpr (EigenVector<V>) {
        moved = exactly_ && hessian().is_direct() && minimize_entries();
      }
    }
  }

  /// y ← y + step.
  void move(const V &step) {
    axpy(1.0, step, y_);
    stand_at_y();
    lower_.grad_y(gradient_);
    length_ = norm(gradient_);
  }

  /// v from what it is until ‖∇yF − ∇²yy f·v‖ is at most `target`, or `relative` to ‖∇yF‖, or as small as rounding lets
  /// it be.
  void solve_multiplier(double target, double relative = 0.0) {
    constexpr int most_rounds = 6;
    upper_.at(*x_, y_);
    upper_.grad_y(slope_);
    if (underflows(slope_, 0.1)) {
      throw NotAvailable("∇yF is so small that its square underflows: give F larger units");
    }
    target = std::max(target, relative * norm(slope_));
    double before = std::numeric_limits<double>::infinity();
    for (int round = 0;; ++round) {
      measure_multiplier(round == 0);
      if (!std::isfinite(multiplier_length_)) {
        require(LinearStatus::not_finite);
      }
      if (round == most_rounds || multiplier_length_ <= target || !(multiplier_length_ < 0.5 * before)) {
        return;
      }
      before = multiplier_length_;
      require(hessian().solve(trial_, step_, tolerance_for(target, multiplier_length_)));
      axpy(1.0, step_, v_);
      v_is_zero_ = false;
    }
  }

  /// d = ∇xF − ∇²xy f·v.
  void direction(V &d) {
    upper_.at(*x_, y_);
    implicit_direction(lower_, upper_, v_, d, x_scratch_);
  }

  /// What rounding alone leaves in ∇y f: how much it changes where x and y change in their last bits.
  [[nodiscard]] double gradient_noise() {
    SplitMix64 generator(4);
    move_last_bits(generator);
    axpy(-1.0, gradient_, trial_gradient_);
    lower_.at(*x_, y_); // where it stood before, with the same H
    return norm(trial_gradient_);
  }

  [[nodiscard]] const V &x() const { return *x_; }
  [[nodiscard]] const V &y() const { return y_; }
  [[nodiscard]] const V &v() const { return v_; }
  /// ‖∇y f‖.
  [[nodiscard]] double lower_residual() const { return length_; }
  /// ‖∇yF − ∇²yy f·v‖ and ∇yF after the last solve_multiplier().
  [[nodiscard]] double multiplier_residual() const { return multiplier_length_; }
  [[nodiscard]] const V &upper_slope() const { return slope_; }
  /// Of ∇²yy f at y.
  [[nodiscard]] HessianSolver<V> &hessian() {
    if (!std::exchange(hessian_is_begun_, true)) {
      hessian_.begin(y_, exactly_);
    }
    return hessian_;
  }
  /// Whether H was ever seen to be another one than it had been.
  [[nodiscard]] bool met_another_hessian() const { return hessian_.has_changed(); }
  [[nodiscard]] AnyLower<V> &lower() { return lower_; }
  [[nodiscard]] AnyUpper<V> &upper() { return upper_; }
  [[nodiscard]] const ProblemView<V> &problem() const { return problem_; }
  /// Where x may be.
  [[nodiscard]] const Box<V> &box() const { return box_; }

  static void require(LinearStatus status) {
    switch (status) {
    case LinearStatus::converged:
      return;
    case LinearStatus::not_finite:
      throw NotFinite("the lower level's gradient or a product with its Hessian is not finite");
    case LinearStatus::step_limit:
      throw NotAvailable("conjugate gradients on the lower Hessian do not end: it is too badly conditioned for this "
                         "precision");
    case LinearStatus::singular:
      throw SingularLowerLevel("the lower Hessian is singular, so y*(x) and ∇φ(x) are not defined");
    default:
      throw NotAvailable("the lower Hessian is " + std::string(name_of(status)) +
                         ", so y*(x) and ∇φ(x) are not defined");
    }
  }

private:
  static constexpr int most_attempts = 40; // of a line search
  static constexpr double of_noise = 16.0; ///< what may be left of a gradient that is zero but for rounding
  static constexpr double all_but_noise = 1e3;
  // Newton's step leaves about half of what H changes along it, as a part of ∇y f. Where that is little the factors
  // of H serve for the next step too, whose solve is refined against products at y.
  static constexpr double little_change_of_h = 0.05;

  void minimize_norm(double target) {
    constexpr int most_steps = 200;
    constexpr int most_without_curvature = 40;
    int without_curvature = 0;
    const auto goes_on_by_value = [&](bool along_null_space) {
      return without_curvature++ < most_without_curvature && leave_flat_region(along_null_space);
    };
    auto status = LinearStatus::converged;
    for (int n = 0; n < most_steps && length_ > target; ++n) {
      status = hessian().solve(gradient_, step_, tolerance_for(target, length_));
      if (status == LinearStatus::indefinite && hessian_.is_direct()) {
        hessian_.invert(gradient_, step_);
        if (!lower_value()) {
          require(status);
        }
        continue;
      }
      require(status);
      if (hessian_.outside() > 0.0 && hessian_.outside() > of_noise * gradient_noise()) {
        if (goes_on_by_value(true)) {
          continue;
        }
        throw NoLowerMinimizer(
            "the lower Hessian is singular or all but singular: ∇y f does not vanish where f has no curvature "
            "that could be told from rounding, and f(x, ·) has no minimizer, or none that can be found at this "
            "precision");
      }
      if (descend()) {
        continue;
      }
      const double noise = gradient_noise();
      if (length_ <= of_noise * noise) {
        break;
      }
      if (!factors_are_old_ && !(length_ > all_but_noise * noise && goes_on_by_value(false))) {
        break;
      }
      begin_hessian_anew();
    }
    if (factors_are_old_) { // what H is must be said of H at y, also along what no step has shown
      begin_hessian_anew();
    }
    if (!std::isfinite(lower_.value())) {
      throw NotFinite("f is not finite where ∇y f is to vanish: y has left its domain");
    }
    if (!(length_ > target)) {
      return;
    }
    require(status); // f may fall for ever where it is not convex
    const double noise = gradient_noise();
    if (!std::isfinite(noise)) {
      throw NotFinite("∇y f is not finite beside where it was");
    }
    if (length_ > all_but_noise * noise) {
      throw NotAvailable("Newton's method ended with ‖∇y f‖ = " + field_text(length_) +
                         "; is the lower level smooth and strongly convex in y?");
    }
  }

  /// Goes on until every entry of ∇y f is what rounding leaves of it, and says whether it has moved y. Where curvatures
  /// are very different, rounding in the large entries hides from the norm what is left of the small ones, along which
  /// y may be far from y*(x).
  [[nodiscard]] bool minimize_entries() requires EigenVector<V> {
    constexpr int most_steps = 100;
    constexpr double of_noise_of_entry = 100.0;
    const double seen_by_the_norm = std::max(1e-6, std::sqrt(precision(y_)));
    const auto differ = [&] {
      const V &sizes = hessian().sizes();
      return static_cast<double>(sizes.minCoeff()) * seen_by_the_norm <
             precision(y_) * static_cast<double>(sizes.maxCoeff());
    };
    const double largest = static_cast<double>(hessian().sizes().maxCoeff());
    if (!(largest > 0.0)) { // H is no scale for anything; what it is is told where it is explored
      return false;
    }
    constexpr double smallest_number = std::numeric_limits<typename V::Scalar>::min();
    if (precision(y_) * largest < std::sqrt(smallest_number)) {
      throw NotAvailable("∇²yy f is so small that the square of ∇y f underflows: give f larger units");
    }
    bool moved = false;
    for (int n = 0; n < most_steps && differ(); ++n) {
      measure_noise_of_entries();
      const double before = largest_beside_noise(gradient_);
      if (!std::isfinite(before)) {
        throw NotFinite("∇y f is not finite beside where it was");
      }
      if (before <= of_noise_of_entry) {
        return moved;
      }
      require(hessian().solve(gradient_, step_, precision(y_)));
      const double found = backtrack(most_attempts, [&](double t) {
        try_step(t);
        const double reached = std::isfinite(lower_.value()) ? largest_beside_noise(trial_gradient_) : infinity;
        return judged(before, reached, -t * before);
      });
      if (found == 0.0) {
        break;
      }
      std::swap(y_, trial_);
      std::swap(gradient_, trial_gradient_);
      length_ = norm(gradient_);
      stand_at_y();
      moved = true;
    }
    if (!differ()) {
      return moved;
    }
    lower_.at(*x_, y_);
    throw NotAvailable("the lower Hessian has curvatures that are too different: ∇y f vanishes in its norm, and one of "
                       "its entries does not; give f a weight on that entry of y that is nearer to the others'");
  }

  /// noise_ = how much each entry of ∇y f changes where x and y change in their last bits.
  void measure_noise_of_entries() requires EigenVector<V> {
    constexpr int samples = 3;
    SplitMix64 generator(4);
    const auto curvatures = hessian().sizes().template cast<double>().array();
    noise_ = (precision(y_) *
              (curvatures * y_.template cast<double>().array().abs() + gradient_.template cast<double>().array().abs()))
                 .template cast<typename V::Scalar>();
    for (int i = 0; i < samples; ++i) {
      move_last_bits(generator);
      noise_ = noise_.cwiseMax((trial_gradient_ - gradient_).cwiseAbs());
    }
    lower_.at(*x_, y_);
  }
  /// trial_gradient_ = ∇y f where x and y have other last bits.
  void move_last_bits(SplitMix64 &generator) {
    change_last_bits(*x_, generator, x_moved_);
    box_.project(x_moved_);
    change_last_bits(y_, generator, trial_);
    lower_.at(x_moved_, trial_);
    lower_.grad_y(trial_gradient_);
  }
  [[nodiscard]] double largest_beside_noise(const V &gradient) const requires EigenVector<V> {
    double largest = 0.0;
    for (Index i = 0; i < gradient.size(); ++i) {
      const double entry = std::abs(static_cast<double>(gradient[i]));
      const auto noise = static_cast<double>(noise_[i]);
      if (!std::isfinite(entry) || !std::isfinite(noise)) {
        return infinity;
      }
      largest = std::max(largest, entry / std::max(noise, std::numeric_limits<double>::denorm_min()));
    }
    return std::min(largest, std::numeric_limits<double>::max());
  }

  /// A solve that is followed by another one need not be exact.
  [[nodiscard]] double tolerance_for(double target, double length) const {
    constexpr double rough = 1e-2;
    return exactly_ ? precision(y_) : std::clamp(0.5 * target / length, precision(y_), rough);
  }

  /// trial_ = ∇yF − ∇²yy f·v, with v = 0 where that is nearer to the truth than what was guessed.
  void measure_multiplier(bool is_a_guess) {
    if (!v_is_zero_) {
      lower_.hess_yy(v_, trial_);
      scale(-1.0, trial_);
      axpy(1.0, slope_, trial_);
      multiplier_length_ = norm(trial_);
      if (!is_a_guess || multiplier_length_ <= norm(slope_)) {
        return;
      }
      set_zero(v_);
      v_is_zero_ = true;
    }
    assign(slope_, trial_);
    multiplier_length_ = norm(trial_);
  }

  void stand_at_y() {
    lower_.at(*x_, y_);
    begin_hessian_anew();
  }
  void begin_hessian_anew() {
    hessian_is_begun_ = false;
    factors_are_old_ = false;
  }

  /// After a whole step of Newton's that has left `part` of ∇y f.
  void stand_at_y_after(double part) {
    const bool keeps =
        hessian_.is_direct() && part <= little_change_of_h && hessian_.explore() == LinearStatus::converged;
    stand_at_y();
    hessian_is_begun_ = factors_are_old_ = keeps;
  }

  /// ∇y f at trial_ = y − t·step.
  void try_step(double t) {
    assign(y_, trial_);
    axpy(-t, step_, trial_);
    lower_.at(*x_, trial_);
    lower_.grad_y(trial_gradient_);
  }

  /// Moves y to y − t·step with the first t = 1, ½, ¼, … that lowers ‖∇y f‖ and does not raise f; false where none
  /// does. Where f is all but linear, as far out log cosh is, a step beyond its minimizer may have a gradient that is
  /// shorter by other entries, and no curvature to come back by.
  [[nodiscard]] bool descend() {
    constexpr double roundings = 1e3; // of f, which many terms may sum up to
    const double before = lower_.value();
    const double highest = before + roundings * precision(y_) * std::abs(before);
    double reached = 0.0;
    const double found = backtrack(most_attempts, [&](double t) {
      try_step(t);
      reached = norm(trial_gradient_);
      // Beyond the domain of f ∇y f may be finite, and vanish: the slope of a log barrier has another zero there.
      const double there = lower_.value();
      if (!std::isfinite(there)) {
        return TrialStep::outside;
      }
      // The slope of ‖∇y f‖ along the step is −‖∇y f‖.
      if (falls_enough(length_, reached, -t * length_) && !(overshoots() && there > highest)) {
        return TrialStep::accepted;
      }
      const bool at_rest = t == 1.0 && length_ <= of_noise * gradient_noise();
      return at_rest ? TrialStep::hopeless : TrialStep::rejected;
    });
    if (found == 0.0) {
      lower_.at(*x_, y_); // where it stood before, with the same H
      return false;
    }
    std::swap(y_, trial_);
    std::swap(gradient_, trial_gradient_);
    const double part = found == 1.0 ? reached / length_ : 1.0;
    length_ = reached;
    stand_at_y_after(part);
    return true;
  }

  /// Whether f rises along the step where the trial is: then it lies beyond a minimum.
  [[nodiscard]] bool overshoots() const {
    constexpr double clearly = 0.1; // of the slope before: what is less may be rounding
    return dot(trial_gradient_, step_) < -clearly * dot(gradient_, step_);
  }

  /// Where f is all but linear, as far out log cosh is, curvatures tell no length of a step. y goes against ∇y f, or
  /// what of it meets no curvature, by a length like its own or the first half, quarter, … of that which lowers f.
  [[nodiscard]] bool leave_flat_region(bool along_null_space) {
    assign(gradient_, step_);
    if constexpr (EigenVector<V>) {
      if (along_null_space) {
        step_ = hessian_.null_space() * (hessian_.null_space().transpose() * gradient_);
      }
    }
    scale((1.0 + norm(y_)) / norm(step_), step_);
    return lower_value();
  }

  /// Moves y to y − t·step with the first t = 1, ½, ¼, … that lowers f; false where none does.
  [[nodiscard]] bool lower_value() {
    const double before = lower_.value();
    const double slope = -dot(gradient_, step_);
    const double found = backtrack(most_attempts, [&](double t) {
      assign(y_, trial_);
      axpy(-t, step_, trial_);
      lower_.at(*x_, trial_);
      return judged(before, lower_.value(), t * slope);
    });
    if (found == 0.0) {
      lower_.at(*x_, y_);
      return false;
    }
    std::swap(y_, trial_);
    stand_at_y();
    lower_.grad_y(gradient_);
    length_ = norm(gradient_);
    return std::isfinite(length_);
  }

  ProblemView<V> problem_;
  AnyLower<V> lower_;
  AnyUpper<V> upper_;
  Box<V> box_;
  HessianSolver<V> hessian_;
  const V *x_ = nullptr;
  bool exactly_ = false;
  bool hessian_is_begun_ = false; ///< for y as it is, or as it was little before
  bool factors_are_old_ = false;  ///< of a y before
  bool v_is_zero_ = true;
  V y_;
  V v_;
  V gradient_; ///< ∇y f
  V slope_;    ///< ∇yF
  V step_;
  V trial_;
  V trial_gradient_;
  V noise_; ///< of each entry of ∇y f
  V x_moved_;
  V x_scratch_;
  double length_ = 0.0; ///< ‖∇y f‖
  double multiplier_length_ = 0.0;
};

extern template class Response<Eigen::VectorXf>;
extern template class Response<Eigen::VectorXd>;

} // namespace duplex
