// How far runs are from the limit of products: the counter-example with eigenvalues log-spaced in [1/κ, 1], from zero
// to ‖∇φ‖/‖∇φ₀‖ = 10⁻⁵. Its KKT conditions are one symmetric system,
//
//   x + v = z₀,   Ay − Av = 0,   x − Ay = 0,
//
// which MINRES solves with five products a step (three gradients, one Hessian and one cross product), and is told when
// it has arrived. So are the methods with steps; automatic runs are not, and their verification is counted.

#include "catalog/catalog.hpp"
#include "report/table.hpp"
#include "reproduce/reproduce.hpp"

#include <duplex/numerics/matrices.hpp>
#include <duplex/numerics/minres.hpp>
#include <duplex/problems/counter_example.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace duplex::reproduce {

namespace in_limits {
namespace {

using experiment::Experiment;
using Vector = Eigen::VectorXd;

constexpr double tolerance = 1e-5;
constexpr std::int64_t most_products = 1'000'000;
constexpr std::int64_t products_of_a_step = 5;

/// With z₀ = (1, …, 1): ∇φ(x) = x − z₀ + A⁻¹x.
struct Instance {
  Vector spectrum;

  [[nodiscard]] Index n() const { return spectrum.size(); }
  [[nodiscard]] bool is_solved_by(const Vector &x) const {
    const Vector slope = x - Vector::Ones(n()) + x.cwiseQuotient(spectrum);
    return slope.norm() <= tolerance * std::sqrt(static_cast<double>(n()));
  }
};

/// Products until x is right; zero where that takes more than the limit. Automatic runs end by themselves.
std::int64_t products_by(const Instance &instance, const std::string &solver, std::int64_t limit) {
  const CounterExample problem(DiagonalSpd<double>(instance.spectrum), Vector::Ones(instance.n()).eval(), 1.0);
  const bool ends_itself = solver == "automatic";
  Monitor<Vector> monitor;
  monitor.stop_when = [&](const Progress<Vector> &progress) {
    return progress.counters.gradients_and_products() > limit ||
           (!ends_itself && instance.is_solved_by(progress.state.x));
  };
  State<Vector> state{Vector::Zero(instance.n()), Vector::Zero(instance.n()), Vector::Zero(instance.n())};
  const auto summary =
      catalog::make_solver(solver)->run(catalog::Problem(problem), state, {.max_iterations = limit / 4 + 1}, monitor);
  const bool arrived =
      instance.is_solved_by(state.x) && (!ends_itself || summary.termination == Termination::tolerance_verified);
  return arrived ? summary.counters.gradients_and_products() : 0;
}

std::int64_t products_by_minres(const Instance &instance) {
  const Index n = instance.n();
  const Vector &a = instance.spectrum;
  Vector right = Vector::Zero(3 * n);
  right.head(n).setOnes();
  Vector solution = right;
  const auto steps = minres(
      [&](const Vector &in, Vector &out) {
        const auto x = in.head(n);
        const auto y = in.segment(n, n);
        const auto v = in.tail(n);
        out.resize(3 * n);
        out.head(n) = x + v;
        out.segment(n, n) = a.cwiseProduct(y - v);
        out.tail(n) = x - a.cwiseProduct(y);
      },
      right, solution, most_products / products_of_a_step,
      [&](const Vector &now) { return !instance.is_solved_by(now.head(n)); });
  return instance.is_solved_by(solution.head(n)) ? products_of_a_step * steps : 0;
}

/// BAGDC with the best of a grid of constant steps.
std::int64_t products_by_best_bagdc(const Instance &instance) {
  std::int64_t best = 0;
  for (const double lower : {1.8, 1.2, 0.8}) {
    for (const double upper : {1.0, 0.3, 0.1, 0.03, 0.01, 0.003, 0.001, 0.0003, 0.0001}) {
      const auto found =
          products_by(instance, fmt::format("bagdc:alpha={}:beta={}:eta={}:dual=constant", upper, lower, lower),
                      best > 0 ? best : most_products);
      best = found > 0 && (best == 0 || found < best) ? found : best;
    }
  }
  return best;
}

std::string text_of(std::int64_t products) {
  return products > 0 ? std::to_string(products) : fmt::format("not within {:.0e}", static_cast<double>(most_products));
}

} // namespace
} // namespace in_limits

experiment::Experiment limits(const Settings &settings) {
  using namespace in_limits;
  Experiment result{
      .name = "limits", .title = std::string(title_of("limits")), .seed = settings.seed, .reference = "target"};
  struct Case {
    Index n;
    double condition;
    std::int64_t target; ///< products of an automatic run, verification included
  };
  constexpr std::array<Case, 8> cases{{{100, 10, 150},
                                       {100, 100, 750},
                                       {100, 1e3, 1900},
                                       {100, 1e4, 4000},
                                       {1000, 10, 350},
                                       {1000, 100, 1100},
                                       {1000, 1e3, 3300},
                                       {1000, 1e4, 9600}}};
  report::Table table(
      {"n", "condition", "automatic, verified", "MINRES, told when", "BAGDC, best constant steps", "S-TFBO", "D-TFBO"});
  for (const auto &one : cases) {
    const Instance instance{log_spaced_spectrum<double>(one.n, one.condition, 1.0 / one.condition)};
    const auto automatic = products_by(instance, "automatic", most_products);
    table.add({std::to_string(one.n), short_number(one.condition), text_of(automatic),
               text_of(products_by_minres(instance)), text_of(products_by_best_bagdc(instance)),
               text_of(products_by(instance, "s-tfbo", most_products)),
               text_of(products_by(instance, "d-tfbo", most_products))});
    result.claim(fmt::format("limits.n{}.condition{:g}", one.n, one.condition), "products of an automatic run",
                 fmt::format("at most {}", one.target), text_of(automatic), automatic > 0 && automatic <= one.target);
    settings.told(fmt::format("n = {}, condition {:g}: automatic {}", one.n, one.condition, text_of(automatic)));
    result.interrupted = settings.interrupted();
    if (result.interrupted) {
      return result;
    }
  }
  result.tables.push_back(table.text());
  return result;
}

} // namespace duplex::reproduce
