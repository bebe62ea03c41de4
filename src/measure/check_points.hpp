#pragma once
// Where check() looks: random points around the start at which f and F are finite, inside the bounds of x, with the
// unit in which each entry is moved there.

#include "measure/difference_ladder.hpp"

#include <random>

namespace duplex::detail {

/// Units are powers of two, so that a step adds no rounding of its own; zero where bounds leave an entry no room.
struct CheckPoint {
  Numbers x;
  Numbers y;
  Numbers x_unit;
  Numbers y_unit;
};

class CheckPoints {
public:
  CheckPoints(CheckedProblem &problem, double spread, std::mt19937_64 &generator)
      : problem_(&problem), spread_(spread), generator_(&generator) {}

  /// "f" or "F", whichever is not finite at the start; empty where both are.
  [[nodiscard]] std::string not_finite_at_start();
  /// The next point; the start itself where f and F are finite nowhere around it.
  [[nodiscard]] CheckPoint draw();
  /// How far x may follow a direction within its bounds.
  [[nodiscard]] Room room(const Numbers &x, const Numbers &direction) const;
  /// Last bits that rounding may have put outside.
  void keep_inside(Numbers &x) const;

private:
  [[nodiscard]] bool is_finite(const Numbers &x, const Numbers &y);
  [[nodiscard]] bool has_bounds() const { return !problem_->lower_bound.empty(); }
  [[nodiscard]] static Numbers scales_of(const Numbers &start);
  [[nodiscard]] Numbers moved(const Numbers &start, const Numbers &scales, const Numbers &draws, double share) const;
  void fold(Numbers &x);
  void move_one_by_one(Numbers &entries, const Numbers &steps, CheckPoint &point);

  CheckedProblem *problem_;
  double spread_;
  std::mt19937_64 *generator_;
};

} // namespace duplex::detail
