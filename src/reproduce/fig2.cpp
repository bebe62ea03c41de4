// The counter-example with n = 100: RHG over its inner steps T, CG over its residual ε,
// NS over its terms M, each against BAGDC with its single step. Errors of the direction
// and of x, and the plateau that each reaches beside its closed form.

#include "report/table.hpp"
#include "reproduce/closed_forms.hpp"
#include "reproduce/reproduce.hpp"

#include <duplex/numerics/matrices.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace duplex::reproduce {

namespace in_fig2 {
namespace {

using experiment::run_series;

constexpr Index n = 100;
constexpr double alpha = 0.1;
constexpr std::int64_t iterations = 600;
constexpr double rounding = 1e-13; ///< relative errors below this are rounding
constexpr std::array<std::int64_t, 5> lengths{1, 5, 10, 20, 100};
constexpr std::array<double, 4> residuals{0.5, 0.1, 1e-2, 1e-4};

struct Instance {
  std::string name;
  std::string id;
  std::string problem;
  Eigen::MatrixXd matrix;
  double beta;
  double smallest; ///< eigenvalue of A
};

struct Variant {
  std::string family;
  std::string label;
  std::string spec;
  double closed_form; ///< the plateau of x's relative error, or its bound
  bool is_bound;
};

std::vector<Variant> variants(const Instance &instance) {
  const CounterExampleForms forms(instance.matrix, Eigen::VectorXd::Ones(n));
  const std::string steps = fmt::format("alpha={}:beta={}", alpha, instance.beta);
  std::vector<Variant> all;
  for (const auto inner : lengths) {
    all.push_back({"RHG", fmt::format("RHG T = {}", inner), fmt::format("rhg:{}:inner={}", steps, inner),
                   forms.relative_error(inner, instance.beta), false});
  }
  for (const double epsilon : residuals) {
    // At its limit x̄ the error of v is at most ε‖x̄‖/σ; φ is 1-strongly convex, so that of x is too.
    all.push_back({"CG", fmt::format("CG ε = {}", epsilon),
                   fmt::format("cg:{}:inner=100:epsilon={}:linear-steps=100", steps, epsilon),
                   epsilon / instance.smallest, true});
  }
  for (const auto terms : lengths) {
    all.push_back({"NS", fmt::format("NS M = {}", terms), fmt::format("ns:{}:inner=100:terms={}", steps, terms),
                   forms.relative_error(terms, instance.beta), false});
  }
  return all;
}

Series run_one(const experiment::Problem &problem, const std::string &name, const std::string &spec,
               const Settings &settings) {
  return run_series({.problem = problem,
                     .solver = spec,
                     .name = name,
                     .options = {.max_iterations = iterations, .interrupt = settings.interrupt},
                     .metrics = {"hypergradient-error", "x-error"},
                     .cadence = {.every = 1, .growth = 0.01}});
}

void add_panels(Experiment &result, const Instance &instance, const std::vector<Variant> &all,
                const std::vector<Series> &runs, const Series &bagdc) {
  for (const auto *metric : {"hypergradient-error", "x-error"}) {
    for (const auto *family : {"RHG", "CG", "NS"}) {
      report::Panel panel{.title = fmt::format("{}, {}", family, instance.name),
                          .x_label = "iteration",
                          .y_label = std::string_view(metric) == "x-error" ? "‖x − x*‖ / ‖x*‖" : "‖d − ∇φ‖",
                          .curves = {}};
      panel.curves.push_back(bagdc.curve(metric));
      panel.curves.back().label = "BAGDC";
      for (std::size_t i = 0; i < runs.size(); ++i) {
        if (all[i].family == family) {
          panel.curves.push_back(runs[i].curve(metric));
          panel.curves.back().label = all[i].label;
        }
      }
      result.figure.panels.push_back(std::move(panel));
    }
  }
}

void claim_plateaus(Experiment &result, const Instance &instance, const std::vector<Variant> &all,
                    const std::vector<Series> &runs, double bagdc_error) {
  double worst = 0.0;
  double lowest = infinity;
  bool bounded = true;
  bool finished = true;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const double error = runs[i].final_metric("x-error");
    finished &= std::isfinite(error);
    if (error > rounding) {
      lowest = std::min(lowest, error);
    }
    if (all[i].is_bound) {
      bounded &= error <= runs[i].final_metric("bound");
    } else if (all[i].closed_form > rounding) {
      worst = std::max(worst, std::abs(error / all[i].closed_form - 1.0));
    }
  }
  result.claim("fig2.plateaus." + instance.id, instance.name + ": RHG and NS end at their closed forms",
               instance.smallest == 1.0 && instance.beta == 0.2 ? "q/(2 − q), q = (1 − β)^T" : "(I + S_T)⁻¹z₀",
               fmt::format("largest relative difference {}", short_number(worst)), finished && worst < 0.01);
  result.claim("fig2.cg." + instance.id, instance.name + ": CG ends within ε/σ", "its bound",
               bounded ? "within" : "outside", finished && bounded);
  result.claim(
      "fig2.bagdc." + instance.id,
      instance.name + ": BAGDC with one lower step ends below every plateau shown (an error at rounding is none)",
      "best convergence results", fmt::format("{} against {} at best", short_number(bagdc_error), short_number(lowest)),
      finished && std::isfinite(lowest) && bagdc_error < lowest);
}

} // namespace
} // namespace in_fig2

