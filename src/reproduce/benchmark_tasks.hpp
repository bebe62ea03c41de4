#pragma once
// The tasks of the field's benchmark of bilevel methods (benchmark_bilevel), as far as their data are to be had.

#include "reproduce/reproduce.hpp"

#include <duplex/problem/any_sampled.hpp>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace duplex::reproduce {

/// One draw of a task: its data, start and metric.
struct TaskDraw {
  AnySampledProblem<catalog::FloatVector> problem;
  State<catalog::FloatVector> start;
  /// The smaller the better; measured off the clock. It may remember where it looked last.
  std::function<double(const State<catalog::FloatVector> &)> metric;
  double lower_samples;
  double upper_samples;
};

/// What is claimed of a task's runs.
enum class Judged : std::uint8_t {
  not_at_all,
  by_time,    ///< to the goals
  by_noise,   ///< what methods whose noise ends come to, beside SOBA
  by_value,   ///< that `automatic` comes to the last goal
  by_samples, ///< that are seen before the metric is within a hundredth of the final φ: in batches, or all at a time
};

struct Task {
  std::string name;
  std::string metric;
  Judged judged = Judged::not_at_all;
  bool log_metric = false;       ///< it falls over orders of magnitude
  double seconds = 1.0;          ///< of a run
  double part_for_search = 0.15; ///< of these, for each pair of steps that is tried
  /// A step of x is searched for among multiples of this: the number of samples where x has an entry for each, since
  /// ∂h/∂x_i is of the size of one of them.
  double unit_of_alpha = 1.0;
  std::vector<double> goals; ///< values of the metric whose times are shown
  std::function<TaskDraw(std::uint64_t seed)> draw;
  /// A smaller one on which steps are searched for; none: one like the others.
  std::function<TaskDraw(std::uint64_t seed)> draw_for_search = {};
};

/// Those whose data are there and whose name has settings.only in it. Throws InvalidInput where none is left.
[[nodiscard]] std::vector<Task> benchmark_tasks(const Settings &settings);

inline constexpr Index benchmark_batch = 64;

} // namespace duplex::reproduce
