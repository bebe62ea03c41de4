#pragma once
// The largest curvature of the lower level that a run has met: measured at its start and, a few times at most, where
// the lower gradient grew. Each time costs a dozen products.

#include <duplex/measure/curvature.hpp>
#include <duplex/methods/automatic/rules.hpp>
#include <duplex/problem/problem.hpp>

#include <algorithm>
#include <cstdint>

namespace duplex::automatic {

template <SecondOrderProblem P> class TrackedCurvature {
public:
  using V = VectorOf<P>;

  TrackedCurvature(const P &problem, const V &y) : lower_(problem.lower()), power_(y) {}

  /// Zero before the first measurement; not finite where the products are not.
  [[nodiscard]] double largest() const { return largest_; }

  /// Measures at a state where that is due. `growths`: how often the lower gradient has grown so far.
  void update(const State<V> &state, std::int64_t growths) {
    if (measured_ == 0 || (growths > growths_ && measured_ <= rule::most_remeasurements)) {
      ++measured_;
      lower_.at(state.x, state.y);
      largest_ = std::max(largest_, largest_curvature_where(lower_, power_));
      growths_ = growths;
    }
  }

  template <class Archive> void archive(Archive &members) {
    members("power", power_);
    members("largest", largest_);
    members("growths", growths_);
    members("measured", measured_);
  }

private:
  LowerOf<P> lower_;
  PowerIteration<V> power_;
  double largest_ = 0.0;
  std::int64_t growths_ = 0; ///< at the last measurement
  int measured_ = 0;         ///< times
};

} // namespace duplex::automatic
