#pragma once
// A complete problem, f = ½‖y − x‖² and F = ½‖y‖², of which a test replaces a level.

#include <duplex/measure/check.hpp>
#include <duplex/solve.hpp>

using Vector = Eigen::VectorXd;

struct CompleteLower : duplex::Point<Vector> {
  double value() const { return 0.5 * (y() - x()).squaredNorm(); }
  void grad_y(Vector &out) const { out = y() - x(); }
  void hess_yy(const Vector &v, Vector &out) const { out = v; }
  void cross_xy(const Vector &v, Vector &out) const { out = -v; }
};

struct CompleteUpper : duplex::Point<Vector> {
  double value() const { return 0.5 * y().squaredNorm(); }
  void grad_x(Vector &out) const { out = 0.0 * x(); }
  void grad_y(Vector &out) const { out = y(); }
};

template <class Lower, class Upper> struct ProblemOf {
  using Vector = ::Vector;
  Lower lower() const { return {}; }
  Upper upper() const { return {}; }
  duplex::Index x_size() const { return 2; }
  duplex::Index y_size() const { return 2; }
};

inline duplex::State<Vector> start() { return {Vector::Ones(2), Vector::Ones(2), {}}; }
