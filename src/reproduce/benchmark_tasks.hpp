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
  /// The smaller the better; measured off the clock.
  std::function<double(const State<catalog::FloatVector> &)> metric;
  double lower_samples;
  double upper_samples;
};

struct Task {
  std::string name;
  std::string metric;
  bool log_metric = false; ///< it falls over orders of magnitude
  double seconds = 1.0;    ///< of a run
  /// A step of x is searched for among multiples of this: the number of samples where x has an entry for each, since
  /// ∂h/∂x_i is of the size of one of them.
  double unit_of_alpha = 1.0;
  std::vector<double> goals; ///< values of the metric whose times are shown
  std::function<TaskDraw(std::uint64_t seed)> draw;
};

/// Those whose data are there and whose name has settings.only in it. Throws InvalidInput where none is left.
[[nodiscard]] std::vector<Task> benchmark_tasks(const Settings &settings);

inline constexpr Index benchmark_batch = 64;

} // namespace duplex::reproduce
