// A lower level whose gradient is misspelt.
#include "problem.hpp"

struct Lower : duplex::Point<Vector> {
  double value() const { return 0.5 * (y() - x()).squaredNorm(); }
  void grad_Y(Vector &out) const { out = y() - x(); }
  void hess_yy(const Vector &v, Vector &out) const { out = v; }
  void cross_xy(const Vector &v, Vector &out) const { out = -v; }
};

int main() {
  auto state = start();
  return duplex::solve(ProblemOf<Lower, CompleteUpper>{}, state).converged() ? 0 : 1;
}
