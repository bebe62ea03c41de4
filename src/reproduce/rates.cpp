// What the theorems promise, on random problems.
//
// Theorem 3.3 (f strongly convex in y): with the sufficient steps of lyapunov.hpp, V_k does
// not increase and min_{k≤K}‖∇φ(x_k)‖² ≤ 2(V_0 − φ_min)/(α(K+1)).
//
// Theorem 3.1 and the KKT rate (f merely convex, F strongly convex in y): with
// μ_k = μ̄(k+1)^−p, p < 1/11, the running minima of ‖∇φ_μ‖², ‖y − y*_μ‖² and of the KKT
// residual are O(ln K/K^{1−11p}), O(ln K/K^{1−p}) and O(max{ln K/K^{1−11p}, K^{−2p}}). A
// bound O(g(K)) is checked by its constant: quantity/g must not be larger in the last decade of K
// than in the one before.

#include "report/table.hpp"
#include "reproduce/quadratic_runs.hpp"
#include "reproduce/reproduce.hpp"

#include <duplex/measure/lyapunov.hpp>
#include <duplex/measure/residual.hpp>
#include <duplex/problem/aggregate.hpp>
#include <duplex/problems/multiple_minimizers.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <random>

namespace duplex::reproduce {

namespace in_rates {
namespace {

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
    increases_ += value <= last_ + rounding ? 0 : 1; // so that NaN counts
    last_ = value;
    smallest_ = std::min(smallest_, at.hypergradient.squaredNorm());
    const double bound = 2.0 * (first_ - lowest_) / (steps_.alpha * static_cast<double>(progress.iteration + 1));
    violations_ += smallest_ <= bound ? 0 : 1;
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

/// The rates g(K) of the three quantities.
struct Rates {
  double p;

  [[nodiscard]] double hypergradient(double k) const { return std::log(k) / std::pow(k, 1.0 - 11.0 * p); }
  [[nodiscard]] double lower(double k) const { return std::log(k) / std::pow(k, 1.0 - p); }
  [[nodiscard]] double kkt(double k) const { return std::max(hypergradient(k), std::pow(k, -2.0 * p)); }
};

/// How quantity = O(g) shows: the largest quantity/g over two successive decades, and how steeply
/// the quantity falls over the last one, as an exponent of K.
struct Decay {
  double before = 0.0;
  double last = 0.0;
  double exponent = 0.0;
  double at_end = infinity;

