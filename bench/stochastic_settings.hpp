#pragma once
// Hyper-cleaning in batches, as duplex_bench and rivals/jax_stochastic.py time it.

#include <duplex/methods/saba.hpp>
#include <duplex/methods/soba.hpp>
#include <duplex/methods/srba.hpp>
#include <duplex/problem/finite_sum.hpp>
#include <duplex/problems/hyper_cleaning.hpp>
#include <duplex/solve.hpp>

#include <cstdint>

namespace duplex::bench {

inline constexpr Index stochastic_batch = 64;
inline constexpr std::uint64_t stochastic_seed = 0;
// As large as benchmark_bilevel's MNIST, but for a number of samples that is a multiple of the batch.
inline constexpr HyperCleaningSettings stochastic_cleaning{.samples = 312 * stochastic_batch,
                                                           .trusted = 78 * stochastic_batch,
                                                           .held_out = 0,
                                                           .features = 784,
                                                           .classes = 10,
                                                           .noise = 0.5,
                                                           .separation = 3.0,
                                                           .rho = 0.4};
inline constexpr double stochastic_alpha = 100.0;
inline constexpr double stochastic_beta = 0.01;
inline constexpr Soba stochastic_soba{.alpha = stochastic_alpha, .beta = stochastic_beta, .eta = stochastic_beta};
inline constexpr Saba stochastic_saba{.alpha = stochastic_alpha, .beta = stochastic_beta, .eta = stochastic_beta};
inline constexpr Srba stochastic_srba{
    .alpha = stochastic_alpha, .beta = stochastic_beta, .eta = stochastic_beta, .period = 0.1};

/// On one run of `steps` steps in float; without the first, which fills SABA's tables.
template <class S>
[[nodiscard]] double seconds_of_stochastic_step(const HyperCleaning<float> &problem, const S &method,
                                                std::int64_t steps) {
  const auto batches = in_batches(problem, stochastic_batch);
  const auto seconds = [&](std::int64_t count) {
    auto state = problem.start();
    return solve(batches, method, state, {.max_iterations = count, .seed = stochastic_seed}).seconds;
  };
  const double first = seconds(1);
  return (seconds(steps) - first) / static_cast<double>(steps - 1);
}

} // namespace duplex::bench
