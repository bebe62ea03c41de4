#pragma once
// What ‖d‖ has been, and what follows from it: whether a run diverges, stands still, or may stop.

#include <duplex/run/options.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

namespace duplex::detail {

class DirectionHistory {
public:
  explicit DirectionHistory(const Options &options)
      : divergence_factor_(options.divergence_factor), tolerance_(options.direction_tolerance),
        patience_(options.patience) {}

  /// ‖d‖ of the first step at which it was finite, 0 before.
  [[nodiscard]] double first() const { return std::isfinite(first_) ? first_ : 0.0; }
  /// ‖d‖ where it was the smallest since the run began or started anew.
  [[nodiscard]] double smallest() const { return smallest_; }

  /// Is told every ‖d‖ that is read, before it is asked whether that is good.
  void see(double direction) {
    if (!std::isfinite(first_)) {
      first_ = direction;
      set_bound();
    }
  }

  [[nodiscard]] bool is_too_large(double direction) const { return std::isfinite(direction) && !is_good(direction); }
  [[nodiscard]] bool is_good(double direction) const { return direction <= largest_good_; } // which NaN is not

  /// The first step from a start, where x and v may be such that d vanishes, says nothing.
  [[nodiscard]] bool is_first(std::int64_t step) const { return step <= started_after_ + 1; }

  /// Is told ‖d‖ of a good step. A tentative step, of which the method itself does not know yet what it is worth,
  /// counts as progress but not as a smallest ‖d‖.
  void learn(std::int64_t step, double direction, bool tentative) {
    if (is_first(step) || tentative) {
      last_progress_ = step;
    } else if (direction < smallest_) {
      smallest_ = direction;
      last_progress_ = step;
    }
  }

  [[nodiscard]] bool meets_tolerance(std::int64_t step, double direction, bool tentative) const {
    return tolerance_ > 0.0 && direction <= tolerance_ && !is_first(step) && !tentative;
  }

  [[nodiscard]] bool stands_still(std::int64_t step) const {
    return patience_ > 0 && step - last_progress_ >= patience_;
  }

  /// A run that stands still where ‖d‖ is next to nothing relative to the first is as good as it gets.
  [[nodiscard]] bool has_digits_left() const {
    constexpr double all_but_nothing = 1e-7;
    return smallest_ > all_but_nothing * first();
  }

  /// After a recovery: what follows is measured by itself, except that divergence is judged by the run's own first
  /// direction.
  void start_anew(std::int64_t step) {
    smallest_ = std::numeric_limits<double>::infinity();
    started_after_ = last_progress_ = step;
  }

  template <class Archive> void archive(Archive &members) {
    members("first", first_);
    set_bound();
    members("smallest", smallest_);
    members("last progress", last_progress_);
    members("started after", started_after_);
  }

private:
  /// Nothing finite is too large beside a first that is not known.
  void set_bound() {
    constexpr double largest = std::numeric_limits<double>::max();
    largest_good_ = std::isfinite(first_) ? std::min(divergence_factor_ * std::max(1.0, first_), largest) : largest;
  }

  double divergence_factor_;
  double tolerance_;
  std::int64_t patience_;
  double first_ = std::numeric_limits<double>::quiet_NaN();  ///< Not finite until a direction was.
  double largest_good_ = std::numeric_limits<double>::max(); ///< ‖d‖
  double smallest_ = std::numeric_limits<double>::infinity();
  std::int64_t last_progress_ = 0; ///< The step at which ‖d‖ was the smallest.
  std::int64_t started_after_ = 0; ///< The step before the run's first, or before its first since a recovery.
};

} // namespace duplex::detail
