#pragma once
// How much d feels the errors of y and v. With ε_y, ε_v these errors, that of d = ∇xF − ∇²xy f·v is about
// g_y‖ε_y‖ + g_v‖ε_v‖. The gains are measured on the run's own moves, g_y = ‖Δd‖/‖Δy‖ and g_v = ‖Δ(∇²xy f·v)‖/‖Δv‖:
// no constant of the problem is assumed, and no unit matters.

#include <duplex/methods/automatic/estimate.hpp>
#include <duplex/methods/automatic/inner_solver.hpp>
#include <duplex/space/space.hpp>

#include <algorithm>

namespace duplex::automatic {

template <VectorSpace V> class ErrorGains {
public:
  explicit ErrorGains(const State<V> &start) : x_scratch_(zeros_like(start.x)), y_scratch_(zeros_like(start.y)) {}

  /// Whether a move was looked at. Where it left y or v where it was, the gain of that is still to be measured.
  [[nodiscard]] bool known() const { return known_; }
  [[nodiscard]] double y() const { return y_; }
  [[nodiscard]] double v() const { return v_; }

  /// Measures the gain of v at the first point, where there is no move yet.
  void learn(const Estimate<V> &first) {
    const double length = norm(first.at.v);
    v_ = length > 0.0 ? norm(first.cross) / length : 0.0;
  }

  /// Measures both gains on a move, and keeps the largest of late. Where y all but stays d has changed by what x did to
  /// it, which says nothing of y, and the same of v.
  void learn(const Estimate<V> &from, const Estimate<V> &to) {
    constexpr double forgetting = 0.9;
    constexpr double least = 1e-6; // of its length
    const double y_move = distance(to.at.y, from.at.y, y_scratch_);
    const double v_move = distance(to.at.v, from.at.v, y_scratch_);
    known_ = true;
    if (y_move > least * norm(to.at.y)) {
      y_is_known_ = true;
      y_ = std::max(forgetting * y_, distance(to.d, from.d, x_scratch_) / y_move);
    }
    if (v_move > least * norm(to.at.v)) {
      v_is_known_ = true;
      v_ = std::max(forgetting * v_, distance(to.cross, from.cross, x_scratch_) / v_move);
    }
  }

  void forget() { go_back_to({}); }

  struct Knowledge {
    double y = 0.0;
    double v = 0.0;
    bool known = false;
    bool y_is_known = false;
    bool v_is_known = false;
  };
  [[nodiscard]] Knowledge knowledge() const { return {y_, v_, known_, y_is_known_, v_is_known_}; }
  void go_back_to(const Knowledge &before) {
    y_ = before.y;
    v_ = before.v;
    known_ = before.known;
    y_is_known_ = before.y_is_known;
    v_is_known_ = before.v_is_known;
  }

  /// The error of d at a point whose y and v have the errors that it tells.
  [[nodiscard]] double error(const Estimate<V> &point) const { return y_ * point.y_error + v_ * point.v_error; }

  /// How well y is to be solved for, for d to have an error of at most `level`; without a level, to a per cent of its
  /// own move.
  [[nodiscard]] InnerTolerance tolerance_of_y(double level, const V &y) const {
    return tolerance(level, y_, y_is_known_, norm(y));
  }
  [[nodiscard]] InnerTolerance tolerance_of_v(double level, const V &v) const {
    return tolerance(level, v_, v_is_known_, norm(v));
  }

  template <class Archive> void archive(Archive &members) {
    members("y", y_);
    members("v", v_);
    members("known", known_);
    members("y is known", y_is_known_);
    members("v is known", v_is_known_);
  }

private:
  [[nodiscard]] InnerTolerance tolerance(double level, double gain, bool is_known, double magnitude) const {
    constexpr double first_accuracy = 0.01;
    constexpr double careful_accuracy = 1e-4;
    if (!(level > 0.0)) {
      return {.absolute = 0.0, .relative = first_accuracy, .magnitude = magnitude};
    }
    if (!is_known && !(gain > 0.0)) { // nobody knows what d feels of it
      return {.absolute = 0.0, .relative = careful_accuracy, .magnitude = magnitude};
    }
    return {.absolute = gain > 0.0 ? level / gain : infinity, .relative = 0.0, .magnitude = magnitude};
  }

  double y_ = 0.0;
  double v_ = 0.0;
  bool known_ = false;
  bool y_is_known_ = false; ///< y has moved
  bool v_is_known_ = false;
  V x_scratch_;
  V y_scratch_;
};

} // namespace duplex::automatic
