#pragma once
// Where check() looks: random points around the start at which f and F are finite, inside the bounds of x, with the
// unit in which each entry is moved there.

#include "measure/difference_ladder.hpp"

#include <cmath>
#include <random>
#include <string>

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
  /// The next point: as far away as the spread says, or nearer, where f and F are finite and have not exploded; the
  /// start itself where there is none.
  [[nodiscard]] CheckPoint draw();
  /// How far x may follow a direction within its bounds.
  [[nodiscard]] Room room(const Numbers &x, const Numbers &direction) const;
  /// Last bits that rounding may have put outside.
  void keep_inside(Numbers &x) const;

private:
  struct Values {
    double lower;
    double upper;
    [[nodiscard]] bool are_finite() const { return std::isfinite(lower) && std::isfinite(upper); }
  };
  [[nodiscard]] Values values_at(const Numbers &x, const Numbers &y);
  /// Whether both change from `start` to `far` no more than a polynomial would that changes so to `half`, half the way.
  [[nodiscard]] static bool is_tame(const Values &start, const Values &half, const Values &far);
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
