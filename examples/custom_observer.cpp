// An observer of one's own: remembers the best upper value that a run passed through.
#include <duplex/duplex.hpp>
#include <duplex/problems/quadratic.hpp>

#include <iostream>

using Vector = Eigen::VectorXd;
using Problem = duplex::Quadratic<double>;

class BestSoFar final : public duplex::Observer<Vector> {
public:
  explicit BestSoFar(const Problem &problem) : upper_(problem.upper()) {}

  void observe(const duplex::Progress<Vector> &progress) override {
    upper_.at(progress.state.x, progress.state.y);
    const double value = upper_.value();
    if (value < value_) {
      value_ = value;
      iteration_ = progress.iteration;
    }
  }

  double value() const { return value_; }
  std::int64_t iteration() const { return iteration_; }

private:
  Problem::Upper upper_;
  double value_ = duplex::infinity;
  std::int64_t iteration_ = 0;
};

int main() {
  const Problem problem = duplex::QuadraticSettings{.n = 10, .m = 15}.generate<double>();
  auto state = problem.start();
  BestSoFar best(problem);
  duplex::Monitor<Vector> monitor;
  monitor.observers = {&best};
  const auto summary = duplex::solve(problem, duplex::Automatic{}, state, {.direction_tolerance = 1e-8}, monitor);
  std::cout << summary.brief() << "\nbest F = " << best.value() << " at step " << best.iteration()
            << " (an infeasible y can look better than the optimum, " << problem.answer()->value << ")\n";
  return summary.converged() ? 0 : 1;
}
