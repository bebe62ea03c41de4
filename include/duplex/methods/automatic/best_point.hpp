#pragma once
// The point at which ‖d‖ was smallest: where a run goes back to when ‖d‖ has run away, and what it leaves when nothing
// can be improved.

#include <duplex/methods/automatic/current_point.hpp>
#include <duplex/methods/automatic/rules.hpp>
#include <duplex/methods/automatic/texts.hpp>
#include <duplex/problem/problem.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace duplex::automatic {

template <VectorSpace V> class BestPoint {
public:
  explicit BestPoint(const State<V> &start) : state_(start) {}

  [[nodiscard]] const State<V> &state() const { return state_; }
  [[nodiscard]] double slope() const { return slope_; }

  /// The first point of a run or of another lower level.
  void begin(CurrentPoint<V> &current) {
    state_ = current.state();
    slope_ = current.slope();
    first_value_ = current.estimate().value;
    first_fall_ = 0.0;
    growth_limit_ = rule::growth_that_restarts;
    without_progress_ = 0;
  }
  /// ‖d‖ at the best point, computed anew.
  void remeasure(double slope) { slope_ = slope; }

  [[nodiscard]] bool ran_away(const CurrentPoint<V> &current) const { return current.slope() > growth_limit_ * slope_; }
  /// Goes back, and solves more tightly from there. Where φ is badly conditioned ‖d‖ may grow on its way: more is
  /// allowed from now on, so that a run never goes back for the same reason twice.
  [[nodiscard]] LinearStatus go_back(CurrentPoint<V> &current) {
    ++returns_;
    growth_limit_ *= 10.0;
    current.state() = state_;
    current.tighten();
    const auto status = current.refresh(current.allowed_error(slope_));
    slope_ = current.slope();
    return status;
  }
  /// Leaves the best point where the current one is worse, since nothing can be improved.
  void give(CurrentPoint<V> &current) const {
    if (current.slope() > slope_) {
      current.state() = state_;
      if (current.refresh(current.allowed_error(slope_)) != LinearStatus::converged) {
        current.state() = state_;
      }
    }
  }

  /// The same where nothing can be computed any more.
  void give_as_it_is(CurrentPoint<V> &current) const {
    if (!(current.slope() <= slope_) && slope_ > 0.0) {
      current.state() = state_;
    }
  }

  /// Keeps a point that is better, and counts those that are not.
  void note(CurrentPoint<V> &current) {
    if (current.slope() < slope_) {
      slope_ = current.slope();
      state_ = current.state();
      without_progress_ = 0;
    } else {
      ++without_progress_;
    }
  }
  /// Whether φ has fallen by far more than it was worth, and has no minimum.
  [[nodiscard]] bool falls_without_end(CurrentPoint<V> &current) {
    const double fall = first_value_ - current.estimate().value;
    first_fall_ = first_fall_ > 0.0 ? first_fall_ : fall;
    has_no_end_ = fall > rule::fall_without_end * std::max(std::abs(first_value_), first_fall_) &&
                  current.estimate().value_noise < 0.1 * fall;
    return has_no_end_;
  }
  /// What falls_without_end() said last.
  [[nodiscard]] bool has_no_end() const { return has_no_end_; }
  [[nodiscard]] double first_value() const { return first_value_; }

  [[nodiscard]] bool is_stalled() const { return without_progress_ > rule::most_steps_without_progress; }

  void report(Findings &found) const { found.restarts = returns_; }

  template <class Archive> void archive(Archive &members) {
    members("state", state_);
    members("slope", slope_);
    members("growth limit", growth_limit_);
    members("without progress", without_progress_);
    members("returns", returns_);
    members("first value", first_value_);
    members("first fall", first_fall_);
  }

private:
  State<V> state_;
  double slope_ = 0.0;                               ///< ‖d‖ there
  double growth_limit_ = rule::growth_that_restarts; ///< of ‖d‖ over the best
  std::int64_t without_progress_ = 0;                ///< steps since the best point
  std::int64_t returns_ = 0;
  double first_value_ = 0.0; ///< φ at the first point
  bool has_no_end_ = false;
  double first_fall_ = 0.0; ///< of φ, by the first step after which it had fallen
};

} // namespace duplex::automatic
