// The field's benchmark of bilevel methods: each of the house with steps from the same small search, and `automatic`
// without any, on the same tasks. Stochastic methods see batches of 64 samples of each level, the others all of it.

#include "reproduce/benchmark_runs.hpp"

#include "report/table.hpp"
#include "reproduce/quantile.hpp"

#include <duplex/measure/exact.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace duplex::reproduce {

namespace in_benchmark {
namespace {

using Run = BenchmarkRun;

/// The runs of each method on a task, in the order of raced_methods, and what they are held against.
struct TaskRuns {
  std::vector<std::vector<Run>> of_method = std::vector<std::vector<Run>>(raced_methods.size());
  std::vector<double> nearly_final; ///< of each draw: a hundredth above φ where the best run ended

  [[nodiscard]] const std::vector<Run> &of(std::string_view spec) const {
    const auto found = std::find_if(raced_methods.begin(), raced_methods.end(),
                                    [&](const RacedMethod &method) { return method.spec == spec; });
    return of_method[static_cast<std::size_t>(found - raced_methods.begin())];
  }
};

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

double median_best(const std::vector<Run> &runs) {
  return median_of(runs, [](const Run &run) { return run.best(); });
}

void claim_by_noise(const Task &task, const TaskRuns &runs, Experiment &result) {
  constexpr double hundredth = 0.01;
  const double reduced =
      std::max({median_best(runs.of("saba")), median_best(runs.of("srba")), median_best(runs.of("spaba"))});
  const double soba = median_best(runs.of("soba"));
  result.claim("benchmark." + task.name + ".reduced", "SABA, SRBA and SPABA come a hundred times as near as SOBA",
               "their papers", fmt::format("{:.1e} against {:.1e}", reduced, soba), reduced <= hundredth * soba);
}

void claim_by_time(const Task &task, const TaskRuns &runs, Experiment &result) {
  const auto claim = [&](const std::string &id, const std::string &text, const std::vector<Run> &own) {
    constexpr double soon = 0.5;
    constexpr double later = 1.5;
    const double first = median_of(own, [&](const Run &run) { return run.seconds_to(task.goals.front()); });
    const double second = median_of(own, [&](const Run &run) { return run.seconds_to(task.goals.back()); });
    const auto said = [](double seconds) { return std::isfinite(seconds) ? duration_text(seconds) : "never"; };
    result.claim("benchmark." + task.name + id, text, "0.5 s and 1.5 s", said(first) + " and " + said(second),
                 first <= soon && second <= later);
  };
  const std::string goals = text_of(task, task.goals.front()) + " and " + text_of(task, task.goals.back());
  claim(".srba", "SRBA with searched steps is at " + goals + " of test error", runs.of("srba"));
  claim(".untuned", "automatic, without a step, is at " + goals + " of test error", runs.of("automatic"));
}

void claim_by_value(const Task &task, const TaskRuns &runs, Experiment &result) {
  const double found = median_best(runs.of("automatic"));
  result.claim("benchmark." + task.name + ".untuned", "automatic, without a step, comes to a loss of",
               "at most " + text_of(task, task.goals.back()), text_of(task, found), found <= task.goals.back());
}

/// Passes over all samples of both levels, as a median over draws, before a method's runs are nearly where the best
/// ends.
double passes_to_nearly_final(const TaskRuns &runs, const std::vector<Run> &own, double samples_of_pass) {
  std::vector<double> passes;
  for (std::size_t seed = 0; seed < own.size(); ++seed) {
    passes.push_back(own[seed].samples_to(runs.nearly_final[seed]) / samples_of_pass);
  }
  return quantile(std::move(passes), 0.5);
}

std::string text_of_passes(double passes) { return std::isfinite(passes) ? fmt::format("{:.1f}", passes) : "-"; }

void claim_by_samples(const Task &task, const TaskRuns &runs, double samples_of_pass, Experiment &result) {
  double fewest_of_batches = infinity;
  double fewest_of_all = infinity;
  std::string_view in_batches = "none";
  std::string_view at_a_time = "none";
  for (std::size_t m = 0; m < raced_methods.size(); ++m) {
    const double passes = passes_to_nearly_final(runs, runs.of_method[m], samples_of_pass);
    double &fewest = raced_methods[m].on_batches ? fewest_of_batches : fewest_of_all;
    if (passes < fewest) {
      fewest = passes;
      (raced_methods[m].on_batches ? in_batches : at_a_time) = raced_methods[m].spec;
    }
  }
  result.claim("benchmark." + task.name + ".passes",
               "a method in batches is within 1 % of the final loss after fewer passes than any on all samples",
               "fewer",
               fmt::format("{} after {}, {} after {}", in_batches, text_of_passes(fewest_of_batches), at_a_time,
                           text_of_passes(fewest_of_all)),
               fewest_of_batches < fewest_of_all);
}

/// A hundredth above φ(x), exactly, where the run ended whose metric was the smallest.
double nearly_final_value(const TaskDraw &draw, const TaskRuns &runs) {
  constexpr double nearly = 1.01;
  const Run *best = nullptr;
  for (const auto &own : runs.of_method) {
    if (best == nullptr || own.back().last() < best->last()) {
      best = &own.back();
    }
  }
  ExactSolver<catalog::FloatProblem> exact(draw.problem.whole());
  return nearly * exact.at(best->end.x, best->end.y).value;
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
    const bool counts_passes = task.judged == Judged::by_samples;
    std::vector<std::string> head{"method", "steps", "half of the time", "best", "spread", "samples"};
    for (const double goal : task.goals) {
      head.push_back(text_of(task, goal) + " after");
    }
    if (counts_passes) {
      head.emplace_back("passes to 1 %");
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
      const TaskDraw draw = (task.draw_for_search ? task.draw_for_search : task.draw)(seed_of_search);
      for (const auto &method : raced_methods) {
        specs.push_back(with_searched_steps(task, draw, method, settings));
        settings.told(fmt::format("{}: {}", task.name, specs.back()));
      }
    }
    TaskRuns runs;
    double samples_of_pass = 0.0;
    for (std::uint64_t seed = 0; seed < static_cast<std::uint64_t>(settings.seeds); ++seed) {
      const TaskDraw draw = task.draw(settings.seed + seed);
      samples_of_pass = draw.lower_samples + draw.upper_samples;
      for (std::size_t m = 0; m < raced_methods.size() && !settings.interrupted(); ++m) {
        runs.of_method[m].push_back(
            benchmark_run(draw, raced_methods[m], specs[m], task.seconds, settings.seed + seed, settings));
      }
      if (counts_passes && !settings.interrupted()) {
        runs.nearly_final.push_back(nearly_final_value(draw, runs));
      }
      settings.told(fmt::format("{}: seed {}", task.name, settings.seed + seed));
    }
    if (settings.interrupted()) {
      result.interrupted = true;
      return result;
    }
    for (std::size_t m = 0; m < raced_methods.size(); ++m) {
      const auto &own = runs.of_method[m];
      const auto name = std::string(raced_methods[m].spec);
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
        const double samples = median_of(own, [&](const Run &run) { return run.samples_to(goal); });
        row.push_back(std::isfinite(seconds) ? fmt::format("{}, {} passes", duration_text(seconds),
                                                           text_of_passes(samples / samples_of_pass))
                                             : "-");
      }
      if (counts_passes) {
        row.push_back(text_of_passes(passes_to_nearly_final(runs, own, samples_of_pass)));
      }
      table.add(row);
      over_time.curves.push_back(curve_of(name, own, false));
      over_samples.curves.push_back(curve_of(name, own, true));
    }
    result.tables.push_back(
        fmt::format("{}, {} s a run, {} seeds\n{}", task.name, task.seconds, settings.seeds, table.text()));
    switch (task.judged) {
    case Judged::by_time:
      claim_by_time(task, runs, result);
      break;
    case Judged::by_noise:
      claim_by_noise(task, runs, result);
      break;
    case Judged::by_value:
      claim_by_value(task, runs, result);
      break;
    case Judged::by_samples:
      claim_by_samples(task, runs, samples_of_pass, result);
      break;
    case Judged::not_at_all:
      break;
    }
    result.figure.panels.push_back(std::move(over_time));
    result.figure.panels.push_back(std::move(over_samples));
  }
  return result;
}

} // namespace duplex::reproduce
