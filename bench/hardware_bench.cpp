// What the machine can do at best, with all threads: bytes read a second from an array
// that no cache holds and from one as large as half of a 4096×4096 matrix, and fused
// multiply-adds in double precision.

#include "benchmarks.hpp"

#include <benchmark/benchmark.h>
#include <omp.h>

#include <algorithm>
#include <cstddef>
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
  const auto factor = hn::Set(d, 0.5);
  const auto term = hn::Set(d, 1.0);
  for (std::size_t round = 0; round < rounds; ++round) {
    ((chains = hn::MulAdd(chains, factor, term)), ...);
  }
  return (hn::GetLane(chains) + ...);
}

/// Twelve independent chains hide the latency of the instruction. Returns how many
/// operations were done.
double multiply_add(std::size_t rounds, double &result) {
  const hn::ScalableTag<double> d;
  const auto z = hn::Zero(d);
  result = run_chains(d, rounds, z, z, z, z, z, z, z, z, z, z, z, z);
  return 12.0 * 2.0 * static_cast<double>(hn::Lanes(d) * rounds);
}

} // namespace duplex::bench::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

namespace duplex::bench {

HWY_EXPORT(sum);
HWY_EXPORT(multiply_add);

namespace {

std::size_t beyond_cache() {
  std::size_t largest = std::size_t{64} << 20U;
  for (const auto &cache : benchmark::CPUInfo::Get().caches) {
    largest = std::max(largest, static_cast<std::size_t>(cache.size));
  }
  return 4 * largest;
}

void read(benchmark::State &state, std::size_t bytes) {
  const std::vector<double> numbers(bytes / sizeof(double), 1.0);
  const auto kernel = HWY_DYNAMIC_DISPATCH(sum);
  const std::size_t count = numbers.size();
  for ([[maybe_unused]] auto _ : state) {
    double total = 0.0;
#pragma omp parallel reduction(+ : total)
    {
      const auto thread = static_cast<std::size_t>(omp_get_thread_num());
      const auto team = static_cast<std::size_t>(omp_get_num_threads());
      const std::size_t begin = count * thread / team;
      total += kernel(numbers.data() + begin, count * (thread + 1) / team - begin);
    }
    benchmark::DoNotOptimize(total);
  }
  state.counters["bytes"] = static_cast<double>(count * sizeof(double));
  state.counters["threads"] = omp_get_max_threads();
}

void fma_rate(benchmark::State &state) {
  constexpr std::size_t rounds = 1'000'000;
  const auto kernel = HWY_DYNAMIC_DISPATCH(multiply_add);
  double operations = 0.0;
  for ([[maybe_unused]] auto _ : state) {
    operations = 0.0;
#pragma omp parallel reduction(+ : operations)
    {
      double result = 0.0;
      operations += kernel(rounds, result);
      benchmark::DoNotOptimize(result);
    }
  }
  state.counters["operations"] = operations;
  state.counters["threads"] = omp_get_max_threads();
}

} // namespace

void register_hardware() {
  constexpr std::size_t half_of_4096 = sizeof(double) * 4096 * 4096 / 2;
  benchmark::RegisterBenchmark("hardware/read/beyond_cache", read, beyond_cache())->UseRealTime();
  benchmark::RegisterBenchmark("hardware/read/half_of_4096", read, half_of_4096)->UseRealTime();
  benchmark::RegisterBenchmark("hardware/fma", fma_rate)->UseRealTime();
}

} // namespace duplex::bench

#endif // HWY_ONCE
