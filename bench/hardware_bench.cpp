// What the machine can do at best: bytes read a second from an array that no cache holds,
// from one as large as half of a 4096×4096 matrix and from those as large as the samples of
// hyper-cleaning; fused multiply-adds in double and single precision. The counter
// best_seconds is the fastest single pass.

#include "benchmarks.hpp"

#include <benchmark/benchmark.h>
#include <omp.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <limits>
#include <string>
#include <vector>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "hardware_bench.cpp" // NOLINT(cppcoreguidelines-macro-usage)
#include <hwy/foreach_target.h>                 // must come before highway.h
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace duplex::bench::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

double sum(const double *numbers, std::size_t count) {
  const hn::ScalableTag<double> d;
  const std::size_t lanes = hn::Lanes(d);
  auto s0 = hn::Zero(d);
  auto s1 = hn::Zero(d);
  auto s2 = hn::Zero(d);
  auto s3 = hn::Zero(d);
  for (std::size_t i = 0; i + 4 * lanes <= count; i += 4 * lanes) {
    s0 = hn::Add(s0, hn::LoadU(d, numbers + i));
    s1 = hn::Add(s1, hn::LoadU(d, numbers + i + lanes));
    s2 = hn::Add(s2, hn::LoadU(d, numbers + i + 2 * lanes));
    s3 = hn::Add(s3, hn::LoadU(d, numbers + i + 3 * lanes));
  }
  return hn::GetLane(hn::SumOfLanes(d, hn::Add(hn::Add(s0, s1), hn::Add(s2, s3))));
}

template <class D, class... Chains> double run_chains(D d, std::size_t rounds, Chains... chains) {
  using T = hn::TFromD<D>;
  const auto factor = hn::Set(d, T(0.5));
  const auto term = hn::Set(d, T(1));
  for (std::size_t round = 0; round < rounds; ++round) {
    ((chains = hn::MulAdd(chains, factor, term)), ...);
  }
  return static_cast<double>((hn::GetLane(chains) + ...));
}

/// Twelve independent chains hide the latency of the instruction; they begin apart, or the
/// compiler would see one. Returns how many operations were done.
template <class T> double multiply_add(std::size_t rounds, double &result) {
  const hn::ScalableTag<T> d;
  const auto z = [d](int i) { return hn::Set(d, static_cast<T>(i)); };
  result = run_chains(d, rounds, z(0), z(1), z(2), z(3), z(4), z(5), z(6), z(7), z(8), z(9), z(10), z(11));
  return 12.0 * 2.0 * static_cast<double>(hn::Lanes(d) * rounds);
}

double multiply_add_double(std::size_t rounds, double &result) { return multiply_add<double>(rounds, result); }
double multiply_add_float(std::size_t rounds, double &result) { return multiply_add<float>(rounds, result); }

} // namespace duplex::bench::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

namespace duplex::bench {

HWY_EXPORT(sum);
HWY_EXPORT(multiply_add_double);
HWY_EXPORT(multiply_add_float);

namespace {

std::size_t beyond_cache() {
  std::size_t largest = std::size_t{64} << 20U;
  for (const auto &cache : benchmark::CPUInfo::Get().caches) {
    largest = std::max(largest, static_cast<std::size_t>(cache.size));
  }
  return 4 * largest;
}

/// pass() again and again; a pass is long enough to be timed alone.
template <class Pass> void time_passes(benchmark::State &state, const Pass &pass) {
  using Clock = std::chrono::steady_clock;
  double best = std::numeric_limits<double>::infinity();
  for ([[maybe_unused]] auto _ : state) {
    const auto begin = Clock::now();
    pass();
    best = std::min(best, std::chrono::duration<double>(Clock::now() - begin).count());
  }
  state.counters["best_seconds"] = best;
}

void read(benchmark::State &state, std::size_t bytes, int threads) {
  const std::vector<double> numbers(bytes / sizeof(double), 1.0);
  const auto kernel = HWY_DYNAMIC_DISPATCH(sum);
  const std::size_t count = numbers.size();
  time_passes(state, [&] {
    double total = 0.0;
#pragma omp parallel reduction(+ : total) num_threads(threads)
    {
      const auto thread = static_cast<std::size_t>(omp_get_thread_num());
      const auto team = static_cast<std::size_t>(omp_get_num_threads());
      const std::size_t begin = count * thread / team;
      total += kernel(numbers.data() + begin, count * (thread + 1) / team - begin);
    }
    benchmark::DoNotOptimize(total);
  });
  state.counters["bytes"] = static_cast<double>(count * sizeof(double));
  state.counters["threads"] = threads;
}

template <class Kernel> void fma_rate(benchmark::State &state, Kernel kernel, int threads) {
  constexpr std::size_t rounds = 100'000;
  double operations = 0.0;
  time_passes(state, [&] {
    operations = 0.0;
#pragma omp parallel reduction(+ : operations) num_threads(threads)
    {
      double result = 0.0;
      operations += kernel(rounds, result);
      benchmark::DoNotOptimize(result);
    }
  });
  state.counters["operations"] = operations;
  state.counters["threads"] = threads;
}

void add_read(const std::string &name, std::size_t bytes, int threads) {
  benchmark::RegisterBenchmark(("hardware/read/" + name).c_str(), read, bytes, threads)->UseRealTime();
}

} // namespace

void register_hardware() {
  constexpr std::size_t half_of_4096 = sizeof(double) * 4096 * 4096 / 2;
  constexpr std::size_t cleaning_features = std::size_t{2} * 5000 * 784;
  const int all = omp_get_max_threads();
  const auto in_double = HWY_DYNAMIC_DISPATCH(multiply_add_double);
  const auto in_float = HWY_DYNAMIC_DISPATCH(multiply_add_float);
  add_read("beyond_cache", beyond_cache(), all);
  add_read("half_of_4096", half_of_4096, all);
  benchmark::RegisterBenchmark("hardware/fma", fma_rate<decltype(in_double)>, in_double, all)->UseRealTime();
  for (const int threads : {1, all}) {
    const std::string with = threads == 1 ? "/one_thread" : "/all_threads";
    add_read("cleaning/byte" + with, cleaning_features, threads);
    add_read("cleaning/float16" + with, 2 * cleaning_features, threads);
    add_read("cleaning/float32" + with, 4 * cleaning_features, threads);
    benchmark::RegisterBenchmark(("hardware/fma_float" + with).c_str(), fma_rate<decltype(in_float)>, in_float, threads)
        ->UseRealTime();
  }
}

} // namespace duplex::bench

#endif // HWY_ONCE
