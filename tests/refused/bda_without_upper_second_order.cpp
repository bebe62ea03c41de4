// A solver that needs more than a problem offers names what is missing.
#include <duplex/methods/bda.hpp>
#include <duplex/solve.hpp>

struct Plain {
  using Vector = Eigen::VectorXd;
  struct Lower : duplex::Point<Vector> {
    double value() const { return 0.5 * y().squaredNorm() - x().dot(y()); }
    void grad_y(Vector &out) const { out = y() - x(); }
    void hess_yy(const Vector &v, Vector &out) const { out = v; }
    void cross_xy(const Vector &v, Vector &out) const { out = -v; }
  };
  struct Upper : duplex::Point<Vector> {
    double value() const { return 0.5 * y().squaredNorm(); }
    void grad_x(Vector &out) const { out = 0 * x(); }
    void grad_y(Vector &out) const { out = y(); }
  };
  Lower lower() const { return {}; }
  Upper upper() const { return {}; }
  duplex::Index x_size() const { return 2; }
  duplex::Index y_size() const { return 2; }
};

int main() {
  duplex::State<Eigen::VectorXd> state{Eigen::VectorXd::Ones(2), Eigen::VectorXd::Ones(2), {}};
  return duplex::solve(Plain{}, duplex::Bda{}, state).converged() ? 0 : 1;
}
