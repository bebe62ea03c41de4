// BAGDC without a step size: random quadratic problems in random units, each beside the best constant steps that a
// search finds for it, and the counter-example at condition numbers up to 10⁴. Products are gradients, Hessian and
// cross products; the automatic runs stop by themselves, and what they claim is compared with the exact hypergradient.

#include "report/table.hpp"
#include "reproduce/constant_steps.hpp"
#include "reproduce/quadratic_runs.hpp"
#include "reproduce/quantile.hpp"
#include "reproduce/reproduce.hpp"

#include <duplex/measure/exact.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <thread>

namespace duplex::reproduce {

namespace in_autosteps {
namespace {

constexpr double tolerance = 1e-5; ///< on ‖∇φ‖/‖∇φ₀‖
constexpr std::int64_t most_products = 100'000;

struct Outcome {
  double condition = 0.0;
  std::int64_t products = 0;
  bool claimed = false;
  bool reached = false;
  std::string message;
  ConstantSteps rival;

  [[nodiscard]] bool solved() const { return claimed && reached && products <= most_products; }
  /// Products over those of the best constant steps; an upper bound where these did not arrive.
  [[nodiscard]] double ratio() const {
    const auto rival_products = rival.products > 0 ? rival.products : most_products;
    return static_cast<double>(products) / static_cast<double>(rival_products);
  }
};

Outcome solve_one(std::uint64_t seed) {
  const auto instance = draw_scaled_quadratic(seed);
  auto state = instance.problem.start();
  const auto start = state;
  Monitor<Eigen::VectorXd> monitor;
  monitor.stop_when = [](const auto &progress) { return progress.counters.gradients_and_products() > most_products; };
  const auto summary = solve(instance.problem, Automatic{.tolerance = tolerance}, state, {}, monitor);
  Outcome outcome;
  outcome.condition = instance.condition;
  outcome.products = summary.counters.gradients_and_products();
  outcome.claimed = summary.termination == Termination::tolerance_verified;
  outcome.message = summary.brief();
  ExactSolver<Quadratic<double>> exact(instance.problem);
  const double first = exact.at(start.x, start.y).hypergradient.norm();
  outcome.reached = exact.at(state.x, state.y).hypergradient.norm() <= tolerance * first;
  outcome.rival = search_constant_steps(instance, tolerance, most_products);
  return outcome;
}

/// On all cores; the outcomes do not depend on how many there are.
std::vector<Outcome> solve_all(const Settings &settings) {
  std::vector<Outcome> outcomes(static_cast<std::size_t>(settings.automatic_problems));
  std::mt19937_64 generator(settings.seed);
  std::vector<std::uint64_t> seeds(outcomes.size());
  std::generate(seeds.begin(), seeds.end(), [&] { return generator(); });
  std::atomic<std::size_t> next = 0;
  std::atomic<std::size_t> done = 0;
  const auto work = [&] {
    for (std::size_t i = next++; i < outcomes.size() && !settings.interrupted(); i = next++) {
      outcomes[i] = solve_one(seeds[i]);
      if (const auto finished = ++done; finished % 50 == 0) {
        settings.told(fmt::format("{} of {} problems", finished, outcomes.size()));
      }
    }
  };
  std::vector<std::thread> threads;
  for (unsigned i = 1; i < std::max(1U, std::thread::hardware_concurrency()); ++i) {
    threads.emplace_back(work);
  }
  work();
  for (auto &thread : threads) {
    thread.join();
  }
  return outcomes;
}

/// The share of the problems at or below each value.
report::Curve distribution(std::string label, std::vector<double> values, std::size_t of) {
  std::sort(values.begin(), values.end());
  report::Curve curve{.label = std::move(label), .x = values, .y = {}};
  for (std::size_t i = 0; i < values.size(); ++i) {
    curve.y.push_back(static_cast<double>(i + 1) / static_cast<double>(of));
  }
  return curve;
}

void random_problems(Experiment &result, const Settings &settings) {
  const auto outcomes = solve_all(settings);
  result.interrupted = settings.interrupted();
  if (result.interrupted) {
    return;
  }
  std::vector<double> products;
  std::vector<double> rival_products;
  std::vector<double> ratios;
  std::size_t solved = 0;
  std::size_t wrong = 0;
  report::Table failures({"not solved", "products", "what it said"});
  for (std::size_t i = 0; i < outcomes.size(); ++i) {
    const auto &outcome = outcomes[i];
    solved += outcome.solved() ? 1U : 0U;
    wrong += outcome.claimed && !outcome.reached ? 1U : 0U;
    products.push_back(static_cast<double>(outcome.products));
    ratios.push_back(outcome.ratio());
    if (outcome.rival.products > 0) {
      rival_products.push_back(static_cast<double>(outcome.rival.products));
    }
    if (!outcome.solved()) {
      failures.add({fmt::format("problem {}", i + 1), std::to_string(outcome.products), outcome.message});
    }
  }
  const std::size_t count = outcomes.size();
  report::Table table({"random problems", "10 %", "median", "90 %", "largest"});
  const auto row = [&](const std::string &label, const std::vector<double> &values) {
    table.add({label, short_number(quantile(values, 0.1)), short_number(quantile(values, 0.5)),
               short_number(quantile(values, 0.9)), short_number(quantile(values, 1.0))});
  };
  row("products, automatic", products);
  row("automatic over the best constant steps", ratios);
  result.tables.push_back(table.text());
  std::size_t dearer = 0;
  double dearer_condition = 1.0;
  for (const auto &outcome : outcomes) {
    if (outcome.ratio() > 1.0) {
      ++dearer;
      dearer_condition = std::max(dearer_condition, outcome.condition);
    }
  }
  result.tables.push_back(
      fmt::format("{} of {} solved. The best constant steps arrived on {} within {} products, and "
                  "count as that many on the others. They need fewer on {}, of lower condition at most {}.",
                  solved, count, rival_products.size(), most_products, dearer, short_number(dearer_condition)));
  if (solved < count) {
    result.tables.push_back(failures.text());
  }
  result.figure.panels.push_back({.title = "Automatic over best constant steps",
                                  .x_label = "ratio",
                                  .y_label = "share of the problems",
                                  .log_x = true,
                                  .log_y = false,
                                  .curves = {distribution("automatic / best constant", ratios, count),
                                             {.label = "equal", .x = {1.0, 1.0}, .y = {0.0, 1.0}, .dashed = true}}});
  result.figure.panels.push_back({.title = "Products to ‖∇φ‖/‖∇φ₀‖ = 10⁻⁵",
                                  .x_label = "products",
                                  .y_label = "share of the problems",
                                  .log_x = true,
                                  .log_y = false,
                                  .curves = {distribution("automatic", products, count),
                                             distribution("best constant steps", rival_products, count)}});
  result.claim("autosteps.solved", fmt::format("solved within {} products", most_products), "at least 99 %",
               fmt::format("{} of {}", solved, count),
               static_cast<double>(solved) >= 0.99 * static_cast<double>(count));
  result.claim("autosteps.honest", "no run claims success that the exact hypergradient denies", "none",
               fmt::format("{} of {}", wrong, count), wrong == 0);
  const double median = quantile(ratios, 0.5);
  result.claim("autosteps.median", "median of the products over those of the best constant steps", "at most 1",
               short_number(median), median <= 1.0);
}

void counter_example(Experiment &result, const Settings &settings) {
  struct Budget {
    double condition;
    std::int64_t products;
  };
  constexpr std::array<Budget, 4> budgets{{{10, 300}, {100, 3000}, {1000, 20000}, {10000, 150000}}};
  report::Table table({"condition of A", "products", "at most", "steps", "‖∇φ‖/‖∇φ₀‖"});
  report::Curve measured{.label = "automatic", .x = {}, .y = {}, .marked = true};
  report::Curve allowed{.label = "allowed", .x = {}, .y = {}, .dashed = true};
  for (const auto &[condition, budget] : budgets) {
    const auto problem =
        catalog::make_problem(fmt::format("counter-example:n=100:matrix=diagonal:condition={}:smallest={}:start=0",
                                          condition, 1.0 / condition))
            ->make();
    Series series = experiment::run_series({.problem = problem,
                                            .solver = "automatic",
                                            .name = fmt::format("counter-example, condition {}", condition),
                                            .options = {.interrupt = settings.interrupt},
                                            .metrics = {"hypergradient"},
                                            .cadence = {.every = 1, .growth = 0.02}});
    const double first = 10.0; // ‖∇φ(0)‖ = ‖z₀‖ = √100
    const double relative = series.final_metric("hypergradient") / first;
    const auto products = series.summary.counters.gradients_and_products();
    table.add({short_number(condition), std::to_string(products), std::to_string(budget),
               std::to_string(series.summary.iterations), short_number(relative)});
    measured.x.push_back(condition);
    measured.y.push_back(static_cast<double>(products));
    allowed.x.push_back(condition);
    allowed.y.push_back(static_cast<double>(budget));
    result.claim(fmt::format("autosteps.condition{}", condition),
                 fmt::format("counter-example, condition {}: products to 10⁻⁵ with no option given", condition),
                 fmt::format("at most {}", budget), std::to_string(products),
                 series.summary.converged() && relative <= tolerance && products <= budget);
    result.series.push_back(std::move(series));
  }
  result.tables.push_back(table.text());
  result.tables.push_back(result.series.back().summary.explanation);
  result.figure.panels.push_back({.title = "Counter-example, n = 100",
                                  .x_label = "condition of A",
                                  .y_label = "products",
                                  .log_x = true,
                                  .log_y = true,
                                  .curves = {measured, allowed}});
}

/// Every problem of the catalog as it comes, measured by its answer where that is known.
void built_in_problems(Experiment &result, const Settings &settings) {
  report::Table table({"built-in problem", "products", "steps", "measured", "to", "ended"});
  bool all = true;
  for (const auto &name : catalog::problem_names()) {
    const auto problem = catalog::make_problem(name)->make();
    const bool known = problem.answer().has_value();
    const std::string metric = known ? "x-error" : "hypergradient";
    Series series = experiment::run_series({.problem = problem,
                                            .solver = "automatic",
                                            .name = name,
                                            .options = {.interrupt = settings.interrupt},
                                            .metrics = {metric},
                                            .cadence = {.every = 1, .growth = 0.02}});
    double scale = 1.0;
    if (!known) {
      ExactSolver<catalog::Problem> exact(problem);
      const auto start = problem.start();
      scale = exact.at(start.x, start.y).hypergradient.norm();
    }
    constexpr double x_tolerance = 1e-3;
    const double measured = series.final_metric(metric) / scale;
    const auto products = series.summary.counters.gradients_and_products();
    all &= series.summary.converged() && measured <= (known ? x_tolerance : tolerance) && products <= most_products;
    table.add({name, std::to_string(products), std::to_string(series.summary.iterations),
               known ? "error of x" : "‖∇φ‖/‖∇φ₀‖", short_number(measured), series.status()});
    result.series.push_back(std::move(series));
  }
  result.tables.push_back(table.text());
  result.claim("autosteps.builtin", "every built-in problem is solved with no option given", "all",
               all ? "all" : "not all", all);
}

} // namespace
} // namespace in_autosteps

Experiment autosteps(const Settings &settings) {
  using namespace in_autosteps;
  Experiment result{.name = "autosteps",
                    .title = std::string(title_of("autosteps")),
                    .options = {{"problems", settings.automatic_problems},
                                {"tolerance", tolerance},
                                {"most products", most_products}},
                    .seed = settings.seed,
                    .figure = {.title = "BAGDC without a step size", .panels = {}, .columns = 3},
                    .reference = "target"};
  built_in_problems(result, settings);
  counter_example(result, settings);
  random_problems(result, settings);
  return result;
}

} // namespace duplex::reproduce
