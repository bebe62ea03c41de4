#pragma once
// Learns features for few-shot tasks: a step takes a batch of tasks, moves their heads by a bilevel solver and finds
// the hypergradient in the backbone, which solve() then follows by Adam. On a CUDA device what a step launches is
// captured once and replayed.

#include "fewshot/settings.hpp"
#include "fewshot/torch/head_solver.hpp"
#include "fewshot/torch/pool.hpp"
#include "fewshot/torch/queue.hpp"
#include "fewshot/torch/repeated.hpp"

#include <duplex/run/observer.hpp>
#include <duplex/run/options.hpp>
#include <duplex/run/summary.hpp>
#include <duplex/space/archive.hpp>

#include <concepts>
#include <optional>
#include <string>

namespace duplex::fewshot {

class Learner {
public:
  /// images: classes · images × 64 · 64 bytes on the device of the backbone. Draws from `tasks` to train.
  Learner(const Settings &settings, at::Tensor images, const Tensors &backbone, TaskSampler tasks);
  Learner(const Learner &) = delete; // what is recorded is bound to its memory
  Learner &operator=(const Learner &) = delete;
  ~Learner() = default;

  /// On a device: launches what a step launches, so that what it does once is done, and waits. The backbone stays.
  void prepare();

  /// x = {backbone}, flat; y and v: the heads of the batch in hand and their multipliers. Their memory stays.
  [[nodiscard]] State<Tensors> &state() { return state_; }
  [[nodiscard]] const BatchProblem &problem() const { return problem_; }
  [[nodiscard]] const Settings &settings() const { return settings_; }
  [[nodiscard]] Tensors backbone() const;
  [[nodiscard]] bool replays() const { return learning_.captured(); }

  /// Takes the next tasks, moves their heads and finds the direction; x stays. Says why where the solver could not.
  [[nodiscard]] std::string step();
  /// The direction of the last step, as a gradient in the backbone.
  [[nodiscard]] const Tensors &direction() const { return direction_; }
  /// Whether steps are launched on a device, and nothing is read back.
  [[nodiscard]] bool runs_ahead() const { return direction_[0].is_cuda() && !one_by_one_; }
  void stop_running_ahead() { one_by_one_ = true; }

  /// What a step depends on beside the state.
  template <class Archive> void archive(Archive &members) {
    members("tasks", tasks_);
    members("pool", pool_);
    if constexpr (std::same_as<Archive, StateReader>) {
      go_on();
    }
  }

private:
  void go_on();
  void take_tasks();
  void find_direction();
  [[nodiscard]] HeadSteps direction_on_features();
  [[nodiscard]] HeadSteps direction_through_backbone();
  /// Heads and multipliers where a step of this batch begins, and what it leaves.
  [[nodiscard]] State<Tensors> first_state(const Tensors &x) const;
  void keep(const State<Tensors> &state);

  Settings settings_;
  HeadSolver solver_;
  std::int64_t images_; ///< how many there are
  TaskQueue tasks_;
  State<Tensors> state_;
  BatchProblem problem_;
  Tensors direction_;
  std::optional<TaskPool> pool_;
  Repeated learning_;
  std::string failure_; ///< of the last step
  bool one_by_one_ = false;
};

/// Trains until the options or the monitor end it; solve() as it is, with the learner's step as the method. What
/// becomes of it is in the summary.
[[nodiscard]] Summary learn(Learner &learner, const Options &options, const Monitor<Tensors> &monitor = {});

} // namespace duplex::fewshot
