// F = ½‖x − y₂‖² + ½‖y₁ − e‖², f = ½‖y₁‖² − xᵀy₁: y₂ is free in the lower level. Methods
// that descend on f alone leave y₂ = c where it started. With ρ = 1 − (1 − β)^T they end at
//   RHG, warm start: (ρe + c)/(1 + ρ);  NS: the same with T = M;  RHG from y₁ = 0: (ρe + c)/(1 + ρ²)
//   CG with damping ε: (e + (1 + ε)c)/(2 + ε)
// while BAGDC with μ_k > 0 and BDA let the upper level choose, and reach e.

#include "report/table.hpp"
#include "reproduce/reproduce.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace duplex::reproduce {

namespace in_fig4 {
namespace {

using experiment::run_series;

constexpr Index n = 100;
constexpr double beta = 0.5;
constexpr std::int64_t inner = 10;
constexpr std::int64_t terms = 10;
constexpr double damping = 0.1;
constexpr std::array<double, 3> starts{0.01, 0.0, 0.5};

struct Method {
  std::string label;
  std::string spec;
  double ends_at; ///< every entry of x, in closed form
  double tolerance;
  std::int64_t iterations;
};

std::vector<Method> methods(double c) {
  const auto rho = [](std::int64_t steps) { return 1.0 - std::pow(1.0 - beta, static_cast<double>(steps)); };
  const double unrolled = rho(inner);
  const double series = rho(terms);
  return {
      {"BAGDC, practical", "bagdc:alpha=0.1:beta=0.5:mu=0.5:dual=adaptive", 1.0, 1e-2, 2000},
      {"BAGDC, Theorem 3.1", "bagdc:schedule=theorem:dual=constant:mu=0.5:mu-decay=0.05:alpha=204.8:eta=8:beta=0.5",
       1.0, 1e-2, 100'000},
      {"BDA", fmt::format("bda:alpha=0.1:beta={}:inner={}", beta, 40), 1.0, 1e-2, 2000},
      {"RHG", fmt::format("rhg:alpha=0.1:beta={}:inner={}", beta, inner), (unrolled + c) / (1.0 + unrolled), 1e-6,
       2000},
      {"CG, damped", fmt::format("cg:alpha=0.1:beta={}:inner={}:damping={}", beta, 100, damping),
       (1.0 + (1.0 + damping) * c) / (2.0 + damping), 1e-6, 2000},
      {"NS", fmt::format("ns:alpha=0.1:beta={}:inner={}:terms={}", beta, 100, terms), (series + c) / (1.0 + series),
       1e-6, 2000},
      {"BAGDC, μ = 0", "bagdc:alpha=0.1:beta=0.5:dual=constant:eta=1", (1.0 + c) / 2.0, 1e-6, 2000},
  };
}

} // namespace
} // namespace in_fig4

Experiment fig4(const Settings &settings) {
  using namespace in_fig4;
  Experiment result{.name = "fig4",
                    .title = std::string(title_of("fig4")),
                    .options = {{"n", n},
                                {"starts", starts},
                                {"beta", beta},
                                {"inner steps of RHG", inner},
                                {"terms of NS", terms},
                                {"damping of CG", damping}},
                    .seed = settings.seed,
                    .figure = {.title = "Many lower minimizers: only aggregation reaches the optimum", .panels = {}}};
  for (const double c : starts) {
    const auto problem = catalog::make_problem(fmt::format("multiple-minimizers:n={}:start={}", n, c))->make();
    report::Table table({fmt::format("start {} everywhere", c), "status", "x ends at", "closed form", "difference",
                         "F(x, y)", "steps to 1e-2", "time to 1e-2"});
    std::array<report::Panel, 4> panels{
        report::Panel{.title = "x over iterations",
                      .x_label = "iteration",
                      .y_label = "‖x − e‖/‖e‖",
                      .log_x = true,
                      .curves = {}},
        report::Panel{
            .title = "x over time", .x_label = "seconds", .y_label = "‖x − e‖/‖e‖", .log_x = true, .curves = {}},
        report::Panel{
            .title = "F over iterations", .x_label = "iteration", .y_label = "F(x, y)", .log_x = true, .curves = {}},
        report::Panel{
            .title = "‖d‖ over iterations", .x_label = "iteration", .y_label = "‖d‖", .log_x = true, .curves = {}}};
    for (const auto &method : methods(c)) {
      Series series = run_series({.problem = problem,
                                  .solver = method.spec,
                                  .name = fmt::format("start {}, {}", c, method.label),
                                  .options = {.max_iterations = method.iterations, .interrupt = settings.interrupt},
                                  .metrics = {"x-error", "upper", "direction"},
                                  .cadence = {.every = 1, .growth = 0.02}});
      const double ends_at = series.state.x.mean();
      const double difference = (series.state.x.array() - method.ends_at).abs().maxCoeff();
      series.extra.emplace_back("x", ends_at);
      series.extra.emplace_back("closed-form", method.ends_at);
      const auto arrived =
          std::find_if(series.rows.begin(), series.rows.end(), [](const auto &row) { return row.metrics[0] <= 1e-2; });
      const bool arrives = arrived != series.rows.end();
      table.add({method.label, series.status(), short_number(ends_at, 9), short_number(method.ends_at, 9),
                 short_number(difference), short_number(series.final_metric("upper"), 4),
                 arrives ? std::to_string(arrived->iteration) : "-", arrives ? duration_text(arrived->seconds) : "-"});
      if (c == starts.front()) {
        const std::array<std::pair<std::string_view, bool>, 4> shown{
            {{"x-error", false}, {"x-error", true}, {"upper", false}, {"direction", false}}};
        for (std::size_t i = 0; i < panels.size(); ++i) {
          panels[i].curves.push_back(series.curve(shown[i].first, shown[i].second));
          panels[i].curves.back().label = method.label;
        }
      }
      result.series.push_back(std::move(series));
      if (settings.interrupted()) {
        result.interrupted = true;
        break;
      }
      result.claim(fmt::format("fig4.end.{}.{}", c, method.label),
                   fmt::format("start {}: {} ends at its closed form within {}", c, method.label, method.tolerance),
                   method.ends_at == 1.0 ? "e, the optimum" : short_number(method.ends_at, 9),
                   fmt::format("{}, off by {}", short_number(ends_at, 9), short_number(difference)),
                   difference <= method.tolerance);
    }
    result.tables.push_back(table.text());
    if (c == starts.front()) {
      result.figure.panels.assign(panels.begin(), panels.end());
    }
    if (result.interrupted) {
      return result;
    }
  }
  const auto undamped = run_series({.problem = catalog::make_problem("multiple-minimizers")->make(),
                                    .solver = "cg",
                                    .name = "CG, undamped",
                                    .options = {.max_iterations = 100}});
  result.claim("fig4.singular", "CG without damping says that the system is singular instead of returning a number",
               "not in the paper", undamped.summary.message, undamped.summary.termination == Termination::step_failed);
  return result;
}

} // namespace duplex::reproduce
