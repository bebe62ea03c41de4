// A problem that does not say how long x is.
#include "problem.hpp"

struct Problem {
  using Vector = ::Vector;
  CompleteLower lower() const { return {}; }
  CompleteUpper upper() const { return {}; }
  duplex::Index y_size() const { return 2; }
};

int main() {
  auto state = start();
  return duplex::solve(Problem{}, state).converged() ? 0 : 1;
}
