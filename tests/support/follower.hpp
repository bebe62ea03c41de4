#pragma once
// Problems whose lower level follows: y*(x) = x.

#include "support.hpp"

namespace duplex::testing {

/// f = ½‖y − x‖².
struct FollowingLower : Point<Vec> {
  [[nodiscard]] double value() const { return 0.5 * (y() - x()).squaredNorm(); }
  void grad_y(Vec &out) const { out = y() - x(); }
  void hess_yy(const Vec &v, Vec &out) const { out = v; }
  void cross_xy(const Vec &v, Vec &out) const { out = -v; }
};

/// F = w(y) of one number, so that φ = w, by Shape::value and Shape::slope.
template <class Shape> struct Follower {
  using Vector = Vec;
  using Lower = FollowingLower;
  struct Upper : Point<Vec> {
    [[nodiscard]] double value() const { return Shape::value(y()[0]); }
    void grad_x(Vec &out) const { out = Vec::Zero(1); }
    void grad_y(Vec &out) const { out = Vec::Constant(1, Shape::slope(y()[0])); }
  };
  [[nodiscard]] Lower lower() const { return {}; }
  [[nodiscard]] Upper upper() const { return {}; }
  [[nodiscard]] Index x_size() const { return 1; }
  [[nodiscard]] Index y_size() const { return 1; }
};

} // namespace duplex::testing
