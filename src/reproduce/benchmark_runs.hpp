#pragma once
// Runs of the field's benchmark: every method of the house on a task, with the steps that a small search has found.

#include "reproduce/benchmark_tasks.hpp"

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace duplex::reproduce {

struct RacedMethod {
  std::string_view spec;
  bool on_batches;
  bool has_steps = true;
  bool has_eta = false;
};

inline constexpr std::array<RacedMethod, 19> raced_methods{{
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

inline constexpr std::uint64_t seed_of_search = 1000;

/// The metric of a task at a moment of a run.
struct BenchmarkLook {
  double seconds;
  double samples; ///< of both levels that gradients and products have seen
  double value;
};

struct BenchmarkRun {
  std::vector<BenchmarkLook> looks;
  State<catalog::FloatVector> end;
  bool failed = false;

  [[nodiscard]] double best() const;
  [[nodiscard]] double last() const { return failed || looks.empty() ? infinity : looks.back().value; }
  [[nodiscard]] double seconds_to(double goal) const;
  [[nodiscard]] double samples_to(double goal) const;
  /// The best value up to then.
  [[nodiscard]] double best_after(double seconds) const;

private:
  [[nodiscard]] const BenchmarkLook *first_at(double goal) const;
};

/// With looks as it goes, ever more rarely.
[[nodiscard]] BenchmarkRun benchmark_run(const TaskDraw &draw, const RacedMethod &method, const std::string &spec,
                                         double seconds, std::uint64_t seed, const Settings &settings);

/// The method with the steps that came furthest on a draw of its own. Those that end in NaN, or worse than they began,
/// are left out by being the worst.
[[nodiscard]] std::string with_searched_steps(const Task &task, const TaskDraw &draw, const RacedMethod &method,
                                              const Settings &settings);

} // namespace duplex::reproduce
