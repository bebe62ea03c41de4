#pragma once
// A run that is saved, goes through the bytes of a file and goes on.

#include "checkpoint/checkpoint.hpp"
#include "support.hpp"

#include <duplex/space/archive.hpp>

#include <string>

namespace duplex::testing {

/// The saved state after `steps` steps, through the bytes of a file.
template <class P, class S> SavedState saved_after(const P &problem, const S &solver, std::int64_t steps) {
  SavedState last;
  const Saving saving{.save = [&](const SavedState &state) { last = state; }, .every_seconds = infinity};
  auto state = problem.start();
  const auto summary = solve(problem, solver, state, {.max_iterations = steps, .saving = &saving});
  EXPECT_FALSE(summary.failed()) << summary.brief();
  return checkpoint::decoded(checkpoint::encoded(last), "memory");
}

template <class P, class S>
void expect_same_bits(const P &problem, const S &solver, const std::string &what, std::int64_t saved_at = 9,
                      std::int64_t steps = 23) {
  auto whole = problem.start();
  const auto uninterrupted = solve(problem, solver, whole, {.max_iterations = steps});
  const SavedState saved = saved_after(problem, solver, saved_at);
  const Saving saving{.from = &saved};
  auto parts = problem.start();
  const auto second = solve(problem, solver, parts, {.max_iterations = steps, .saving = &saving});
  EXPECT_EQ(second.iterations, uninterrupted.iterations) << what;
  EXPECT_GT(second.iterations, saved_at) << what;
  EXPECT_EQ(second.direction_norm, uninterrupted.direction_norm) << what;
  EXPECT_EQ(second.counters, uninterrupted.counters) << what;
  EXPECT_TRUE(numbers_of(parts.x) == numbers_of(whole.x)) << what;
  EXPECT_TRUE(numbers_of(parts.y) == numbers_of(whole.y)) << what;
  EXPECT_TRUE(numbers_of(parts.v) == numbers_of(whole.v)) << what;
}

} // namespace duplex::testing
