#include "reproduce/constant_steps.hpp"

#include "reproduce/quadratic_runs.hpp"

#include <duplex/numerics/dense.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <random>
#include <utility>
#include <vector>

namespace duplex::reproduce {

ScaledQuadratic draw_scaled_quadratic(std::uint64_t seed) {
  std::mt19937_64 generator(seed);
  const auto log_uniform = [&](double low, double high) {
    const double uniform = static_cast<double>(generator() >> 11U) * 0x1p-53;
    return low * std::pow(high / low, uniform);
  };
  QuadraticSettings settings;
  settings.n = static_cast<Index>(log_uniform(2.0, 301.0));
  settings.m = static_cast<Index>(log_uniform(2.0, 301.0));
  settings.condition = log_uniform(1.0, 1e3);
  settings.upper_condition = log_uniform(1.0, 100.0);
  settings.coupling = log_uniform(0.1, 1.0);
  settings.seed = generator();
  const double upper_unit = log_uniform(1e-3, 1e3);
  const double lower_unit = log_uniform(1e-3, 1e3);
  const double x_unit = log_uniform(1e-3, 1e3);
  const double y_unit = log_uniform(1e-3, 1e3);
  const Index n = settings.n;
  const Index m = settings.m;

  auto problem =
      settings.generate<double>().in_units({.upper = upper_unit, .lower = lower_unit, .x = x_unit, .y = y_unit});
  const auto &data = problem.data();

  const dense::SymmetricFactor<double> factor(data.lower_hessian);
  Eigen::MatrixXd response(n + m, n); // z = (x, y*(x)) is affine in x
  response.topRows(n).setIdentity();
  response.bottomRows(m) = -factor.solve(dense::Matrix<double>(data.cross.transpose()));
  Eigen::VectorXd at_zero = Eigen::VectorXd::Zero(n + m);
  Eigen::VectorXd lower_at_zero(m);
  factor.solve(data.lower_linear, lower_at_zero);
  at_zero.tail(m) = -lower_at_zero;
  Eigen::MatrixXd reduced_hessian = response.transpose() * data.upper_hessian * response;
  Eigen::VectorXd reduced_linear = response.transpose() * (data.upper_hessian * at_zero + data.upper_linear);
  return {std::move(problem), std::move(reduced_hessian), std::move(reduced_linear), settings.condition};
}

namespace in_constant_steps {
namespace {

using Vector = Eigen::VectorXd;

/// Watches one trial: has it arrived, and if not, can it still?
class Trial {
public:
  Trial(const ScaledQuadratic &instance, double tolerance, std::int64_t limit)
      : instance_(&instance), tolerance_(tolerance), limit_(limit) {}

  [[nodiscard]] bool ends(const Progress<Vector> &progress) {
    const double now = instance_->relative_gradient(progress.state.x);
    if (now <= tolerance_) {
      arrived_ = progress.iteration;
      return true;
    }
    constexpr double diverged = 1e8;
    if (!(now < diverged) || is_hopeless(progress.iteration, now)) {
      return true;
    }
    seen_.emplace_back(progress.iteration, std::log(now));
    return false;
  }

  [[nodiscard]] std::int64_t arrived() const { return arrived_; } ///< 0: not

private:
  [[nodiscard]] bool is_hopeless(std::int64_t iteration, double now) const {
    constexpr std::int64_t least = 50;
    if (iteration < std::max(least, limit_ / 8)) {
      return false;
    }
    for (auto past = seen_.rbegin(); past != seen_.rend(); ++past) {
      if (past->first <= iteration / 2) {
        const double decay = (std::log(now) - past->second) / static_cast<double>(iteration - past->first);
        const double at_limit = std::log(now) + decay * static_cast<double>(limit_ - iteration);
        return at_limit > std::log(10.0 * tolerance_);
      }
    }
    return false;
  }

  const ScaledQuadratic *instance_;
  double tolerance_;
  std::int64_t limit_;
  std::int64_t arrived_ = 0;
  std::vector<std::pair<std::int64_t, double>> seen_;
};

} // namespace
} // namespace in_constant_steps

ConstantSteps search_constant_steps(const ScaledQuadratic &instance, double tolerance, std::int64_t most_products) {
  using namespace in_constant_steps;
  const auto unit_of = [](const Eigen::MatrixXd &matrix) { // the best step of gradient descent, 2/(σ + L)
    const auto spectrum = dense::symmetric_spectrum<double>(matrix).values;
    return 2.0 / (spectrum.minCoeff() + spectrum.maxCoeff());
  };
  using Point = std::array<double, 3>; // α, β, η in their units
  const double upper_unit = unit_of(instance.reduced_hessian);
  const double lower_unit = unit_of(instance.problem.data().lower_hessian);
  ConstantSteps best;
  Point best_point{};
  std::int64_t limit = most_products / products_of_a_constant_step;
  const auto improves = [&](const Point &point) {
    ++best.trials;
    Trial trial(instance, tolerance, limit);
    Monitor<Vector> monitor;
    monitor.cadence = {.every = 1, .growth = 0.01};
    monitor.stop_when = [&](const Progress<Vector> &progress) { return trial.ends(progress); };
    auto state = instance.problem.start();
    (void)solve(instance.problem,
                Bagdc{.alpha = point[0] * upper_unit,
                      .beta = point[1] * lower_unit,
                      .eta = point[2] * lower_unit,
                      .dual = DualStep::constant},
                state, {.max_iterations = limit}, monitor);
    if (trial.arrived() == 0 || (best.products > 0 && trial.arrived() >= limit)) {
      return false;
    }
    limit = trial.arrived();
    best.products = limit * products_of_a_constant_step;
    best_point = point;
    return true;
  };
  for (const double alpha : {0.9, 0.3, 0.1, 0.03, 0.01, 0.003, 0.001}) {
    for (const double both : {0.95, 0.6}) {
      (void)improves({alpha, both, both});
    }
  }
  for (const double factor : {2.0, 1.4, 1.15}) {
    for (bool improved = best.products > 0; improved;) {
      improved = false;
      for (std::size_t i = 0; i < best_point.size(); ++i) {
        for (const double change : {factor, 1.0 / factor}) {
          Point point = best_point;
          point[i] *= change;
          improved = improves(point) || improved;
        }
      }
    }
  }
  return best;
}

} // namespace duplex::reproduce

template duplex::Summary duplex::solve(const Quadratic<double> &problem, const Bagdc &solver,
                                       State<Eigen::VectorXd> &state, const Options &options,
                                       const Monitor<Eigen::VectorXd> &monitor);
