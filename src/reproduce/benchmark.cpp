// The field's benchmark of bilevel methods: each of the house with steps from the same small search, and `automatic`
// without any, on the same tasks. Stochastic methods see batches of 64 samples of each level, the others all of it.

#include "reproduce/benchmark_tasks.hpp"

#include "report/table.hpp"
#include "reproduce/quantile.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace duplex::reproduce {

namespace in_benchmark {
namespace {

using catalog::FloatVector;

struct Method {
  std::string_view spec;
  bool on_batches;
  bool has_steps = true;
  bool has_eta = false;
};

constexpr std::array<Method, 19> methods{{
    {"soba", true, true, true},
    {"ma-soba", true, true, true},
    {"saba", true, true, true},
    {"srba", true, true, true},
    {"spaba", true, true, true},
    {"sbagdc", true, true, true},
    {"sbagdc:reduced=true", true, true, true},
    {"f2sa", true},
    {"pbgd", true},
    {"bome", true},
    {"meha", true},
    {"bagdc", false},
    {"bagdc:mixing=5:dual=constant:eta=0.3", false},
    {"nosa", false},
    {"rhg", false},
    {"cg", false},
    {"ns", false},
    {"s-tfbo", false, false},
    {"automatic", false, false},
}};

constexpr std::array<double, 5> searched_beta{0.01, 0.03, 0.1, 0.3, 1.0};
constexpr std::array<double, 6> searched_alpha{0.001, 0.003, 0.03, 0.1, 0.3, 1.0}; ///< times the task's unit
constexpr double part_of_time_for_search = 0.15; ///< of a run's seconds, for each pair
constexpr std::uint64_t seed_of_search = 1000;

/// A metric over a run.
struct Look {
  double seconds;
  double samples; ///< of both levels that gradients and products have seen
  double value;
};

struct Run {
  std::vector<Look> looks;
  bool failed = false;

