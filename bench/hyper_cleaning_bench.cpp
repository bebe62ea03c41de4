// One BAGDC step on hyper-cleaning: FashionMNIST with 5000 + 5000 samples, and how a step grows with the data.
// A benchmark is a run of a few steps, again and again; the counter best_seconds is the fastest such run's step.

#include "benchmarks.hpp"
#include "cleaning_data.hpp"

#include <duplex/core/error.hpp>
#include <duplex/solve.hpp>

#include <benchmark/benchmark.h>
#include <omp.h>

#include <algorithm>
#include <optional>
#include <string>

namespace duplex::bench {

namespace {

constexpr std::int64_t steps_of_a_run = 5;

template <class MakeProblem> void step(benchmark::State &state, const MakeProblem &make_problem, const Bagdc &solver) {
  std::optional<HyperCleaning<float>> problem;
  try {
    problem.emplace(make_problem());
  } catch (const InvalidInput &error) {
    state.SkipWithError(error.what());
    return;
  }
  double best = infinity;
  while (state.KeepRunningBatch(steps_of_a_run)) {
    auto at = problem->start();
    const Summary summary = solve(*problem, solver, at, {.max_iterations = steps_of_a_run});
    if (summary.failed()) {
      state.SkipWithError(summary.message.c_str());
      return;
    }
    state.SetIterationTime(summary.seconds);
    best = std::min(best, summary.seconds / static_cast<double>(steps_of_a_run));
  }
  state.counters["best_seconds"] = best;
  state.counters["stored_bytes"] = stored_bytes(*problem);
}

template <class MakeProblem> void add(const std::string &name, const MakeProblem &make_problem, const Bagdc &solver) {
  benchmark::RegisterBenchmark(("cleaning/" + name).c_str(), [=](benchmark::State &state) {
    step(state, make_problem, solver);
  })->UseManualTime();
}

void add_fashion_mnist(const std::string &name, Storage storage, const Bagdc &solver) {
  add(
      name + "/one_thread", [=] { return fashion_mnist(storage, 1); }, solver);
  add(
      name + "/all_threads", [=] { return fashion_mnist(storage, 0); }, solver);
}

void add_synthetic(const std::string &name, const SyntheticSize &size, int threads = 0) {
  add(
      "scale/" + name, [=] { return synthetic_cleaning(size, Storage::byte, threads); }, cleaning_constant_eta);
}

} // namespace

void register_hyper_cleaning() {
  add_fashion_mnist("fused/byte", Storage::byte, cleaning_constant_eta);
  add_fashion_mnist("fused/float16", Storage::float16, cleaning_constant_eta);
  add_fashion_mnist("fused/float32", Storage::float32, cleaning_constant_eta);
  add_fashion_mnist("adaptive/byte", Storage::byte, cleaning_adaptive_eta);
  add_fashion_mnist("general/byte", Storage::byte, cleaning_general);

  for (const Index rows : {1250, 2500, 5000, 10'000, 20'000}) {
    add_synthetic("rows/" + std::to_string(rows), {rows, rows, 784, 10});
  }
  for (const Index features : {98, 196, 392, 784}) {
    add_synthetic("features/" + std::to_string(features), {5000, 5000, features, 10});
  }
  for (const Index classes : {2, 5, 10, 20, 50}) {
    add_synthetic("classes/" + std::to_string(classes), {5000, 5000, 784, classes});
  }
  const int most = omp_get_max_threads();
  for (int threads = 1; threads <= most; threads = threads < most ? std::min(2 * threads, most) : most + 1) {
    add_synthetic("threads/" + std::to_string(threads), {5000, 5000, 784, 10}, threads);
  }
}

} // namespace duplex::bench
