// A problem that draws samples, whose lower level lacks the Hessian.
#include "problem.hpp"

#include <duplex/methods/nosa.hpp>

struct Lower : duplex::Point<Vector> {
  double value() const { return 0.5 * (y() - x()).squaredNorm(); }
  void grad_y(Vector &out) const { out = y() - x(); }
  void cross_xy(const Vector &v, Vector &out) const { out = -v; }
};

struct Problem {
  using Vector = ::Vector;
  using Draw = int;
  void draw(std::mt19937_64 & /*generator*/, Draw & /*draw*/) const {}
  Lower lower(const Draw & /*draw*/) const { return {}; }
  CompleteUpper upper(const Draw & /*draw*/) const { return {}; }
  duplex::Index x_size() const { return 2; }
  duplex::Index y_size() const { return 2; }
};

int main() {
  auto state = start();
  return duplex::solve(Problem{}, duplex::Nosa{}, state).converged() ? 0 : 1;
}