  [[nodiscard]] double best() const {
    double best = infinity;
    for (const auto &look : looks) {
      best = std::min(best, look.value);
    }
    return best;
  }
  [[nodiscard]] double last() const { return failed || looks.empty() ? infinity : looks.back().value; }
  [[nodiscard]] double seconds_to(double goal) const {
    for (const auto &look : looks) {
      if (look.value <= goal) {
        return look.seconds;
      }
    }
    return infinity;
  }
  /// The best value up to then.
  [[nodiscard]] double best_after(double seconds) const {
    double best = infinity;
    for (const auto &look : looks) {
      best = look.seconds <= seconds ? std::min(best, look.value) : best;
    }
    return best;
  }
};

class Observing final : public Observer<FloatVector> {
public:
  Observing(const TaskDraw &draw, Run &run) : draw_(&draw), run_(&run) {}
  void observe(const Progress<FloatVector> &progress) override {
    run_->looks.push_back(
        {progress.seconds,
         progress.counters.lower_passes * draw_->lower_samples + progress.counters.upper_passes * draw_->upper_samples,
         draw_->metric(progress.state)});
  }

private:
  const TaskDraw *draw_;
  Run *run_;
};

Run run_of(const TaskDraw &draw, const Method &method, const std::string &spec, double seconds, std::uint64_t seed,
           const Settings &settings) {
  const auto solver = catalog::make_solver(spec);
  Run run;
  Observing observing(draw, run);
  Monitor<FloatVector> monitor;
  monitor.observers = {&observing};
  monitor.cadence = {.every = 1, .growth = 0.15, .from_start = true};
  Options options{.max_iterations = 100'000'000, .max_seconds = seconds};
  options.seed = seed;
  options.interrupt = settings.interrupt;
  auto state = draw.start;
  const Summary summary = method.on_batches ? solver->run(draw.problem, state, options, monitor)
                                            : solver->run(draw.problem.whole(), state, options, monitor);
  run.failed = summary.failed();
  return run;
}

/// With the steps that did best on a draw of its own. Those that end in NaN, or worse than they began, are left out by
/// being the worst.
std::string searched(const Task &task, const TaskDraw &draw, const Method &method, const Settings &settings) {
  if (!method.has_steps) {
    return std::string(method.spec);
  }
  std::string best_spec;
  double best = std::numeric_limits<double>::infinity();
  for (const double beta : searched_beta) {
    for (const double alpha : searched_alpha) {
      std::string spec = fmt::format("{}:alpha={}:beta={}", method.spec, alpha * task.unit_of_alpha, beta);
      if (method.has_eta) {
        spec += fmt::format(":eta={}", beta);
      }
      const Run run = run_of(draw, method, spec, part_of_time_for_search * task.seconds, seed_of_search, settings);
      if (settings.interrupted()) {
        return best_spec;
      }
      const double reached = run.last();
      if (best_spec.empty() || reached < best) {
        best = reached;
        best_spec = std::move(spec);
      }
    }
  }
  return best_spec;
}

std::string text_of(const Task &task, double value) {
  return !std::isfinite(value)            ? "-"
         : task.log_metric                ? fmt::format("{:.1e}", value)
         : task.metric.ends_with("error") ? fmt::format("{:.2f} %", 100.0 * value)
                                          : fmt::format("{:.5f}", value);
}

/// The median over runs of what is asked of each.
template <class Ask> double median_of(const std::vector<Run> &runs, const Ask &ask) {
  std::vector<double> values;
  std::transform(runs.begin(), runs.end(), std::back_inserter(values), ask);
  return quantile(std::move(values), 0.5);
}

/// The metric of the run whose best value is the median, over seconds or samples.
report::Curve curve_of(const std::string &name, const std::vector<Run> &runs, bool over_samples) {
  report::Curve curve{.label = name, .x = {}, .y = {}};
  const double median = median_of(runs, [](const Run &run) { return run.best(); });
  const auto shown = std::find_if(runs.begin(), runs.end(),
                                  [&](const Run &run) { return !(run.best() < median) && !(run.best() > median); });
  for (const auto &look : shown->looks) {
    const double x = over_samples ? look.samples : look.seconds;
    if (x > 0.0) {
      curve.x.push_back(x);
      curve.y.push_back(look.value);
    }
  }
  return curve;
}

/// What the task's numbers are held against.
void claim_of(const Task &task, const std::vector<std::vector<Run>> &runs, Experiment &result) {
  const auto of = [&](std::string_view spec) -> const std::vector<Run> & {
    const auto found = std::find_if(methods.begin(), methods.end(), [&](const Method &m) { return m.spec == spec; });
    return runs[static_cast<std::size_t>(found - methods.begin())];
  };
  if (task.log_metric) {
    constexpr double hundredth = 0.01;
    const auto best_of = [&](std::string_view spec) {
      return median_of(of(spec), [](const Run &r) { return r.best(); });
    };
    const double reduced = std::max({best_of("saba"), best_of("srba"), best_of("spaba")});
    result.claim("benchmark." + task.name + ".reduced", "SABA, SRBA and SPABA come a hundred times as near as SOBA",
                 "their papers", fmt::format("{:.1e} against {:.1e}", reduced, best_of("soba")),
                 reduced <= hundredth * best_of("soba"));
  }
  if (task.goals.empty() || task.log_metric) {
    return;
  }
  const auto claim_times = [&](const std::string &id, const std::string &text, const std::vector<Run> &own) {
    constexpr double soon = 0.5;
    constexpr double later = 1.5;
    const double first = median_of(own, [&](const Run &run) { return run.seconds_to(task.goals.front()); });
    const double second = median_of(own, [&](const Run &run) { return run.seconds_to(task.goals.back()); });
    const auto said = [](double seconds) { return std::isfinite(seconds) ? duration_text(seconds) : "never"; };
    result.claim("benchmark." + task.name + id, text, "0.5 s and 1.5 s", said(first) + " and " + said(second),
                 first <= soon && second <= later);
  };
  const std::string goals = text_of(task, task.goals.front()) + " and " + text_of(task, task.goals.back());
  claim_times(".srba", "SRBA with searched steps is at " + goals + " of test error", of("srba"));
  claim_times(".untuned", "automatic, without a step, is at " + goals + " of test error", of("automatic"));
}

} // namespace
} // namespace in_benchmark

