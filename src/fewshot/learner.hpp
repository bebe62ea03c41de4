#pragma once
// Learns features for few-shot tasks: at each step a batch of tasks, their heads by a bilevel solver on features that
// are computed once, and one backward pass through the backbone for the hypergradient. On a CUDA device what a step
// launches is captured once and replayed.

#include "fewshot/backbone.hpp"
#include "fewshot/heads.hpp"
#include "fewshot/tasks.hpp"

#include <duplex/torch/captured.hpp>

#include <functional>

namespace duplex::fewshot {

/// Heads at zero to the direction in their features: what differs between solvers.
using HeadSolver = std::function<Tensors(const Heads &)>;

/// `steps` steps of a solver on the heads alone.
template <class S> [[nodiscard]] HeadSolver head_solver(const S &solver, std::int64_t steps) {
  validate(solver, S::name);
  return [solver, steps](const Heads &heads) {
    auto state = heads.start();
    typename S::template Run<Heads> run(solver, heads, state);
    UpperUpdate<Tensors> stays(UpperRule{}, Tensors());
    for (std::int64_t k = 0; k < steps; ++k) {
      if constexpr (MovesUpper<decltype(run), Tensors>) {
        (void)run.step(state, k, stays);
      } else {
        (void)run.step(state, k);
      }
    }
    return run.direction();
  };
}

struct LearnerSettings {
  TaskShape shape = {};
  std::int64_t meta_batch = 16;
  double alpha = 5e-3;    ///< of Adam
  double test_step = 0.1; ///< of the heads
  std::int64_t test_steps = 10;
  bool captures = true; ///< where the device is one
};

struct Evaluation {
  double accuracy = 0.0;
  double half_width = 0.0; ///< of the 95 % confidence interval of the mean over tasks
};

class Learner {
public:
  /// images: classes · images × 64 · 64 bytes on the device of the backbone.
  Learner(LearnerSettings settings, HeadSolver solver, at::Tensor images, Tensors backbone);

  void step(TaskSampler &tasks);
  [[nodiscard]] Evaluation evaluate(TaskSampler &tasks, std::int64_t count);
  [[nodiscard]] const Tensors &backbone() const { return backbone_; }

private:
  /// Work on the same memory at every call: captured at the third.
  class Repeated {
  public:
    explicit Repeated(const Tensors &variables) : graph_(variables) {}
    void run(bool captures, const std::function<void()> &work);

  private:
    LaunchGraph graph_;
    int calls_ = 0;
  };

  void load(TaskBatch batch);
  [[nodiscard]] at::Tensor pixels(const at::Tensor &numbers) const;
  void find_direction();
  void adapt_and_test();

  LearnerSettings settings_;
  HeadSolver solver_;
  at::Tensor images_;
  Tensors backbone_;
  Tensors direction_;
  Tensors first_;
  Tensors second_;
  std::int64_t steps_ = 0;
  at::Tensor shots_; ///< numbers of the images of the batch
  at::Tensor queries_;
  at::Tensor shots_wanted_;
  at::Tensor queries_wanted_;
  at::Tensor correct_; ///< part of the queries, by tasks
  Repeated learning_;
  Repeated testing_;
};

} // namespace duplex::fewshot
