// A lower level that returns its gradient, where it is to be written to the caller's vector.
#include "problem.hpp"

struct Lower : duplex::Point<Vector> {
  double value() const { return 0.5 * (y() - x()).squaredNorm(); }
  Vector grad_y() const { return y() - x(); }
  void hess_yy(const Vector &v, Vector &out) const { out = v; }
  void cross_xy(const Vector &v, Vector &out) const { out = -v; }
};

int main() {
  auto state = start();
  return duplex::solve(ProblemOf<Lower, CompleteUpper>{}, state, {.max_iterations = 10}).converged() ? 0 : 1;
}
