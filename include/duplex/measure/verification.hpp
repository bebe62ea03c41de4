#pragma once
// The one rule by which a run may say that it has succeeded: ‖∇φ(x)‖ ≤ tolerance · ‖∇φ(x₀)‖, with x₀ where the run was
// started, both measured by a solve that shares nothing with the run but guesses of y and v, whose residuals are
// computed anew, and with what rounding may do to them on the safe side. What cannot be shown so is not verified. Where
// x has bounds, both are of the free part (box.hpp): at a corner of the box where ∇φ points outward beyond its error,
// the claim holds with ‖∇φ‖ = 0, also where the run was started there.

#include <duplex/core/text.hpp>
#include <duplex/measure/measured_slope.hpp>
#include <duplex/problem/lower_units.hpp>
#include <duplex/problem/problem.hpp>
#include <duplex/space/archive.hpp>
#include <duplex/space/underflow.hpp>

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <string>

namespace duplex {

struct Verdict {
  double tolerance = 0.0;
  MeasuredSlope first; ///< ‖∇φ(x₀)‖
  MeasuredSlope slope; ///< ‖∇φ(x)‖

  /// What ‖∇φ(x)‖ may be at most.
  [[nodiscard]] double goal() const { return tolerance * std::max(0.0, first.norm - first.error); }
  [[nodiscard]] bool known() const { return first.known() && slope.known(); }
  [[nodiscard]] bool holds() const { return known() && slope.norm + slope.error <= goal(); }
  /// Whether rounding hides what is asked for: ‖∇φ(x)‖ may be small enough, and the error is too large to tell.
  [[nodiscard]] bool hidden_by_rounding() const {
    return known() && !holds() && slope.error > 0.5 * goal() && !(slope.norm - slope.error > goal());
  }
  /// What was measured and, where it does not hold, why.
  [[nodiscard]] std::string text() const;
};

/// Of one run.
template <VectorSpace V> class Verification {
public:
  Verification(const ProblemView<V> &problem, const State<V> &start)
      : units_(problem), meter_(units_.view()), x_(zeros_like(start.x)), y_(zeros_like(start.y)),
        first_y_(zeros_like(start.y)) {
    assign(start.x, x_);
    assign(start.y, y_);
  }

  /// Whether ‖∇φ(x₀)‖ costs no more than a few solves with factors, and is still to be measured.
  [[nodiscard]] bool first_is_cheap() const { return !knows_first_ && is_cheap(); }
  /// What was measured before the run was saved, once more, for what it shows of the lower Hessian.
  void measure_first_again() {
    if (knows_first_ && is_cheap()) {
      (void)measured_at_start(y_);
    }
  }

  /// ‖∇φ(x₀)‖, measured when it is first asked for.
  [[nodiscard]] const MeasuredSlope &first() {
    if (!knows_first_) {
      measure_first_from(y_);
      knows_first_ = true;
    }
    return verdict_.first;
  }

  /// The same, with y from another guess where that of the start leads nowhere: f may have several minimizers, and the
  /// run's y lead to the one that it follows.
  const MeasuredSlope &first_or_from(const V &guess) {
    if (!first().known()) {
      measure_first_from(guess);
    }
    return verdict_.first;
  }

  /// Whether the last verification, of before where a run goes on, holds for another tolerance too.
  [[nodiscard]] bool holds_for(double tolerance) {
    verdict_.tolerance = tolerance;
    return knows_first_ && verdict_.holds();
  }

  /// Of where a run is, with its y for a guess.
  const Verdict &verify(const State<V> &at, double tolerance) {
    verdict_.tolerance = tolerance;
    verdict_.slope = {};
    if (first_or_from(at.y).known()) {
      measure_slope(at);
      if (verdict_.holds() && is_curved_ && finds_another_first(at.y)) {
        measure_slope(at); // beside the other one
      }
    }
    return verdict_;
  }
  [[nodiscard]] const Verdict &verdict() const { return verdict_; }

  void go_back_to_start(State<V> &state) const {
    assign(x_, state.x);
    assign(y_, state.y);
    set_zero(state.v);
  }

  /// With y*, v* and ∇φ of the last verification, y and v in the units of LowerUnits.
  [[nodiscard]] const SlopeMeter<V> &meter() const { return meter_; }

  template <class Archive> void archive(Archive &members) {
    members("x", x_);
    members("y", y_);
    // What could not be had is measured again where it is asked for again.
    bool knows_first = knows_first_ && verdict_.first.known();
    bool knows_slope = verdict_.slope.known();
    members("knows first", knows_first);
    members("first norm", verdict_.first.norm);
    members("first error", verdict_.first.error);
    members("first y", first_y_);
    members("curved", is_curved_);
    members("knows slope", knows_slope);
    members("norm", verdict_.slope.norm);
    members("error", verdict_.slope.error);
    if constexpr (!std::same_as<Archive, StateWriter>) {
      knows_first_ = knows_first;
      verdict_.slope.unavailable = knows_slope ? "" : "it was not when the run was saved";
    }
  }

private:
  static constexpr double accuracy_of_first = 0.01;

  [[nodiscard]] bool is_cheap() const { return EigenVector<V> && size(y_) <= HessianSolver<V>::always_direct; }

  void measure_first_from(const V &guess) {
    verdict_.first = measured_at_start(guess);
    if (verdict_.first.known()) {
      assign(meter_.y(), first_y_);
    }
  }

  void measure_slope(const State<V> &at) {
    constexpr double share = 0.05; // of the goal that the error may be
    constexpr double accuracy = 0.02;
    verdict_.slope = measured(at.x, at.y, {.absolute = share * verdict_.goal(), .relative = accuracy}, &at.v);
  }

  /// Where f(x₀, ·) has several minimizers the run may have followed another one than that which the start's y leads
  /// to, and which has a ∇φ(x₀) of its own: the smaller one counts. True where another one was looked for. f(x₀, ·) is
  /// asked whether it bends down on the way to the run's y.
  [[nodiscard]] bool finds_another_first(const V &guess) {
    V y = guess;
    units_.enter(y);
    if (meter_.bends_up_between(x_, first_y_, y)) {
      return false;
    }
    const auto other = measured_at_start(guess);
    const bool is_smaller = other.known() && other.norm - other.error < verdict_.first.norm - verdict_.first.error;
    if (is_smaller) {
      verdict_.first = other;
      assign(meter_.y(), first_y_);
    }
    return true;
  }

  /// With y from a guess. Where it is not zero and yet so small that the square of what is asked for would be none,
  /// there is nothing to measure beside.
  [[nodiscard]] MeasuredSlope measured_at_start(const V &guess) {
    auto slope = measured(x_, guess, {.relative = accuracy_of_first});
    if (slope.known() && underflows(meter_.hypergradient(), 1e-7)) {
      slope.unavailable = "it is so small at the start that its square underflows: give F larger units";
    }
    return slope;
  }

  /// Once more where a number was not finite: a product may have failed once.
  [[nodiscard]] MeasuredSlope measured(const V &x, const V &y, const WantedAccuracy &wanted,
                                       const V *guess_of_v = nullptr) {
    V guess = y;
    V multiplier = guess_of_v != nullptr ? *guess_of_v : V{};
    units_.enter(guess);
    units_.enter(multiplier);
    const V *guessed = guess_of_v != nullptr ? &multiplier : nullptr;
    auto slope = meter_.at(x, guess, wanted, guessed);
    slope = slope.is_finite() ? slope : meter_.at(x, guess, wanted, guessed);
    is_curved_ = is_curved_ || meter_.met_another_hessian();
    return slope;
  }

  LowerUnits<V> units_; ///< in which y and v are solved for
  SlopeMeter<V> meter_;
  V x_; ///< where the run was started
  V y_;
  V first_y_; ///< y*(x₀), in those units
  bool knows_first_ = false;
  bool is_curved_ = false; ///< ∇²yy f is not the same everywhere
  Verdict verdict_;
};

} // namespace duplex
