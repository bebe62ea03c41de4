// An evaluation borrows its point, so a temporary must not be taken.
#include <duplex/problems/multiple_minimizers.hpp>

int main() {
  const duplex::MultipleMinimizers<double> problem(2);
  const Eigen::VectorXd y(4);
  auto lower = problem.lower();
  lower.at(Eigen::VectorXd(2), y);
}
