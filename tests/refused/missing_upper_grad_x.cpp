// An upper level without its gradient in x.
#include "problem.hpp"

struct Upper : duplex::Point<Vector> {
  double value() const { return 0.5 * y().squaredNorm(); }
  void grad_y(Vector &out) const { out = y(); }
};

int main() {
  auto state = start();
  return duplex::solve(ProblemOf<CompleteLower, Upper>{}, state).converged() ? 0 : 1;
}
