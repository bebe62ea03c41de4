// A lower level with one of the two products, whose derivatives are to be checked: the other was forgotten.
#include "problem.hpp"

struct Lower : duplex::Point<Vector> {
  double value() const { return 0.5 * (y() - x()).squaredNorm(); }
  void grad_y(Vector &out) const { out = y() - x(); }
  void hess_yy(const Vector &v, Vector &out) const { out = v; }
  void cross_yx(const Vector &v, Vector &out) const { out = -v; }
};

int main() { return duplex::check(ProblemOf<Lower, CompleteUpper>{}, start()).passes() ? 0 : 1; }
