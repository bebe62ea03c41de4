#pragma once
// Learns features for few-shot tasks: at each step a batch of tasks, their heads by a bilevel solver, the
// hypergradient in the backbone, and a step of Adam. On a CUDA device what a step launches is captured once and
// replayed.

#include "fewshot/settings.hpp"
#include "fewshot/torch/backbone.hpp"
#include "fewshot/torch/head_solver.hpp"
#include "fewshot/torch/pool.hpp"
#include "fewshot/torch/queue.hpp"
#include "fewshot/torch/repeated.hpp"

#include <atomic>
#include <optional>

namespace duplex::fewshot {

class Learner {
public:
  /// images: classes · images × 64 · 64 bytes on the device of the backbone. Draws from `tasks` to train.
  Learner(const Settings &settings, at::Tensor images, const Tensors &backbone, TaskSampler tasks);
  Learner(const Learner &) = delete; // losses point into it
  Learner &operator=(const Learner &) = delete;
  ~Learner() = default;

  /// On a device: launches what a step and a test launch, so that what it does once is done. The backbone stays.
  void prepare();
  void step();
  /// Throws Interrupted on request.
  [[nodiscard]] Evaluation evaluate(TaskSampler tasks, std::int64_t count,
                                    const std::atomic<bool> *interrupt = nullptr);
  /// Of a few tasks.
  [[nodiscard]] std::vector<Mistake> mistakes(TaskSampler tasks, std::size_t most);

  [[nodiscard]] const Tensors &backbone() const { return backbone_; }
  /// Of the last step, in the backbone.
  [[nodiscard]] const Tensors &direction() const { return direction_; }
  [[nodiscard]] std::int64_t steps() const { return steps_; }
  [[nodiscard]] bool replays() const { return learning_.captured(); }
  /// Waits for the device; throws TrainingFailed, with the step and the level, where a number was not finite.
  void require_finite() const;

  void save(SavedState &into);
  void restore(const SavedState &from);

private:
  template <class Archive> void archive(Archive &members) {
    members("steps", steps_);
    members("backbone", flat_backbone_);
    members("adam first", first_);
    members("adam second", second_);
    members("tasks", tasks_);
    members("pool", pool_);
  }

  void take_tasks();
  [[nodiscard]] at::Tensor pixels(const at::Tensor &numbers) const;
  [[nodiscard]] at::Tensor loss(const std::vector<at::Tensor> &backbone, const std::vector<at::Tensor> &heads,
                                const at::Tensor &numbers, const at::Tensor &wanted) const;
  void find_direction();
  void watch_levels();
  void find_direction_on_features();
  void find_direction_through_backbone();
  void adapt_and_test();
  void test(TaskBatch &batch);
  /// Heads and multipliers where a step of this batch begins, and what it leaves.
  [[nodiscard]] State<Tensors> first_state(Tensors x) const;
  void keep(const State<Tensors> &state);

  Settings settings_;
  HeadSolver solver_;
  at::Tensor images_;
  Tensors flat_backbone_; ///< one tensor, so that Adam is a few launches
  Tensors flat_direction_;
  Tensors first_;
  Tensors second_;
  Tensors backbone_; ///< views into the flat one
  Tensors direction_;
  std::int64_t steps_ = 0;
  TaskQueue tasks_;
  at::Tensor shots_; ///< numbers of the images of the batch
  at::Tensor queries_;
  at::Tensor shots_wanted_;
  at::Tensor queries_wanted_;
  Tensors heads_; ///< of the batch, with their multipliers
  Tensors multipliers_;
  at::Tensor watched_;   ///< steps since the watch began, which level broke (1 lower, 2 upper) and at which of them
  at::Tensor predicted_; ///< ways of the queries, by tasks
  std::optional<TensorProblem> through_backbone_;
  std::optional<TaskPool> pool_;
  Repeated learning_;
  Repeated testing_;
};

} // namespace duplex::fewshot
