// A first problem of one's own: min (x − 1)²/2 + y²/2 where y minimizes y²/2 − xy.
#include <duplex/duplex.hpp>

#include <iostream>

struct MyProblem {
  using Vector = Eigen::VectorXd;

  struct Lower : duplex::Point<Vector> { // f = y²/2 − xy
    double value() const { return 0.5 * y().squaredNorm() - x().dot(y()); }
    void grad_y(Vector &out) const { out = y() - x(); }
    void hess_yy(const Vector &v, Vector &out) const { out = v; }
    void cross_xy(const Vector &v, Vector &out) const { out = -v; }
  };

  struct Upper : duplex::Point<Vector> { // F = (x − 1)²/2 + y²/2
    double value() const { return 0.5 * (x().array() - 1.0).square().sum() + 0.5 * y().squaredNorm(); }
    void grad_x(Vector &out) const { out = x().array() - 1.0; }
    void grad_y(Vector &out) const { out = y(); }
  };

  Lower lower() const { return {}; }
  Upper upper() const { return {}; }
  duplex::Index x_size() const { return 1; }
  duplex::Index y_size() const { return 1; }
};
static_assert(duplex::SecondOrderProblem<MyProblem>);

int main() {
  const MyProblem problem;
  duplex::State<Eigen::VectorXd> state{Eigen::VectorXd::Zero(1), Eigen::VectorXd::Zero(1), {}};
  std::cout << duplex::check(problem, state).table();
  const auto summary = duplex::solve(problem, state);
  std::cout << summary.brief() << "\nx = " << state.x << ", y = " << state.y << "\n";
  return summary.converged() ? 0 : 1;
}
