// Tunes one ridge penalty per feature on validation data: five features matter, fifteen do not.
#include <duplex/duplex.hpp>
#include <duplex/problems/ridge.hpp>

#include <iostream>

int main() {
  const auto problem = duplex::RidgeSettings{.features = 20, .informative = 5}.generate<double>();
  auto state = problem.start();
  duplex::ExactSolver exact(problem);
  const double before = exact.at(state.x, state.y).value;

  const duplex::Bagdc solver{.alpha = 0.1, .beta = 0.2, .upper = {.method = duplex::UpperMethod::adam}};
  const auto summary = duplex::solve(problem, solver, state, {.max_iterations = 3000});
  const double after = exact.at(state.x, state.y).value;

  std::cout << summary.brief() << "\n\nfeature  penalty  weight\n";
  for (duplex::Index j = 0; j < state.x.size(); ++j) {
    std::cout << j << "\t" << std::exp(state.x[j]) << "\t" << state.y[j] << "\n";
  }
  std::cout << "validation error fell from " << before << " to " << after << "\n";
  return after < 0.5 * before ? 0 : 1;
}
