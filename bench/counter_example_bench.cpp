// One BAGDC step on the counter-example, loop of solve() included. Times are those of
// the run's own clock: what a run allocates before its first step is not in them.

#include "benchmarks.hpp"

#include <duplex/methods/bagdc.hpp>
#include <duplex/problem/any_problem.hpp>
#include <duplex/problems/counter_example.hpp>
#include <duplex/solve.hpp>

#include <benchmark/benchmark.h>

#include <cstdint>
#include <map>
#include <string>

namespace duplex::bench {

namespace {

using Vec = Eigen::VectorXd;

constexpr Bagdc constant_eta{.alpha = 0.1, .beta = 0.2, .eta = 1.0, .dual = DualStep::constant};
constexpr Bagdc adaptive_eta{.alpha = 0.1, .beta = 0.2, .dual = DualStep::adaptive};

constexpr Bagdc general(Bagdc solver) {
  solver.fused = false;
  return solver;
}

void report(benchmark::State &state, const std::string &name, const Vec &vector) {
  state.counters[name + "_mean"] = vector.mean();
  state.counters[name + "_norm"] = vector.norm();
}

/// Runs of `steps` steps from the problem's start, again and again; the counters hold
/// where such a run ends.
template <class P> void step(benchmark::State &state, const P &problem, const Bagdc &solver, std::int64_t steps) {
  State<Vec> end;
  while (state.KeepRunningBatch(steps)) {
    end = problem.start();
    const Summary summary = solve(problem, solver, end, {.max_iterations = steps});
    if (summary.failed()) {
      state.SkipWithError(summary.message.c_str());
      return;
    }
    state.SetIterationTime(summary.seconds);
  }
  state.counters["steps"] = static_cast<double>(steps);
  report(state, "x", end.x);
  report(state, "y", end.y);
  report(state, "v", end.v);
}

const CounterExample<double, IdentityMatrix> &identity_example(Index n) {
  static std::map<Index, CounterExample<double, IdentityMatrix>> made;
  return made.try_emplace(n, IdentityMatrix(n), Vec::Ones(n)).first->second;
}

/// ½(I + ccᵀ) with c the unit vector along cos(0), cos(1), ...: dense, with eigenvalues
/// ½ and 1, and easy to make again in another language.
DenseSpd<double> dense_matrix(Index n) {
  const Vec c = Vec::LinSpaced(n, 0.0, static_cast<double>(n - 1)).array().cos().matrix().normalized();
  Eigen::MatrixXd entries = 0.5 * c * c.transpose();
  entries.diagonal().array() += 0.5;
  return DenseSpd<double>(std::move(entries));
}

const CounterExample<double, DenseSpd<double>> &dense_example(Index n) {
  static std::map<Index, CounterExample<double, DenseSpd<double>>> made;
  const auto found = made.find(n);
  return found != made.end() ? found->second : made.try_emplace(n, dense_matrix(n), Vec::Ones(n)).first->second;
}

template <class Example>
void add(const std::string &name, const Example &example, Index n, const Bagdc &solver, std::int64_t steps) {
  benchmark::RegisterBenchmark(name.c_str(), [=](benchmark::State &state) {
    step(state, example(n), solver, steps);
  })->UseManualTime();
}

} // namespace

void register_counter_example() {
  const auto forgotten_identity = [](Index n) { return AnyProblem<Vec>(identity_example(n)); };
  const auto forgotten_dense = [](Index n) { return AnyProblem<Vec>(dense_example(n)); };

  add("identity/100/constant", identity_example, 100, constant_eta, 100);
  add("identity/100/adaptive", identity_example, 100, adaptive_eta, 100);
  add("identity/100/constant/any_problem", forgotten_identity, 100, constant_eta, 100);
  add("identity/100/adaptive/any_problem", forgotten_identity, 100, adaptive_eta, 100);
  add("identity/1000000/constant", identity_example, 1'000'000, constant_eta, 20);
  add("identity/1000000/adaptive", identity_example, 1'000'000, adaptive_eta, 20);

  add("dense/100/fused/constant", dense_example, 100, constant_eta, 100);
  add("dense/100/fused/constant/any_problem", forgotten_dense, 100, constant_eta, 100);
  add("dense/100/general/constant", dense_example, 100, general(constant_eta), 100);
  for (const Index n : {1024, 2048, 4096}) {
    const std::string dense = "dense/" + std::to_string(n);
    add(dense + "/fused/constant", dense_example, n, constant_eta, 10);
    add(dense + "/fused/adaptive", dense_example, n, adaptive_eta, 10);
    add(dense + "/general/constant", dense_example, n, general(constant_eta), 10);
  }
}

} // namespace duplex::bench