Experiment fig2(const Settings &settings) {
  using namespace in_fig2;
  const auto dense = DenseSpd<double>::with_spectrum(log_spaced_spectrum<double>(n, 10.0, 1.0), settings.seed);
  const std::vector<Instance> instances{
      {"A = I", "identity", fmt::format("counter-example:n={}", n), Eigen::MatrixXd::Identity(n, n), 0.2, 1.0},
      {"cond A = 10", "condition10",
       fmt::format("counter-example:n={}:matrix=dense:condition=10:seed={}", n, settings.seed), dense.entries(), 0.1,
       1.0}};
  Experiment result{
      .name = "fig2",
      .title = std::string(title_of("fig2")),
      .options = {{"n", n},
                  {"alpha", alpha},
                  {"beta", "0.2 for A = I, else 1/L"},
                  {"inner steps of CG and NS", 100},
                  {"iterations", iterations},
                  {"bagdc", "adaptive"}},
      .seed = settings.seed,
      .figure = {.title = "Accuracy of the lower level against BAGDC's single step", .panels = {}, .columns = 3}};
  for (const auto &instance : instances) {
    const auto problem = catalog::make_problem(instance.problem)->make();
    const auto answer = problem.answer();
    const auto all = variants(instance);
    const Series bagdc = run_one(problem, instance.name + ", BAGDC",
                                 fmt::format("bagdc:alpha={}:beta={}", alpha, instance.beta), settings);
    std::vector<Series> runs;
    report::Table table(
        {instance.name, "x error at the end", "closed form", "‖d − ∇φ‖ at the end", "products per step"});
    const auto row = [&](const std::string &label, const Series &series, const std::string &closed_form) {
      const auto products = series.summary.counters.gradients_and_products();
      table.add({label, short_number(series.final_metric("x-error"), 4), closed_form,
                 short_number(series.final_metric("hypergradient-error"), 4),
                 short_number(static_cast<double>(products) / static_cast<double>(series.summary.iterations))});
    };
    for (const auto &variant : all) {
      if (settings.interrupted()) {
        break;
      }
      runs.push_back(run_one(problem, instance.name + ", " + variant.label, variant.spec, settings));
      const double limit =
          variant.is_bound ? variant.closed_form * runs.back().state.x.norm() / answer->x.norm() : variant.closed_form;
      runs.back().extra.emplace_back(variant.is_bound ? "bound" : "closed-form", limit);
      row(variant.label, runs.back(), (variant.is_bound ? "≤ " : "") + short_number(limit, 4));
    }
    row("BAGDC", bagdc, "0");
    result.interrupted = settings.interrupted();
    result.tables.push_back(table.text());
    add_panels(result, instance, all, runs, bagdc);
    result.series.insert(result.series.end(), runs.begin(), runs.end());
    result.series.push_back(bagdc);
    if (result.interrupted) {
      break;
    }
    claim_plateaus(result, instance, all, runs, bagdc.final_metric("x-error"));
  }
  return result;
}

} // namespace duplex::reproduce
