#pragma once
// The bilevel problem of a batch of tasks: x = {backbone}, flat, and y = {weights, biases} of a head for each task.
//
//   f = Σ_j mean CE of head j on the shots of task j,    F = Σ_j mean CE of head j on its queries
//
// Every evaluation of a level passes through the backbone. On features that are computed once, the same two levels are
// those of Heads (heads.hpp). Which tasks they are is written into memory that stays, so that launches which were
// recorded see the next batch.

#include "fewshot/tasks.hpp"
#include "fewshot/torch/heads.hpp"

#include <duplex/torch/tensor_problem.hpp>

#include <cstdint>
#include <vector>

namespace duplex::fewshot {

class BatchProblem {
public:
  using Vector = Tensors;
  using Evaluation = TensorProblem::Evaluation;

  /// `images`: classes · images × 64 · 64 bytes, on the device of the backbone.
  BatchProblem(const TaskShape &shape, std::int64_t tasks, at::Tensor images, const Tensors &x);

  /// The numbers of the images of the batch, to be written: a task's k-th sample at k · tasks + task.
  [[nodiscard]] const at::Tensor &shots() const { return shots_; }
  [[nodiscard]] const at::Tensor &queries() const { return queries_; }

  [[nodiscard]] Evaluation lower() const { return level(shots_, shots_wanted_, TensorProblem::Level::lower); }
  [[nodiscard]] Evaluation upper() const { return level(queries_, queries_wanted_, TensorProblem::Level::upper); }
  [[nodiscard]] Index x_size() const { return x_size_; }
  [[nodiscard]] Index y_size() const;

  [[nodiscard]] Tensors heads_at_zero() const;
  /// The features of the shots and those of the queries, each tasks × samples × 512.
  [[nodiscard]] std::vector<at::Tensor> features(const at::Tensor &flat_backbone) const;
  /// The problem in the features.
  [[nodiscard]] Heads heads(const std::vector<at::Tensor> &features) const;

private:
  [[nodiscard]] Evaluation level(const at::Tensor &numbers, const at::Tensor &wanted, TensorProblem::Level level) const;

  std::int64_t tasks_;
  at::Tensor images_;
  Index x_size_;
  at::Tensor shots_;
  at::Tensor queries_;
  at::Tensor shots_wanted_; ///< one where a sample's label is, tasks × samples × ways
  at::Tensor queries_wanted_;
};

static_assert(AggregatedProblem<BatchProblem>);

} // namespace duplex::fewshot
