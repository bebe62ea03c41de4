#include "reproduce/benchmark_runs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

namespace duplex::reproduce {

namespace in_benchmark_runs {
namespace {

using catalog::FloatVector;

constexpr std::array<double, 5> searched_beta{0.01, 0.03, 0.1, 0.3, 1.0};
constexpr std::array<double, 6> searched_alpha{0.001, 0.003, 0.03, 0.1, 0.3, 1.0}; ///< times the task's unit

class Observing final : public Observer<FloatVector> {
public:
  Observing(const TaskDraw &draw, BenchmarkRun &run) : draw_(&draw), run_(&run) {}
  void observe(const Progress<FloatVector> &progress) override {
    run_->looks.push_back(
        {progress.seconds,
         progress.counters.lower_passes * draw_->lower_samples + progress.counters.upper_passes * draw_->upper_samples,
         draw_->metric(progress.state)});
  }

private:
  const TaskDraw *draw_;
  BenchmarkRun *run_;
};

/// Where the run ends is in run.end.
void run_on(const TaskDraw &draw, const RacedMethod &method, const std::string &spec, const Options &options,
            const Monitor<FloatVector> &monitor, BenchmarkRun &run) {
  const auto solver = catalog::make_solver(spec);
  run.end = draw.start;
  const Summary summary = method.on_batches ? solver->run(draw.problem, run.end, options, monitor)
                                            : solver->run(draw.problem.whole(), run.end, options, monitor);
  run.failed = summary.failed();
}

Options options_of(double seconds, std::uint64_t seed, const Settings &settings) {
  Options options{.max_iterations = 100'000'000, .max_seconds = seconds};
  options.seed = seed;
  options.interrupt = settings.interrupt;
  return options;
}

} // namespace
} // namespace in_benchmark_runs

double BenchmarkRun::best() const { return best_after(infinity); }

const BenchmarkLook *BenchmarkRun::first_at(double goal) const {
  const auto found =
      std::find_if(looks.begin(), looks.end(), [&](const BenchmarkLook &look) { return look.value <= goal; });
  return found == looks.end() ? nullptr : &*found;
}

double BenchmarkRun::seconds_to(double goal) const {
  const auto *look = first_at(goal);
  return look == nullptr ? infinity : look->seconds;
}

double BenchmarkRun::samples_to(double goal) const {
  const auto *look = first_at(goal);
  return look == nullptr ? infinity : look->samples;
}

double BenchmarkRun::best_after(double seconds) const {
  double best = infinity;
  for (const auto &look : looks) {
    best = look.seconds <= seconds ? std::min(best, look.value) : best;
  }
  return best;
}

BenchmarkRun benchmark_run(const TaskDraw &draw, const RacedMethod &method, const std::string &spec, double seconds,
                           std::uint64_t seed, const Settings &settings) {
  using namespace in_benchmark_runs;
  BenchmarkRun run;
  Observing observing(draw, run);
  Monitor<FloatVector> monitor;
  monitor.observers = {&observing};
  monitor.cadence = {.every = 1, .growth = 0.15, .from_start = true};
  run_on(draw, method, spec, options_of(seconds, seed, settings), monitor, run);
  return run;
}

std::string with_searched_steps(const Task &task, const TaskDraw &draw, const RacedMethod &method,
                                const Settings &settings) {
  using namespace in_benchmark_runs;
  if (!method.has_steps) {
    return std::string(method.spec);
  }
  const Options options = options_of(task.part_for_search * task.seconds, seed_of_search, settings);
  std::string best_spec;
  double best = infinity;
  for (const double beta : searched_beta) {
    for (const double alpha : searched_alpha) {
      std::string spec = fmt::format("{}:alpha={}:beta={}", method.spec, alpha * task.unit_of_alpha, beta);
      if (method.has_eta) {
        spec += fmt::format(":eta={}", beta);
      }
      BenchmarkRun run;
      run_on(draw, method, spec, options, {}, run); // only its end counts
      if (settings.interrupted()) {
        return best_spec;
      }
      const double reached = run.failed ? infinity : draw.metric(run.end);
      if (best_spec.empty() || reached < best) {
        best = reached;
        best_spec = std::move(spec);
      }
    }
  }
  return best_spec;
}

} // namespace duplex::reproduce
