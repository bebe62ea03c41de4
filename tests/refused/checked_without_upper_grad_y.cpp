// An upper level without its gradient in y, whose derivatives are to be checked.
#include "problem.hpp"

struct Upper : duplex::Point<Vector> {
  double value() const { return 0.5 * y().squaredNorm(); }
  void grad_x(Vector &out) const { out = 0.0 * x(); }
};

int main() { return duplex::check(ProblemOf<CompleteLower, Upper>{}, start(), {.points = 1}).passes() ? 0 : 1; }
