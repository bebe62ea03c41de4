// What the theorems promise, on random problems.
//
// Theorem 3.3 (f strongly convex in y): with the sufficient steps of lyapunov.hpp, V_k does
// not increase and min_{k≤K}‖∇φ(x_k)‖² ≤ 2(V_0 − φ_min)/(α(K+1)).
//
// Theorem 3.1 and the KKT rate (f merely convex, F strongly convex in y): with
// μ_k = μ̄(k+1)^−p, p < 1/11, the running minima of ‖∇φ_μ‖², ‖y − y*_μ‖² and of the KKT
// residual are O(ln K/K^{1−11p}), O(ln K/K^{1−p}) and O(max{ln K/K^{1−11p}, K^{−2p}}). A
// bound O(g(K)) is checked by its constant: the largest value of (quantity)/g over the first
// decades must not be exceeded later.

#include "report/table.hpp"
#include "reproduce/reproduce.hpp"

#include <duplex/aggregate.hpp>
#include <duplex/lyapunov.hpp>
#include <duplex/problems/multiple_minimizers.hpp>
#include <duplex/problems/quadratic.hpp>
#include <duplex/residual.hpp>
#include <duplex/solvers/bagdc.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <random>

namespace duplex::reproduce {

namespace {

using experiment::Experiment;
using experiment::Series;
using experiment::Vector;

/// Watches V_k and the running minimum of ‖∇φ(x_k)‖² against Theorem 3.3.
class LyapunovWatch final : public Observer<Vector> {
public:
  LyapunovWatch(const Quadratic<double> &problem, const State<Vector> &start, const SufficientSteps &steps,
                double lowest)
      : exact_(problem), steps_(steps), lowest_(lowest) {
    const auto &at = exact_.at(start.x, start.y);
    first_ = last_ = lyapunov_value(at, start, steps.weights, scratch_);
    smallest_ = at.hypergradient.squaredNorm();
  }

  void observe(const Progress<Vector> &progress) override {
    const auto &at = exact_.at(progress.state.x, progress.state.y);
    const double value = lyapunov_value(at, progress.state, steps_.weights, scratch_);
    const double rounding = 1e-12 * (std::abs(first_) + std::abs(lowest_));
    increases_ += value > last_ + rounding ? 1 : 0;
    last_ = value;
    smallest_ = std::min(smallest_, at.hypergradient.squaredNorm());
    const double bound = 2.0 * (first_ - lowest_) / (steps_.alpha * static_cast<double>(progress.iteration + 1));
    violations_ += smallest_ > bound ? 1 : 0;
    tightest_ = std::max(tightest_, smallest_ / bound);
  }

