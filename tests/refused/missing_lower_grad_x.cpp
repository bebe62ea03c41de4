// A method without second derivatives on a problem without the lower level's gradient in x.
#include "problem.hpp"

#include <duplex/methods/f2sa.hpp>

int main() {
  auto state = start();
  return duplex::solve(ProblemOf<CompleteLower, CompleteUpper>{}, duplex::F2sa{}, state).converged() ? 0 : 1;
}