Experiment benchmark(const Settings &settings) {
  using namespace in_benchmark;
  Experiment result{.name = "benchmark",
                    .title = std::string(title_of("benchmark")),
                    .options = {{"seeds", settings.seeds}, {"batch", benchmark_batch}},
                    .seed = settings.seed,
                    .figure = {.title = "The field's benchmark", .panels = {}},
                    .reference = "target"};
  for (const auto &task : benchmark_tasks(settings)) {
    std::vector<std::string> head{"method", "steps", "half of the time", "at the end", "spread", "samples"};
    for (const double goal : task.goals) {
      head.push_back(text_of(task, goal) + " after");
    }
    report::Table table(head);
    report::Panel over_time{.title = task.name,
                            .x_label = "seconds",
                            .y_label = task.metric,
                            .log_x = true,
                            .log_y = task.log_metric,
                            .curves = {}};
    report::Panel over_samples = over_time;
    over_samples.x_label = "samples seen";
    std::vector<std::string> specs;
    {
      const TaskDraw draw = task.draw(seed_of_search);
      for (const auto &method : methods) {
        specs.push_back(searched(task, draw, method, settings));
        settings.told(fmt::format("{}: {}", task.name, specs.back()));
      }
    }
    std::vector<std::vector<Run>> runs(methods.size());
    for (std::uint64_t seed = 0; seed < static_cast<std::uint64_t>(settings.seeds); ++seed) {
      const TaskDraw draw = task.draw(settings.seed + seed);
      for (std::size_t m = 0; m < methods.size() && !settings.interrupted(); ++m) {
        runs[m].push_back(run_of(draw, methods[m], specs[m], task.seconds, settings.seed + seed, settings));
      }
      settings.told(fmt::format("{}: seed {}", task.name, settings.seed + seed));
    }
    if (settings.interrupted()) {
      result.interrupted = true;
      return result;
    }
    for (std::size_t m = 0; m < methods.size(); ++m) {
      const auto &own = runs[m];
      const auto name = std::string(methods[m].spec);
      std::vector<double> ends;
      std::transform(own.begin(), own.end(), std::back_inserter(ends), [](const Run &run) { return run.best(); });
      const auto steps = specs[m].size() > name.size() ? specs[m].substr(name.size() + 1) : std::string("its own");
      std::vector<std::string> row{
          name,
          steps,
          text_of(task, median_of(own, [&](const Run &run) { return run.best_after(0.5 * task.seconds); })),
          text_of(task, quantile(ends, 0.5)),
          text_of(task, quantile(ends, 0.1)) + " … " + text_of(task, quantile(ends, 0.9)),
          fmt::format("{:.2g}", median_of(own, [](const Run &run) { return run.looks.back().samples; }))};
      for (const double goal : task.goals) {
        const double seconds = median_of(own, [&](const Run &run) { return run.seconds_to(goal); });
        row.push_back(std::isfinite(seconds) ? duration_text(seconds) : "-");
      }
      table.add(row);
      over_time.curves.push_back(curve_of(name, own, false));
      over_samples.curves.push_back(curve_of(name, own, true));
    }
    result.tables.push_back(
        fmt::format("{}, {} s a run, {} seeds\n{}", task.name, task.seconds, settings.seeds, table.text()));
    claim_of(task, runs, result);
    result.figure.panels.push_back(std::move(over_time));
    result.figure.panels.push_back(std::move(over_samples));
  }
  return result;
}

} // namespace duplex::reproduce
