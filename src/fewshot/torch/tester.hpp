#pragma once
// How good a backbone is: heads are fitted to tasks by plain gradient steps, and judged by the tasks' queries. On a
// CUDA device what a test launches is captured once and replayed.

#include "fewshot/settings.hpp"
#include "fewshot/torch/batch_problem.hpp"
#include "fewshot/torch/repeated.hpp"

#include <atomic>
#include <cstddef>
#include <optional>
#include <vector>

namespace duplex::fewshot {

class Tester {
public:
  /// Reads the backbone where it lies: x = {backbone}, flat, whose memory stays.
  Tester(const Settings &settings, const at::Tensor &images, const Tensors &x);
  Tester(const Tester &) = delete; // what is recorded is bound to its memory
  Tester &operator=(const Tester &) = delete;
  ~Tester() = default;

  /// On a device: launches what a test launches, so that what it does once is done.
  void prepare();
  /// None where it was interrupted.
  [[nodiscard]] std::optional<Evaluation> evaluate(TaskSampler tasks, std::int64_t count,
                                                   const std::atomic<bool> *interrupt = nullptr);
  /// Some queries of a few tasks that are taken for another class.
  [[nodiscard]] std::vector<Mistake> mistakes(TaskSampler tasks, std::size_t most);

private:
  void adapt_and_predict();
  void test(TaskBatch &batch);

  Settings settings_;
  Tensors x_; ///< the same memory
  BatchProblem problem_;
  at::Tensor predicted_; ///< ways of the queries, by tasks
  Repeated testing_;
};

} // namespace duplex::fewshot
