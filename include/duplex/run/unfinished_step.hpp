#pragma once
// A step with inner loops or inner solves may take any time, and is abandoned in its middle when the run is to end.
// This is what the run then goes back to.

#include <duplex/core/clock.hpp>
#include <duplex/core/saved_state.hpp>
#include <duplex/problem/problem.hpp>
#include <duplex/space/space.hpp>

#include <algorithm>
#include <optional>
#include <utility>

namespace duplex::detail {

template <VectorSpace V> class UnfinishedStep {
public:
  /// Keeps y and v before a step; x moves at its end only.
  void keep(const State<V> &state) {
    assign(state.y, y_);
    assign(state.v, v_);
  }

  void put_back(State<V> &state) const {
    assign(y_, state.y);
    assign(v_, state.v);
  }

  /// All that a run remembers is large: it is kept now and then, so rarely that it costs a twentieth of the time.
  [[nodiscard]] bool snapshot_is_due() const {
    constexpr double least_seconds = 0.5;
    constexpr double times_its_cost = 20.0;
    return !snapshot_ || since_snapshot_.seconds_while_running() > std::max(least_seconds, times_its_cost * cost_);
  }

  template <class Take> void keep_snapshot(const Take &take) {
    Stopwatch taking;
    taking.start();
    snapshot_ = take();
    cost_ = taking.seconds_while_running();
    since_snapshot_ = {};
    since_snapshot_.start();
  }

  /// The state of before one of the last steps, which can be taken once.
  [[nodiscard]] std::optional<SavedState> take_snapshot() { return std::exchange(snapshot_, std::nullopt); }

private:
  V y_;
  V v_;
  std::optional<SavedState> snapshot_;
  Stopwatch since_snapshot_;
  double cost_ = 0.0; ///< Seconds that the last snapshot took.
};

} // namespace duplex::detail
