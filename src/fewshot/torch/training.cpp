#include "fewshot/training.hpp"

#include "data/double_mnist.hpp"
#include "fewshot/torch/backbone.hpp"
#include "fewshot/torch/backbone_file.hpp"
#include "fewshot/torch/failure.hpp"
#include "fewshot/torch/images.hpp"
#include "fewshot/torch/learner.hpp"
#include "fewshot/torch/looks.hpp"

#include <duplex/core/clock.hpp>
#include <duplex/torch/memory.hpp>

#include <ATen/ATen.h>
#include <ATen/Parallel.h>

#include <fmt/format.h>

#include <utility>

namespace duplex::fewshot {

namespace {

constexpr std::uint64_t look_seed = 10'007;
constexpr std::uint64_t test_seed = 20'011;

template <std::size_t count> std::vector<int> listed(const std::array<int, count> &classes) {
  return {classes.begin(), classes.end()};
}

std::vector<int> looked_at(const Settings &settings) {
  return settings.look_on == LookOn::test ? listed(data::double_mnist_test) : listed(data::double_mnist_validation);
}

/// Does the work and writes down how long that took.
template <class Work> auto timed(double &seconds, const Work &work) {
  Stopwatch clock;
  clock.start();
  auto result = work();
  seconds = clock.seconds_while_running();
  return result;
}

Ending ending_of(Termination termination) {
  switch (termination) {
  case Termination::target_reached:
    return Ending::target;
  case Termination::max_seconds:
    return Ending::seconds;
  case Termination::interrupted:
    return Ending::interrupted;
  default:
    return Ending::steps;
  }
}

/// In the words of the command, which knows heads and a backbone where the engine knows y and x.
std::string failure_text(const Summary &summary, const State<Tensors> &state) {
  if (summary.termination != Termination::diverged) {
    return "few-shot, " + summary.message;
  }
  const bool heads_broke = all_finite(state.x) && !(all_finite(state.y) && all_finite(state.v));
  return fmt::format("few-shot, {} at step {}; try a smaller {}",
                     heads_broke ? "lower level: the heads are not finite"
                                 : "upper level: the backbone or its direction is not finite",
                     summary.iterations, heads_broke ? "--head-step" : "--alpha or --head-step");
}

class Training {
public:
  Training(const Settings &settings, const Hooks &hooks)
      : settings_(settings.completed()), hooks_(hooks), device_(ready_device(settings_)),
        images_(timed(outcome_.seconds_data, [&] { return double_mnist_on(device_, settings_, hooks_.reads); })),
        learner_(settings_, images_, fresh_backbone(settings_.seed, device_),
                 sampler(data::double_mnist_training(), settings_.seed + 1)),
        tester_(settings_, images_, learner_.state().x),
        looks_(tester_, sampler(looked_at(settings_), settings_.seed + look_seed), settings_, hooks_) {}

  Outcome run(const SavedState *from) {
    outcome_.settings = settings_;
    outcome_.device = device_.is_cuda() ? device_.str() : fmt::format("cpu, {} threads", at::get_num_threads());
    if (from != nullptr) {
      looks_.restore(*from);
    }
    timed(outcome_.seconds_preparing, [&] {
      tester_.prepare();
      learner_.prepare();
      return true;
    });
    learn_from(from);
    if (outcome_.ending != Ending::interrupted) {
      test();
    }
    outcome_.backbone = backbone_file(learner_.backbone());
    return std::move(outcome_);
  }

private:
  [[nodiscard]] TaskSampler sampler(std::vector<int> classes, std::uint64_t seed) const {
    return {settings_.shape, std::move(classes), settings_.images_per_class, seed};
  }

  void learn_from(const SavedState *from) {
    const Saving saving{.add =
                            [&](SavedState &state) {
                              put_settings(settings_, state);
                              looks_.save(state);
                            },
                        .save = hooks_.save,
                        .every_seconds = hooks_.seconds_between_saves,
                        .at_start = true, // so that what lies in its place is of this run from now on
                        .from = from};
    const Options options{.max_iterations = settings_.steps,
                          .max_seconds = settings_.seconds,
                          .divergence_factor = infinity,
                          .interrupt = hooks_.interrupt,
                          .saving = &saving};
    const Summary summary = learn(learner_, options, looks_.monitor());
    if (summary.failed()) {
      throw TrainingFailed(failure_text(summary, learner_.state()));
    }
    outcome_.looks = looks_.all();
    outcome_.steps = summary.iterations;
    outcome_.seconds = summary.seconds;
    outcome_.ending = ending_of(summary.termination);
    outcome_.replayed = learner_.replays();
  }

  void test() {
    const auto tasks = sampler(listed(data::double_mnist_test), settings_.seed + test_seed);
    outcome_.test = tester_.evaluate(tasks, settings_.test_tasks, hooks_.interrupt);
    if (!outcome_.test) {
      outcome_.ending = Ending::interrupted;
      return;
    }
    constexpr std::size_t shown = 48;
    for (const auto &mistake : tester_.mistakes(tasks, shown)) {
      outcome_.mistakes.push_back(
          {mistake.taken_for, mistake.image / settings_.images_per_class, pixels_of(mistake.image)});
    }
  }

  [[nodiscard]] std::string pixels_of(std::int64_t image) const {
    const auto bytes = images_[image].cpu().contiguous();
    return {reinterpret_cast<const char *>(bytes.data_ptr<std::uint8_t>()), static_cast<std::size_t>(bytes.numel())};
  }

  Settings settings_;
  const Hooks &hooks_;
  Outcome outcome_;
  at::Device device_;
  at::Tensor images_;
  Learner learner_;
  Tester tester_;
  Looks looks_;
};

} // namespace

Outcome train(const Settings &settings, const Hooks &hooks, const SavedState *from) {
  return explaining("few-shot (a smaller --meta-batch and fewer --images-per-class need less)",
                    [&] { return Training(settings, hooks).run(from); });
}

bool runs_on_gpu(const std::string &device) { return chosen_device(device).is_cuda(); }

} // namespace duplex::fewshot
