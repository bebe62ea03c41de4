// A problem that draws samples and is no finite sum, with a method that asks for samples again.
#include "problem.hpp"

#include <duplex/methods/saba.hpp>

struct Problem {
  using Vector = ::Vector;
  using Draw = int;
  void draw(std::mt19937_64 & /*generator*/, Draw & /*draw*/) const {}
  CompleteLower lower(const Draw & /*draw*/) const { return {}; }
  CompleteUpper upper(const Draw & /*draw*/) const { return {}; }
  duplex::Index x_size() const { return 2; }
  duplex::Index y_size() const { return 2; }
};

int main() {
  auto state = start();
  return duplex::solve(Problem{}, duplex::Saba{}, state).converged() ? 0 : 1;
}
