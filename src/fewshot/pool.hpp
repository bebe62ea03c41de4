#pragma once
// Tasks that keep their heads and multipliers from one visit to the next, as Algorithm 1 of the paper does for its one
// lower level. A visit takes the next tasks in turn.

#include "fewshot/tasks.hpp"

#include <duplex/saved_state.hpp>
#include <duplex/torch/tensors.hpp>

namespace duplex::fewshot {

class TaskPool {
public:
  /// `heads`: those of one batch, for shapes and device.
  TaskPool(TaskBatch tasks, std::int64_t count, const Tensors &heads);

  /// Image numbers of the next tasks, and their heads and multipliers.
  void lend(const at::Tensor &shots, const at::Tensor &queries, Tensors &heads, Tensors &multipliers);
  void take_back(const Tensors &heads, const Tensors &multipliers);

  void save(SavedState &into) const;
  /// Throws InvalidInput where a number is not one of `images` images.
  void restore(const SavedState &from, std::int64_t images);

private:
  std::int64_t count_;
  std::int64_t next_ = 0;
  at::Tensor shots_; ///< samples × tasks
  at::Tensor queries_;
  at::Tensor visited_; ///< numbers of the tasks that are lent
  Tensors heads_;
  Tensors multipliers_;
};

} // namespace duplex::fewshot