  [[nodiscard]] bool bounded() const { return last <= before; }
};

template <class Rows, class Quantity, class Rate>
Decay decay_of(const Rows &rows, const Quantity &quantity, const Rate &rate) {
  constexpr double first_decade = 1e3;
  constexpr double last_decade = 1e4;
  Decay decay;
  double at_start = 0.0;
  double start = 0.0;
  for (const auto &row : rows) {
    const auto k = static_cast<double>(row.iteration);
    const double value = quantity(row);
    if (k < first_decade) {
      continue;
    }
    double &largest = k <= last_decade ? decay.before : decay.last;
    largest = value / rate(k) <= largest ? largest : value / rate(k); // NaN is kept, and is not bounded
    if (k <= last_decade) {
      at_start = value;
      start = k;
    }
    decay.at_end = value;
    decay.exponent = std::log(value / at_start) / std::log(k / start);
  }
  return decay;
}

struct Decays {
  std::string name;
  Decay hypergradient;
  Decay lower;
  Decay kkt;
  bool finished = false;
};

std::string spec_of(const Bagdc &solver) {
  std::string spec(Bagdc::name);
  for (const auto &info : catalog::describe(solver)) {
    spec += ':';
    spec += info.name;
    spec += '=';
    spec += info.value;
  }
  return spec;
}

template <AggregatedProblem P>
Decays merely_convex(Experiment &result, const P &problem, const std::string &name, const Bagdc &solver,
                     const Settings &settings) {
  constexpr std::int64_t iterations = 100'000;
  AggregatedWatch<P> watch(problem, solver.lambda);
  Monitor<Vector> monitor;
  monitor.observers = {&watch};
  monitor.cadence = {.every = 1, .growth = 0.03};
  Series series{.name = name,
                .solver = spec_of(solver),
                .summary = {},
                .state = problem.start(),
                .metric_names = {"hypergradient-squared", "lower-squared", "kkt-squared"},
                .rows = {},
                .extra = {}};
  series.summary =
      solve(problem, solver, series.state, {.max_iterations = iterations, .interrupt = settings.interrupt}, monitor);
  constexpr double not_measured = std::numeric_limits<double>::quiet_NaN();
  for (const auto &row : watch.rows()) {
    series.rows.push_back({row.iteration, not_measured, not_measured, {}, {row.hypergradient, row.lower, row.kkt}});
  }
  const Rates rate{solver.mu_decay};
  const auto &rows = watch.rows();
  Decays decays{
      name,
      decay_of(
          rows, [](const auto &row) { return row.hypergradient; }, [&](double k) { return rate.hypergradient(k); }),
      decay_of(
          rows, [](const auto &row) { return row.lower; }, [&](double k) { return rate.lower(k); }),
      decay_of(
          rows, [](const auto &row) { return row.kkt; }, [&](double k) { return rate.kkt(k); }),
      series.summary.termination == Termination::max_iterations};
  result.series.push_back(std::move(series));
  return decays;
}

constexpr std::array<const char *, 3> quantity_titles{"min‖∇φ_μ‖²", "min‖y − y*_μ‖²", "min KKT"};

void draw(Experiment &result, double p) {
  const Rates rate{p};
  for (std::size_t i = 0; i < quantity_titles.size(); ++i) {
    report::Panel panel{
        .title = quantity_titles[i], .x_label = "K", .y_label = quantity_titles[i], .log_x = true, .curves = {}};
    constexpr std::size_t shown = 6;
    for (std::size_t j = 0; j < result.series.size(); ++j) {
      if (j < shown || j + 1 == result.series.size()) {
        panel.curves.push_back(result.series[j].curve(result.series[j].metric_names[i]));
      }
    }
    const std::array<const char *, 3> labels{"ln K/K^{1−11p}", "ln K/K^{1−p}", "max{ln K/K^{1−11p}, K^{−2p}}"};
    report::Curve bound{.label = labels[i], .x = {}, .y = {}, .dashed = true};
    for (double k = 10.0; k <= 1e5; k *= 1.2) {
      bound.x.push_back(k);
      bound.y.push_back(i == 0 ? rate.hypergradient(k) : i == 1 ? rate.lower(k) : rate.kkt(k));
    }
    panel.curves.push_back(std::move(bound));
    result.figure.panels.push_back(std::move(panel));
  }
}

void claim_rates(Experiment &result, const std::vector<Decays> &all, double p) {
  report::Table table(
      {"Theorem 3.1 and the KKT rate: quantity/rate", "at K = 1e5", "largest in 1e3…1e4", "in 1e4…1e5", "falls as K^"});
  std::size_t x_bounded = 0;
  std::size_t y_bounded = 0;
  std::size_t kkt_falls = 0;
  std::size_t with_licq = 0;
  double slowest = -infinity;
  double steepest = infinity;
  for (const auto &decays : all) {
    const auto add = [&](const char *quantity, const Decay &decay) {
      table.add({fmt::format("{}: {}", decays.name, quantity), short_number(decay.at_end), short_number(decay.before),
                 short_number(decay.last), short_number(decay.exponent)});
    };
    add(quantity_titles[0], decays.hypergradient);
    add(quantity_titles[1], decays.lower);
    add(quantity_titles[2], decays.kkt);
    x_bounded += decays.finished && decays.hypergradient.bounded() ? 1 : 0;
    y_bounded += decays.finished && decays.lower.bounded() ? 1 : 0;
    if (&decays != &all.back()) { // the last is Figure 4's, where LICQ fails
      ++with_licq;
      constexpr double stalled = -0.02; // as an exponent of K
      kkt_falls += decays.finished && decays.kkt.exponent < stalled ? 1 : 0;
      slowest = slowest >= decays.kkt.exponent ? slowest : decays.kkt.exponent;
      steepest = std::min(steepest, decays.kkt.exponent);
    }
  }
  result.tables.push_back(table.text());
  const auto of = [](std::size_t count, std::size_t total) { return fmt::format("{} of {} problems", count, total); };
  result.claim("rates.theorem31.x", "min‖∇φ_μ‖²/(ln K/K^{1−11p}) does not grow over the last decade", "Theorem 3.1",
               of(x_bounded, all.size()), x_bounded == all.size());
  result.claim("rates.theorem31.y", "min‖y − y*_μ‖²/(ln K/K^{1−p}) does not grow over the last decade", "Theorem 3.1",
               of(y_bounded, all.size()), y_bounded == all.size());
  result.claim(
      "rates.kkt",
      fmt::format("with LICQ, min KKT still falls in the last decade (the rate, K^−{}, is not resolved there: μ "
                  "has only come down to {:.2f})",
                  2.0 * p, 0.5 * std::pow(1e5, -p)),
      "O(max{ln K/K^{1−11p}, K^{−2p}})",
      fmt::format("{} fall; exponents from {} to {}", of(kkt_falls, with_licq), short_number(steepest),
                  short_number(slowest)),
      kkt_falls == with_licq);
}

} // namespace
} // namespace in_rates

Experiment rates(const Settings &settings) {
  using namespace in_rates;
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
      .title = std::string(title_of("rates")),
      .options =
          {{"problems", settings.problems}, {"p", p}, {"mu", 0.5}, {"alpha", 204.8}, {"eta", 8.0}, {"beta", 0.5}},
      .seed = settings.seed,
      .figure = {.title = "Running minima under Theorem 3.1's schedule", .panels = {}, .columns = 3}};
  strongly_convex(result, settings);
  std::mt19937_64 generator(settings.seed + 1);
  std::vector<Decays> all;
  constexpr int with_licq = 20;
  for (int i = 0; i < with_licq && !settings.interrupted(); ++i) {
    QuadraticSettings flat{
        .n = 12, .m = 10, .condition = 5.0, .upper_condition = 5.0, .coupling = 1.0, .null_space = 3};
    flat.seed = generator();
    all.push_back(
        merely_convex(result, flat.generate<double>(), fmt::format("LICQ, problem {}", i + 1), schedule, settings));
  }
  if (!settings.interrupted()) {
    all.push_back(merely_convex(result, MultipleMinimizers<double>(10), "no LICQ (Figure 4's)", schedule, settings));
  }
  result.interrupted = settings.interrupted();
  if (!result.interrupted) {
    claim_rates(result, all, p);
  }
  draw(result, p);
  return result;
}

} // namespace duplex::reproduce
