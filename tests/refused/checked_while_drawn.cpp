// A problem that draws samples, whole, whose derivatives are to be checked: on which sample is not said.
#include "problem.hpp"

struct Problem {
  using Vector = ::Vector;
  using Draw = int;
  void draw(std::mt19937_64 & /*generator*/, Draw & /*draw*/) const {}
  CompleteLower lower(const Draw & /*draw*/) const { return {}; }
  CompleteUpper upper(const Draw & /*draw*/) const { return {}; }
  duplex::Index x_size() const { return 2; }
  duplex::Index y_size() const { return 2; }
};

int main() { return duplex::check(Problem{}, start()).passes() ? 0 : 1; }
