// A step on batches of 64 samples of hyper-cleaning, of 784 features and 10 classes: SOBA, SABA and SRBA in float. The
// counter best_seconds is the step of the fastest run.

#include "benchmarks.hpp"
#include "stochastic_settings.hpp"

#include <benchmark/benchmark.h>

#include <algorithm>
#include <memory>
#include <string>

namespace duplex::bench {

namespace {

/// Made when it is first asked for, and kept: it takes longer than all steps.
const HyperCleaning<float> &problem_of_batches() {
  static const auto problem = std::make_unique<HyperCleaning<float>>(stochastic_cleaning.generate<float>());
  return *problem;
}

template <class S> void add(const S &method) {
  benchmark::RegisterBenchmark(("stochastic/" + std::string(S::name)).c_str(), [=](benchmark::State &state) {
    constexpr std::int64_t steps = 500;
    double best = infinity;
    while (state.KeepRunningBatch(steps)) {
      const double seconds = seconds_of_stochastic_step(problem_of_batches(), method, steps);
      state.SetIterationTime(seconds * static_cast<double>(steps));
      best = std::min(best, seconds);
    }
    state.counters["best_seconds"] = best;
  })->UseManualTime();
}

} // namespace

void register_stochastic() {
  add(stochastic_soba);
  add(stochastic_saba);
  add(stochastic_srba);
}

} // namespace duplex::bench