  [[nodiscard]] std::int64_t increases() const { return increases_; }
  [[nodiscard]] std::int64_t violations() const { return violations_; }
  [[nodiscard]] double tightest() const { return tightest_; } ///< largest minimum/bound: 1 would be tight
  [[nodiscard]] double fall() const { return (first_ - last_) / (first_ - lowest_); }

private:
  ExactSolver<Quadratic<double>> exact_;
  SufficientSteps steps_;
  double lowest_;
  double first_ = 0.0;
  double last_ = 0.0;
  double smallest_ = 0.0;
  double tightest_ = 0.0;
  std::int64_t increases_ = 0;
  std::int64_t violations_ = 0;
  Vector scratch_;
};

QuadraticSettings random_settings(std::mt19937_64 &generator) {
  std::uniform_int_distribution<Index> size(2, 24);
  std::uniform_real_distribution<double> log_condition(0.0, 1.5);
  std::uniform_real_distribution<double> coupling(0.1, 1.0);
  QuadraticSettings settings;
  settings.n = size(generator);
  settings.m = size(generator);
  settings.condition = std::pow(10.0, log_condition(generator));
  settings.upper_condition = std::pow(10.0, log_condition(generator));
  settings.coupling = coupling(generator);
  settings.seed = generator();
  return settings;
}

void strongly_convex(Experiment &result, const Settings &settings) {
  constexpr std::int64_t iterations = 1000;
  std::mt19937_64 generator(settings.seed);
  std::uniform_real_distribution<double> fraction(0.1, 1.0);
  std::int64_t checked = 0;
  std::int64_t increases = 0;
  std::int64_t violations = 0;
  double tightest = 0.0;
  std::vector<double> falls;
  for (; checked < settings.problems && !settings.interrupted(); ++checked) {
    const auto problem = random_settings(generator).generate<double>();
    const auto steps = sufficient_steps(problem.constants(), fraction(generator));
    State<Vector> state = problem.start();
    fill_normal(generator, state.x);
    fill_normal(generator, state.y);
    LyapunovWatch watch(problem, state, steps, problem.answer()->value);
    Monitor<Vector> monitor;
    monitor.observers = {&watch};
    const Summary summary =
        solve(problem, Bagdc{.alpha = steps.alpha, .beta = steps.beta, .eta = steps.eta, .dual = DualStep::constant},
              state, {.max_iterations = iterations}, monitor);
    increases += watch.increases() + (summary.failed() ? 1 : 0);
    violations += watch.violations();
    tightest = std::max(tightest, watch.tightest());
    falls.push_back(watch.fall());
  }
  if (checked < settings.problems) {
    result.interrupted = true;
    return;
  }
  std::sort(falls.begin(), falls.end());
  report::Table table({"Theorem 3.3", "value"});
  table.add({"random problems", std::to_string(checked)});
  table.add({"steps in each", std::to_string(iterations)});
  table.add({"increases of V_k", std::to_string(increases)});
  table.add({"violations of the bound on min‖∇φ‖²", std::to_string(violations)});
  table.add({"largest min‖∇φ‖² / bound", short_number(tightest)});
  table.add({"share of V_0 − φ_min gone, median", short_number(falls[falls.size() / 2])});
  result.tables.push_back(table.text());
  result.claim("rates.descent", "V_k does not increase", "Theorem 3.3: non-increasing",
               fmt::format("{} increases in {} problems of {} steps", increases, checked, iterations), increases == 0);
  result.claim("rates.bound", "min‖∇φ(x_k)‖² stays below 2(V_0 − φ_min)/(α(K+1))", "Theorem 3.3: O(1/K)",
               fmt::format("{} violations in {} problems", violations, checked), violations == 0);
}

/// The three quantities of Theorem 3.1 and of the KKT rate, as running minima.
template <AggregatedProblem P> class AggregatedWatch final : public Observer<Vector> {
public:
  struct Row {
    std::int64_t iteration;
    double hypergradient; ///< min‖∇φ_μ(x_k)‖²
    double lower;         ///< min‖y_k − y*_μ(x_k)‖²
    double kkt;           ///< min KKT(x_k, y_k, v_k)
  };

  AggregatedWatch(const P &problem, double lambda) : problem_(&problem), lambda_(lambda), kkt_(problem) {}

  void observe(const Progress<Vector> &progress) override {
    const Aggregated<P> aggregated(*problem_, progress.steps.mu, lambda_);
    ExactSolver<Aggregated<P>> exact(aggregated);
    const auto &at = exact.at(progress.state.x, progress.state.y);
    best_.iteration = progress.iteration;
    best_.hypergradient = std::min(best_.hypergradient, at.hypergradient.squaredNorm());
    best_.lower = std::min(best_.lower, (progress.state.y - at.y).squaredNorm());
    best_.kkt = std::min(best_.kkt, kkt_.at(progress.state.x, progress.state.y, progress.state.v).squared());
    rows_.push_back(best_);
  }

  [[nodiscard]] const std::vector<Row> &rows() const { return rows_; }

private:
  const P *problem_;
  double lambda_;
  KktResidual<P> kkt_;
  Row best_{0, infinity, infinity, infinity};
  std::vector<Row> rows_;
};

/// How the constant of quantity = O(g) behaves: its largest value early and later.
struct Constant {
  double early = 0.0;
  double late = 0.0;

