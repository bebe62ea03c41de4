#pragma once
// Tasks that keep their heads and multipliers from one visit to the next, as Algorithm 1 of the paper does for its one
// lower level. A visit takes the next tasks in turn.

#include "fewshot/tasks.hpp"

#include <duplex/torch/tensors.hpp>

#include <span>

namespace duplex::fewshot {

class TaskPool {
public:
  /// `heads`: those of one batch, for shapes and device.
  TaskPool(TaskBatch tasks, std::int64_t count, const Tensors &heads);

  /// Image numbers of the next tasks, and their heads and multipliers.
  void lend(const at::Tensor &shots, const at::Tensor &queries, Tensors &heads, Tensors &multipliers);
  void take_back(const Tensors &heads, const Tensors &multipliers);

  template <class Archive> void archive(Archive &members) {
    members("next", next_);
    members("shots", std::span<std::int64_t>(tasks_.shots));
    members("queries", std::span<std::int64_t>(tasks_.queries));
    members("heads", heads_);
    members("multipliers", multipliers_);
  }
  /// After it was read. Throws InvalidInput where a number is not one of `images` images.
  void go_on(std::int64_t images);

private:
  void place_numbers();

  TaskBatch tasks_;
  std::int64_t count_;
  std::int64_t next_ = 0;
  at::Tensor shots_; ///< samples × tasks, on the device
  at::Tensor queries_;
  at::Tensor visited_; ///< numbers of the tasks that are lent
  Tensors heads_;
  Tensors multipliers_;
};

} // namespace duplex::fewshot
