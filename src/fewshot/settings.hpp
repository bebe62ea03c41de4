#pragma once
// What a few-shot run is told, and what it measures.

#include "fewshot/tasks.hpp"

#include <duplex/core/fields.hpp>
#include <duplex/torch/capture.hpp>

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace duplex::fewshot {

/// Whether the backbone's features of a batch are computed once a step, or by every evaluation of a level.
enum class Features : std::uint8_t { kept, recomputed };

constexpr std::array<std::string_view, 2> features_names{"kept", "recomputed"};
constexpr const auto &names_of(Features /*unused*/) { return features_names; }

/// Classes that looks during the training are at.
enum class LookOn : std::uint8_t { automatic, validation, test };

constexpr std::array<std::string_view, 3> look_on_names{"auto", "validation", "test"};
constexpr const auto &names_of(LookOn /*unused*/) { return look_on_names; }

struct Settings {
  TaskShape shape = {};
  std::string solver = "bagdc";
  std::int64_t head_steps = 10;
  double head_step = 0.1;
  std::int64_t pool = 0;
  Features features = Features::kept;
  std::int64_t meta_batch = 0;
  double alpha = 0.0;
  std::int64_t steps = 1000;
  double seconds = infinity;
  double target = 0.0;
  std::int64_t look_every = 50;
  std::int64_t look_tasks = 200;
  LookOn look_on = LookOn::automatic;
  std::int64_t test_steps = 10;
  std::int64_t test_tasks = 1000;
  std::int64_t images_per_class = 1000;
  std::string mnist = {};
  std::string device = "auto";
  Capture graph = Capture::automatic;
  int threads = 0;
  std::uint64_t seed = 0;

  static constexpr Bound a_count{.low = 1, .high = 1e4};

  template <class Self, class Visit> static void fields(Self &self, Visit &&visit) {
    visit("ways", self.shape.ways, Bound{.low = 2, .high = 20}, "classes of a task");
    visit("shots", self.shape.shots, a_count, "labelled images of each class, which the heads learn from");
    visit("queries", self.shape.queries, a_count, "images of each class, which the heads are judged by");
    visit("solver", self.solver, any_number, "bilevel solver, as NAME or NAME:option=value:...");
    visit("head-steps", self.head_steps, a_count, "steps on the heads at each step of the backbone");
    visit("head-step", self.head_step, Bound{.low = 0.0, .high = 1e6, .low_open = true},
          "length of a step on the heads");
    visit("pool", self.pool, Bound{.low = 0, .high = 1e6},
          "tasks that keep their heads between visits (0: fresh tasks at every step)");
    visit("features", self.features, any_number,
          "kept: computed once a step; recomputed: by every evaluation of a level");
    visit("meta-batch", self.meta_batch, Bound{.low = 0, .high = 1e4}, "tasks of a step (0: 40 / ways)");
    visit("alpha", self.alpha, Bound{.low = 0.0, .high = 1e3}, "Adam's step (0: 0.005, or 0.003 above 10 ways)");
    visit("steps", self.steps, at_least_one, "most steps");
    visit("seconds", self.seconds, positive, "most seconds of training");
    visit("target", self.target, Bound{.low = 0.0, .high = 1.0}, "accuracy at a look that ends the training (0: off)");
    visit("look-every", self.look_every, at_least_one, "steps between looks at classes that are not trained on");
    visit("look-tasks", self.look_tasks, Bound{.low = 2, .high = 1e6}, "tasks of a look");
    visit("look-on", self.look_on, any_number, "classes of a look: auto is validation, or test above its 16 ways");
    visit("test-steps", self.test_steps, a_count, "steps on the heads of a task that is looked at");
    visit("test-tasks", self.test_tasks, Bound{.low = 2, .high = 1e6}, "tasks of the test at the end");
    visit("images-per-class", self.images_per_class, Bound{.low = 2, .high = 1e5},
          "DoubleMNIST images made of each class");
    visit("mnist", self.mnist, any_number, "folder of MNIST's IDX files (empty: data/mnist)");
    visit("device", self.device, any_number, "cpu, cuda, cuda:1 or auto: CUDA where there is a device");
    visit("graph", self.graph, any_number, "replay steps as CUDA graphs: auto where that is possible");
    visit("threads", self.threads, Bound{.low = 0, .high = 1024}, "of the CPU (0: as many as there are)");
    visit("seed", self.seed, non_negative, "seed of everything that is random");
  }

  /// With what was left to be chosen. Throws InvalidInput where values are wrong, or do not fit together.
  [[nodiscard]] Settings completed() const;
};

struct Evaluation {
  double accuracy = 0.0;
  double half_width = 0.0; ///< of the 95 % confidence interval of the mean over tasks
};

/// A query whose head took it for another class.
struct Mistake {
  std::int64_t image = 0; ///< its number
  std::int64_t taken_for = 0;
};

} // namespace duplex::fewshot
