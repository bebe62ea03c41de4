// A lower level whose preconditioner is of another signature: it would be ignored in silence.
#include "problem.hpp"

struct Lower : CompleteLower {
  Vector precondition(const Vector &v) const { return v; }
};

int main() {
  auto state = start();
  return duplex::solve(ProblemOf<Lower, CompleteUpper>{}, state).converged() ? 0 : 1;
}
