#pragma once
// Tasks drawn ahead, many steps' at once: a device that had to wait for every batch would idle between steps.

#include "fewshot/tasks.hpp"

#include <ATen/core/Tensor.h>

namespace duplex::fewshot {

class TaskQueue {
public:
  /// `meta_batch` tasks at a time, for a device.
  TaskQueue(TaskSampler tasks, std::int64_t meta_batch, const at::Device &device);

  /// The image numbers of the next batch.
  void next(const at::Tensor &shots, const at::Tensor &queries);
  /// That many tasks beside the queue, before its first batch.
  [[nodiscard]] TaskBatch draw(std::int64_t tasks);

  template <class Archive> void archive(Archive &members) {
    members("filled from", filled_from_);
    members("used", used_);
  }
  /// After it was read. Throws InvalidInput where it says what cannot be.
  void go_on();

private:
  void fill();

  TaskSampler tasks_;
  std::int64_t meta_batch_;
  at::Device device_;
  TaskSampler filled_from_; ///< as it was when the batches in hand were drawn; as it is where there are none
  std::int64_t used_ = 0;
  at::Tensor shots_; ///< batches × numbers
  at::Tensor queries_;
};

} // namespace duplex::fewshot
