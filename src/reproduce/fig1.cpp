// The counter-example with n = 100, z₀ = e, start 2e, α = .1: BAGDC with steps η of the
// multiplier from an eighth to twice the bound C_f = 1/L, with line searches, and NOSA.

#include "report/table.hpp"
#include "reproduce/reproduce.hpp"

#include <duplex/problems/counter_example.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

namespace duplex::reproduce {

namespace in_fig1 {
namespace {

using experiment::run_series;

constexpr Index n = 100;
constexpr double alpha = 0.1;
constexpr double tolerance = 1e-5;
constexpr std::array<double, 5> fractions_of_bound{0.125, 0.25, 0.5, 1.0, 2.0};

struct Instance {
  std::string name;
  std::string id;
  std::string problem;
  double beta;
  double bound; ///< C_f = 1/L
};

struct Method {
  std::string label;
  std::string spec;
};

std::vector<Method> methods(const Instance &instance) {
  const auto bagdc = [&](const std::string &dual) {
    return fmt::format("bagdc:alpha={}:beta={}:{}", alpha, instance.beta, dual);
  };
  std::vector<Method> all;
  for (const double fraction : fractions_of_bound) {
    const std::string label = fraction == 1.0 ? "η = C_f" : fmt::format("η = {} C_f", fraction);
    all.push_back({label, bagdc(fmt::format("dual=constant:eta={}", number_text(fraction * instance.bound)))});
  }
  all.push_back({"adaptive", bagdc("dual=adaptive")});
  all.push_back({"relaxed", bagdc("dual=relaxed")});
  all.push_back({"Polak–Ribière+", bagdc("dual=polak-ribiere")});
  all.push_back({"NOSA", fmt::format("nosa:alpha={}:beta={}", alpha, instance.beta)});
  return all;
}

/// The fastest of several runs without metrics: what the machine can do.
double best_seconds(const experiment::RunRequest &request) {
  constexpr int repetitions = 15;
  double best = infinity;
  for (int i = 0; i < repetitions; ++i) {
    best = std::min(best, run_series(request).summary.seconds);
  }
  return best;
}

Series run_method(const experiment::Problem &problem, const Instance &instance, const Method &method,
                  const Settings &settings) {
  const Options stop{.max_iterations = 500'000, .direction_tolerance = tolerance, .interrupt = settings.interrupt};
  Series series = run_series({.problem = problem,
                              .solver = method.spec,
                              .name = instance.name + ", " + method.label,
                              .options = stop,
                              .metrics = {"direction", "x-error", "hypergradient-error"},
                              .cadence = {.every = 1, .growth = 0.005}});
  if (!series.summary.failed()) {
    series.summary.seconds =
        best_seconds({.problem = problem, .solver = method.spec, .name = method.label, .options = stop});
  }
  return series;
}

std::string instance_table(const Instance &instance, const std::vector<Method> &all,
                           const std::map<std::string, Series> &results) {
  report::Table table(
      {instance.name, "status", "steps to ‖d‖ ≤ 1e-5", "time", "per step", "x error", "Hessian products"});
  for (const auto &method : all) {
    const auto found = results.find(method.label);
    if (found == results.end()) {
      continue;
    }
    const auto &series = found->second;
    const bool failed = series.summary.failed();
    table.add({method.label, series.status(), failed ? "-" : std::to_string(series.summary.iterations),
               failed ? "-" : duration_text(series.summary.seconds),
               failed ? "-" : duration_text(series.summary.seconds_per_step()),
               failed ? "-" : short_number(series.final_metric("x-error"), 4),
               std::to_string(series.summary.counters.hessian_products)});
  }
  return table.text();
}

/// A run that collapses would squeeze all others into a corner: its curve leaves at the top.
void cut_collapse(report::Curve &curve) {
  constexpr double top = 1e2;
  const auto above = std::find_if(curve.y.begin(), curve.y.end(), [](double value) { return !(value <= top); });
  const auto kept = static_cast<std::size_t>(above - curve.y.begin());
  curve.x.resize(kept);
  curve.y.resize(kept);
}

report::Panel curves(const std::string &instance, const std::vector<Method> &all,
                     const std::map<std::string, Series> &results, const std::string &metric,
                     const std::string &label) {
  report::Panel panel{.title = instance, .x_label = "iteration", .y_label = label, .log_x = true, .curves = {}};
  for (const auto &method : all) {
    if (const auto found = results.find(method.label); found != results.end()) {
      auto curve = found->second.curve(metric);
      curve.label = method.label;
      cut_collapse(curve);
      panel.curves.push_back(std::move(curve));
    }
  }
  return panel;
}

report::Panel time_bars(const std::string &instance, const std::vector<Method> &all,
                        const std::map<std::string, Series> &results) {
  report::Panel panel{
      .title = instance + ": time to ‖d‖ ≤ 1e-5", .x_label = "", .y_label = "microseconds", .curves = {}};
  report::Curve overall{.label = "overall time (µs)", .x = {}, .y = {}};
  report::Curve average{.label = "time per step (µs)", .x = {}, .y = {}};
  for (const auto &method : all) {
    const auto found = results.find(method.label);
    if (found != results.end() && found->second.summary.converged()) {
      panel.categories.push_back(method.label);
      overall.y.push_back(1e6 * found->second.summary.seconds);
      average.y.push_back(1e6 * found->second.summary.seconds_per_step());
    }
  }
  panel.curves = {std::move(overall), std::move(average)};
  return panel;
}

/// Steps that Algorithm 1 takes on A = I by hand: all entries are alike, so that it is a
/// recursion of three numbers. The adaptive rule is η = 1 there.
std::int64_t steps_by_hand(double eta) {
  double x = 2.0;
  double y = 2.0;
  double v = 0.0;
  std::int64_t steps = 0;
  for (double d = infinity; !(std::abs(d) * std::sqrt(static_cast<double>(n)) <= tolerance); ++steps) {
    y -= 0.2 * (y - x);
    v += eta * (y - v);
    d = x - 1.0 + v;
    x -= alpha * d;
  }
  return steps;
}

void claims_on_identity(Experiment &result, const std::map<std::string, Series> &at) {
  const std::map<std::string, std::int64_t> expected{{"η = 0.125 C_f", steps_by_hand(0.125)},
                                                     {"η = 0.25 C_f", steps_by_hand(0.25)},
                                                     {"η = 0.5 C_f", steps_by_hand(0.5)},
                                                     {"η = C_f", steps_by_hand(1.0)},
                                                     {"adaptive", steps_by_hand(1.0)}};
  const std::array<const char *, 4> expected_order{"η = 0.125 C_f", "η = 0.25 C_f", "η = 0.5 C_f", "η = C_f"};
  std::string wanted;
  std::string found;
  bool same = true;
  for (const auto &[label, count] : expected) {
    const auto &summary = at.at(label).summary;
    wanted += fmt::format("{}{}: {}", wanted.empty() ? "" : ", ", label, count);
    found += fmt::format("{}{}: {}", found.empty() ? "" : ", ", label, summary.iterations);
    same &= summary.converged() && summary.iterations == count;
  }
  result.claim("fig1.iterations", "steps to ‖d‖ ≤ 1e-5 on A = I are those of Algorithm 1 by hand",
               "no numbers; by hand " + wanted, found, same);
  const auto &twice = at.at("η = 2 C_f").summary;
  result.claim("fig1.smaller", "on A = I a smaller η converges more slowly", "smaller η leads to lower speeds", found,
               std::is_sorted(expected_order.begin(), expected_order.end(), [&](const auto *a, const auto *b) {
                 return at.at(a).summary.iterations > at.at(b).summary.iterations;
               }));
  result.claim("fig1.collapse", "η outside the bound collapses after a while", "collapses",
               fmt::format("{} at step {}", name_of(twice.termination), twice.iterations),
               twice.termination == Termination::diverged);
  const double nosa = at.at("NOSA").final_metric("x-error");
  result.claim("fig1.nosa", "NOSA converges to z₀/(1+β), a relative error of (1−β)/(1+β)", "0.6667",
               short_number(nosa, 4), std::abs(nosa - 2.0 / 3.0) < 1e-4);
}

void claims_everywhere(Experiment &result, const std::string &name, const std::string &id,
                       const std::map<std::string, Series> &at) {
  const auto &best = at.at("η = C_f").summary;
  bool fastest = best.converged();
  std::string counts;
  for (const auto *label : {"η = 0.125 C_f", "η = 0.25 C_f", "η = 0.5 C_f"}) {
    const auto &summary = at.at(label).summary;
    fastest &= summary.converged() && summary.iterations > best.iterations;
    counts += fmt::format("{}, ", summary.iterations);
  }
  result.claim("fig1.order." + id, name + ": every η within the bound converges, and η = C_f the fastest",
               "C_f has the best convergence speed", fmt::format("{}against {} steps", counts, best.iterations),
               fastest);
  const auto &adaptive = at.at("adaptive").summary;
  result.claim("fig1.adaptive." + id, name + ": adaptive η needs no more steps than η = C_f",
               "adaptive second only to C_f", fmt::format("{} against {} steps", adaptive.iterations, best.iterations),
               adaptive.converged() && adaptive.iterations <= best.iterations);
  const double first = at.at("η = C_f").final_metric("x-error");
  const double second = at.at("adaptive").final_metric("x-error");
  const double worst = first >= second ? first : second; // NaN stays NaN, and fails
  result.claim("fig1.answer." + id, name + ": BAGDC ends at x*", "x error near 0", short_number(worst), worst < 1e-4);
}

} // namespace
} // namespace in_fig1

Experiment fig1(const Settings &settings) {
  using namespace in_fig1;
  const std::vector<Instance> instances{
      {"A = I", "identity", fmt::format("counter-example:n={}", n), 0.2, 1.0},
      {"cond A = 10", "condition10",
       fmt::format("counter-example:n={}:matrix=dense:condition=10:seed={}", n, settings.seed), 0.1, 0.1},
      {"cond A = 100", "condition100",
       fmt::format("counter-example:n={}:matrix=dense:condition=100:seed={}", n, settings.seed), 0.01, 0.01}};
  Experiment result{
      .name = "fig1",
      .title = std::string(title_of("fig1")),
      .options = {{"n", n},
                  {"z0", "e"},
                  {"start", "x0 = y0 = 2e, v0 = 0"},
                  {"alpha", alpha},
                  {"beta", "0.2 for A = I, else 1/L"},
                  {"C_f", "1/L"},
                  {"spectrum", "log-spaced from 1 to the condition number"},
                  {"direction_tolerance", tolerance}},
      .seed = settings.seed,
      .figure = {.title = "BAGDC and NOSA under different steps of the multiplier", .panels = {}, .columns = 3}};
  std::vector<report::Panel> errors;
  std::vector<report::Panel> bars;
  for (const auto &instance : instances) {
    const auto problem = catalog::make_problem(instance.problem)->make();
    const auto all = methods(instance);
    std::map<std::string, Series> at;
    for (const auto &method : all) {
      if (!settings.interrupted()) {
        at.emplace(method.label, run_method(problem, instance, method, settings));
        result.series.push_back(at.at(method.label));
      }
    }
    result.interrupted = settings.interrupted();
    result.tables.push_back(instance_table(instance, all, at));
    result.figure.panels.push_back(curves(instance.name, all, at, "direction", "‖d‖"));
    errors.push_back(curves(instance.name, all, at, "x-error", "‖x − x*‖ / ‖x*‖"));
    bars.push_back(time_bars(instance.name, all, at));
    if (result.interrupted) {
      break;
    }
    if (instance.bound == 1.0) {
      claims_on_identity(result, at);
    } else {
      const auto &adaptive = at.at("adaptive").summary;
      const auto &relaxed = at.at("relaxed").summary;
      result.claim("fig1.relaxed." + instance.id, instance.name + ": a relaxed line search beats the exact one",
                   "not in the paper", fmt::format("{} against {} steps", relaxed.iterations, adaptive.iterations),
                   relaxed.converged() && relaxed.iterations < adaptive.iterations);
    }
    claims_everywhere(result, instance.name, instance.id, at);
  }
  result.figure.panels.insert(result.figure.panels.end(), errors.begin(), errors.end());
  result.figure.panels.insert(result.figure.panels.end(), bars.begin(), bars.end());
  return result;
}

} // namespace duplex::reproduce
