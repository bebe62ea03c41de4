#pragma once
// Tasks drawn ahead, many steps' at once: a device that had to wait for every batch would idle between steps.

#include "fewshot/tasks.hpp"

#include <duplex/saved_state.hpp>

#include <ATen/core/Tensor.h>

namespace duplex::fewshot {

class TaskQueue {
public:
  /// `meta_batch` tasks at a time, for a device.
  TaskQueue(TaskSampler tasks, std::int64_t meta_batch, const at::Device &device);

  /// The image numbers of the next batch.
  void next(const at::Tensor &shots, const at::Tensor &queries);
  /// That many tasks beside the queue.
  [[nodiscard]] TaskBatch draw(std::int64_t tasks) { return tasks_.draw(tasks); }

  void save(SavedState &into) const;
  void restore(const SavedState &from);

private:
  void fill();

  TaskSampler tasks_;
  std::int64_t meta_batch_;
  at::Device device_;
  std::string filled_from_; ///< where the generator stood
  std::int64_t used_ = 0;
  at::Tensor shots_; ///< batches × numbers
  at::Tensor queries_;
};

} // namespace duplex::fewshot
