#include <duplex/duplex.hpp>
#include <duplex/problems/counter_example.hpp>
#include <duplex/problems/ridge.hpp>

#include <cstdlib>
#include <iostream>

#ifdef _OPENMP
#error "linking Duplex has turned OpenMP on in code that did not ask for it"
#endif

int main() {
  const auto matrix = duplex::DenseSpd<double>::with_spectrum(duplex::log_spaced_spectrum<double>(50, 10.0, 1.0), 1);
  const duplex::CounterExample problem(matrix, Eigen::VectorXd(Eigen::VectorXd::Ones(50)));
  auto state = problem.start();
  const duplex::Summary summary =
      duplex::solve(problem, duplex::Bagdc{.alpha = 0.1, .beta = 0.1}, state, {.direction_tolerance = 1e-8});
  std::cout << summary.brief() << "\n";
  const auto ridge = duplex::RidgeSettings{}.make<double>(); // whose evaluations the library has compiled too
  auto tuned = ridge.start();
  if (!duplex::solve(ridge, tuned).converged()) {
    return EXIT_FAILURE;
  }
  return summary.converged() && (state.x - problem.answer()->x).norm() < 1e-6 ? EXIT_SUCCESS : EXIT_FAILURE;
}