  [[nodiscard]] bool bounded() const { return late <= early; }
};

template <class Rows, class Quantity, class Rate>
Constant constant_of(const Rows &rows, const Quantity &quantity, const Rate &rate) {
  constexpr std::int64_t settled = 1000;
  Constant constant;
  for (const auto &row : rows) {
    if (row.iteration < 10) {
      continue;
    }
    const double ratio = quantity(row) / rate(static_cast<double>(row.iteration));
    double &largest = row.iteration <= settled ? constant.early : constant.late;
    largest = std::max(largest, ratio);
  }
  return constant;
}

struct AggregatedCase {
  std::string name;
  bool licq;
  Bagdc solver;
};

template <AggregatedProblem P>
void merely_convex(Experiment &result, const P &problem, const AggregatedCase &which, report::Table &table,
                   const Settings &settings) {
  constexpr std::int64_t iterations = 100'000;
  const double p = which.solver.mu_decay;
  AggregatedWatch<P> watch(problem, which.solver.lambda);
  Monitor<Vector> monitor;
  monitor.observers = {&watch};
  monitor.cadence = {.every = 1, .growth = 0.03};
  Series series{.name = which.name,
                .solver = "bagdc:schedule=theorem",
                .summary = {},
                .state = problem.start(),
                .metric_names = {"hypergradient-squared", "lower-squared", "kkt-squared"},
                .rows = {},
                .extra = {}};
  series.summary = solve(problem, which.solver, series.state,
                         {.max_iterations = iterations, .interrupt = settings.interrupt}, monitor);
  for (const auto &row : watch.rows()) {
    series.rows.push_back({row.iteration, 0.0, 0.0, {}, {row.hypergradient, row.lower, row.kkt}});
  }
  if (settings.interrupted()) {
    result.interrupted = true;
    return;
  }
  const auto rate_x = [p](double k) { return std::log(k) / std::pow(k, 1.0 - 11.0 * p); };
  const auto rate_y = [p](double k) { return std::log(k) / std::pow(k, 1.0 - p); };
  const auto rate_kkt = [&](double k) { return std::max(rate_x(k), std::pow(k, -2.0 * p)); };
  const auto &rows = watch.rows();
  const Constant x = constant_of(
      rows, [](const auto &row) { return row.hypergradient; }, rate_x);
  const Constant y = constant_of(
      rows, [](const auto &row) { return row.lower; }, rate_y);
  const Constant kkt = constant_of(
      rows, [](const auto &row) { return row.kkt; }, rate_kkt);
  const auto add = [&](const std::string &quantity, const Constant &constant, double at_end) {
    table.add({fmt::format("{}: {}", which.name, quantity), short_number(at_end), short_number(constant.early),
               short_number(constant.late), constant.bounded() ? "yes" : "no"});
  };
  add("min‖∇φ_μ‖²", x, rows.back().hypergradient);
  add("min‖y − y*_μ‖²", y, rows.back().lower);
  add("min KKT", kkt, rows.back().kkt);
  const auto claim = [&](const std::string &id, const std::string &text, const std::string &paper,
                         const Constant &constant) {
    result.claim(
        id, fmt::format("{}: {}", which.name, text), paper,
        fmt::format("constant {} up to step 1000, {} after", short_number(constant.early), short_number(constant.late)),
        !series.summary.failed() && constant.bounded());
  };
  claim("rates.theorem31.x", "min‖∇φ_μ‖² = O(ln K/K^{1−11p})", "Theorem 3.1", x);
  claim("rates.theorem31.y", "min‖y − y*_μ‖² = O(ln K/K^{1−p})", "Theorem 3.1", y);
  if (which.licq) {
    claim("rates.kkt", "min KKT = O(max{ln K/K^{1−11p}, K^{−2p}})", "Theorem 3.2, with LICQ", kkt);
  }
  const std::array<std::string, 3> titles{"min‖∇φ_μ‖²", "min‖y − y*_μ‖²", "min KKT"};
  if (result.figure.panels.empty()) {
    for (const auto &title : titles) {
      result.figure.panels.push_back({.title = title, .x_label = "K", .y_label = title, .log_x = true, .curves = {}});
    }
  }
  for (std::size_t i = 0; i < titles.size(); ++i) {
    auto curve = series.curve(series.metric_names[i]);
    curve.label = which.name;
    result.figure.panels[i].curves.push_back(std::move(curve));
  }
  result.series.push_back(std::move(series));
}

void add_rate_curves(Experiment &result, double p) {
  if (result.figure.panels.size() < 3) {
    return;
  }
  const std::array<std::string, 3> labels{"ln K/K^{1−11p}", "ln K/K^{1−p}", "max{ln K/K^{1−11p}, K^{−2p}}"};
  for (std::size_t i = 0; i < labels.size(); ++i) {
    report::Curve bound{.label = labels[i], .x = {}, .y = {}, .dashed = true};
    for (double k = 10.0; k <= 1e5; k *= 1.2) {
      const double x_rate = std::log(k) / std::pow(k, 1.0 - 11.0 * p);
      const double y_rate = std::log(k) / std::pow(k, 1.0 - p);
      bound.x.push_back(k);
      bound.y.push_back(i == 0 ? x_rate : i == 1 ? y_rate : std::max(x_rate, std::pow(k, -2.0 * p)));
    }
    result.figure.panels[i].curves.push_back(std::move(bound));
  }
}

} // namespace

Experiment rates(const Settings &settings) {
  constexpr double p = 0.05;
  const Bagdc schedule{.alpha = 204.8,
                       .beta = 0.5,
                       .eta = 8.0,
                       .dual = DualStep::constant,
                       .mu = 0.5,
                       .mu_decay = p,
                       .schedule = Schedule::theorem};
  Experiment result{
      .name = "rates",
      .title = std::string(entries[4].title),
      .options =
          {{"problems", settings.problems}, {"p", p}, {"mu", 0.5}, {"alpha", 204.8}, {"eta", 8.0}, {"beta", 0.5}},
      .seed = settings.seed,
      .series = {},
      .claims = {},
      .figure = {.title = "Running minima under Theorem 3.1's schedule", .panels = {}, .columns = 3},
      .tables = {}};
  strongly_convex(result, settings);
  report::Table table(
      {"Theorem 3.1 and the KKT rate", "at K = 1e5", "constant to K = 1e3", "constant after", "bounded"});
  constexpr int with_licq = 5;
  for (int i = 0; i < with_licq && !result.interrupted; ++i) {
    QuadraticSettings flat{
        .n = 12, .m = 10, .condition = 5.0, .upper_condition = 5.0, .coupling = 1.0, .null_space = 3};
    flat.seed = settings.seed + static_cast<std::uint64_t>(i);
    merely_convex(result, flat.generate<double>(), {fmt::format("LICQ, problem {}", i + 1), true, schedule}, table,
                  settings);
  }
  if (!result.interrupted) {
    merely_convex(result, MultipleMinimizers<double>(10), {"no LICQ (Figure 4's)", false, schedule}, table, settings);
  }
  result.tables.push_back(table.text());
  add_rate_curves(result, p);
  return result;
}

} // namespace duplex::reproduce
