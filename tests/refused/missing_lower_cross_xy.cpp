// A lower level without the mixed derivative, given to a method.
#include "problem.hpp"

#include <duplex/methods/nosa.hpp>

struct Lower : duplex::Point<Vector> {
  double value() const { return 0.5 * (y() - x()).squaredNorm(); }
  void grad_y(Vector &out) const { out = y() - x(); }
  void hess_yy(const Vector &v, Vector &out) const { out = v; }
};

int main() {
  auto state = start();
  return duplex::solve(ProblemOf<Lower, CompleteUpper>{}, duplex::Nosa{}, state).converged() ? 0 : 1;
}
