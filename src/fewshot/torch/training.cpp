#include "fewshot/training.hpp"

#include "data/double_mnist.hpp"
#include "fewshot/torch/backbone_file.hpp"
#include "fewshot/torch/learner.hpp"

#include <duplex/core/conversion.hpp>
#include <duplex/solve.hpp>
#include <duplex/torch/memory.hpp>

#include <ATen/ATen.h>
#include <ATen/Context.h>
#include <ATen/Parallel.h>

#include <fmt/format.h>

#include <malloc.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <mutex>
#include <thread>

namespace duplex::fewshot {

namespace {

constexpr std::uint64_t look_seed = 10'007;
constexpr std::uint64_t test_seed = 20'011;

at::Device chosen_device(const std::string &name) {
  if (name == "auto") {
    return at::hasCUDA() ? device_named("cuda") : at::Device(at::kCPU);
  }
  return device_named(name);
}

/// A step frees and asks again for the same hundreds of megabytes; giving them back to the system in between costs
/// more time than the arithmetic.
void keep_freed_memory() {
#ifdef __GLIBC__
  constexpr int all = std::numeric_limits<int>::max();
  (void)mallopt(M_MMAP_THRESHOLD, all);
  (void)mallopt(M_TRIM_THRESHOLD, all);
#endif
}

/// Into the settings too: a run that goes on must not find itself elsewhere.
at::Device resolved_device(Settings &settings) {
  const auto device = chosen_device(settings.device);
  settings.device = device.str();
  if (settings.threads == 0) {
    settings.threads = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
  }
  return device;
}

template <std::size_t count> std::vector<int> listed(const std::array<int, count> &classes) {
  return {classes.begin(), classes.end()};
}

/// Images on the device. The last ones made are kept, since a race trains on the same ones again and again.
at::Tensor double_mnist_on(const at::Device &device, const Settings &settings, const Hooks &hooks) {
  struct Made {
    std::string folder;
    std::int64_t images_per_class = 0;
    at::Tensor images;
  };
  static std::mutex one_at_a_time;
  static Made last;
  const std::lock_guard<std::mutex> lock(one_at_a_time);
  if (!last.images.defined() || last.images.device() != device || last.folder != settings.mnist ||
      last.images_per_class != settings.images_per_class) {
    auto made = data::make_double_mnist(
        {.folder = settings.mnist, .images_per_class = settings.images_per_class, .reading = {.opened = hooks.reads}});
    const auto count = data::DoubleMnist::classes * made.images_per_class;
    const auto on_host = at::from_blob(made.bytes.data(), {count, data::DoubleMnist::pixels}, at::kByte);
    last = {settings.mnist, settings.images_per_class, on_host.to(device, at::kByte, false, true)};
  }
  return last.images;
}

class Training {
public:
  Training(const Settings &settings, const Hooks &hooks)
      : settings_(settings.completed()), hooks_(hooks), device_(resolved_device(settings_)), images_(made_images()),
        learner_(settings_, images_, fresh_backbone(settings_.seed, device_),
                 sampler(data::double_mnist_training(), settings_.seed + 1)) {}

  Outcome run(const SavedState *from) {
    outcome_.settings = settings_;
    if (from != nullptr) {
      restore(*from);
    }
    Stopwatch preparing;
    preparing.start();
    learner_.prepare();
    learner_.require_finite(); // waits
    preparing.pause();
    outcome_.seconds_preparing = preparing.seconds_while_paused();
    if (from == nullptr) {
      save(); // so that what lies in its place is of this run from now on
    }
    if (look_is_due() && !looked_here()) { // also where it was interrupted
      look();
    }
    while (!ended()) {
      clock_.start();
      learner_.step();
      const bool due = look_is_due();
      constexpr std::int64_t steps_between_readings = 10;
      if (due || (std::isfinite(settings_.seconds) && learner_.steps() % steps_between_readings == 0)) {
        learner_.require_finite(); // waits, so that the clock holds all of the work
      }
      clock_.pause();
      if (hooks_.progress) {
        hooks_.progress(learner_.steps(), seconds(), outcome_.looks.empty() ? Look() : outcome_.looks.back());
      }
      if (due) {
        look();
      }
      save_if_due();
    }
    return finished();
  }

private:
  at::Tensor made_images() {
    at::set_num_threads(settings_.threads);
    if (device_.is_cpu()) {
      keep_freed_memory();
    }
    at::globalContext().setBenchmarkCuDNN(true);
    Stopwatch making;
    making.start();
    auto images = double_mnist_on(device_, settings_, hooks_);
    making.pause();
    outcome_.seconds_data = making.seconds_while_paused();
    return images;
  }

  [[nodiscard]] TaskSampler sampler(std::vector<int> classes, std::uint64_t seed) const {
    return {settings_.shape, std::move(classes), settings_.images_per_class, seed};
  }

  [[nodiscard]] double seconds() const { return seconds_before_ + clock_.seconds_while_paused(); }

  [[nodiscard]] bool look_is_due() const { return learner_.steps() % settings_.look_every == 0; }
  [[nodiscard]] bool looked_here() const {
    return !outcome_.looks.empty() && outcome_.looks.back().step == learner_.steps();
  }
  [[nodiscard]] bool at_target() const {
    return settings_.target > 0.0 && looked_here() && outcome_.looks.back().found.accuracy >= settings_.target;
  }

  /// Nothing where it was interrupted.
  std::optional<Evaluation> evaluated(const TaskSampler &tasks, std::int64_t count) {
    try {
      return learner_.evaluate(tasks, count, hooks_.interrupt);
    } catch (const Interrupted &) {
      return std::nullopt;
    }
  }

  void look() {
    auto classes =
        settings_.look_on == LookOn::test ? listed(data::double_mnist_test) : listed(data::double_mnist_validation);
    const auto found = evaluated(sampler(std::move(classes), settings_.seed + look_seed), settings_.look_tasks);
    if (!found) {
      return;
    }
    outcome_.looks.push_back({learner_.steps(), seconds(), *found});
    if (hooks_.look) {
      hooks_.look(outcome_.looks.back());
    }
  }

  bool ended() {
    const auto ends = [this](Ending ending) {
      outcome_.ending = ending;
      return true;
    };
    if (hooks_.interrupt != nullptr && hooks_.interrupt->load()) {
      return ends(Ending::interrupted);
    }
    if (at_target()) {
      return ends(Ending::target);
    }
    if (learner_.steps() >= settings_.steps) {
      return ends(Ending::steps);
    }
    return seconds() >= settings_.seconds && ends(Ending::seconds);
  }

  Outcome finished() {
    clock_.start();
    learner_.require_finite(); // waits for what was launched
    clock_.pause();
    if (outcome_.ending != Ending::interrupted && !looked_here()) {
      look();
      outcome_.ending = at_target() ? Ending::target : outcome_.ending;
    }
    save();
    outcome_.steps = learner_.steps();
    outcome_.seconds = seconds();
    outcome_.replayed = learner_.replays();
    outcome_.device = device_.is_cuda() ? device_.str() : fmt::format("cpu, {} threads", at::get_num_threads());
    if (outcome_.ending != Ending::interrupted) {
      const auto tasks = sampler(listed(data::double_mnist_test), settings_.seed + test_seed);
      outcome_.test = evaluated(tasks, settings_.test_tasks);
      if (!outcome_.test) {
        outcome_.ending = Ending::interrupted;
        outcome_.backbone = backbone_file(learner_.backbone());
        return std::move(outcome_);
      }
      constexpr std::size_t shown = 48;
      for (const auto &mistake : learner_.mistakes(tasks, shown)) {
        outcome_.mistakes.push_back(
            {mistake.taken_for, mistake.image / settings_.images_per_class, pixels_of(mistake.image)});
      }
    }
    outcome_.backbone = backbone_file(learner_.backbone());
    return std::move(outcome_);
  }

  [[nodiscard]] std::string pixels_of(std::int64_t image) const {
    const auto bytes = images_[image].cpu().contiguous();
    return {reinterpret_cast<const char *>(bytes.data_ptr<std::uint8_t>()), static_cast<std::size_t>(bytes.numel())};
  }

  void save_if_due() {
    if (seconds() - saved_at_ >= hooks_.seconds_between_saves) {
      learner_.require_finite();
      save();
    }
  }

  void save() {
    saved_at_ = seconds();
    if (!hooks_.save) {
      return;
    }
    SavedState state;
    Settings::fields(settings_,
                     [&](std::string_view name, const auto &value, const Bound &, std::string_view, Role = Role::none) {
                       state.put("setting " + std::string(name), field_text(value));
                     });
    state.put("seconds", SavedState::Doubles{seconds()});
    std::vector<double> looks;
    for (const auto &look : outcome_.looks) {
      looks.insert(looks.end(),
                   {static_cast<double>(look.step), look.seconds, look.found.accuracy, look.found.half_width});
    }
    state.put("looks", std::move(looks));
    learner_.save(state);
    hooks_.save(state);
  }

  void restore(const SavedState &state) {
    seconds_before_ =
        number_within(state.first<SavedState::Doubles>("seconds"), finite_non_negative, "'seconds' of the saved state");
    saved_at_ = seconds_before_;
    const auto &looks = state.get<SavedState::Doubles>("looks");
    if (looks.size() % 4 != 0) {
      throw InvalidInput("'looks' of the saved state has " + std::to_string(looks.size()) +
                         " numbers, expected four for each");
    }
    constexpr Bound share{.low = 0.0, .high = 1.0};
    for (std::size_t i = 0; i + 3 < looks.size(); i += 4) {
      outcome_.looks.push_back(
          {whole_number(looks[i], 0, most_in_double, "a step in 'looks' of the saved state"),
           number_within(looks[i + 1], finite_non_negative, "a time in 'looks' of the saved state"),
           {number_within(looks[i + 2], share, "an accuracy in 'looks' of the saved state"),
            number_within(looks[i + 3], finite_non_negative,
                          "the width of an accuracy in 'looks' of the saved state")}});
    }
    learner_.restore(state);
  }

  Settings settings_;
  const Hooks &hooks_;
  Outcome outcome_;
  at::Device device_;
  at::Tensor images_;
  Learner learner_;
  Stopwatch clock_;
  double seconds_before_ = 0.0; ///< of the run that this one goes on from
  double saved_at_ = 0.0;
};

} // namespace

Outcome train(const Settings &settings, const Hooks &hooks, const SavedState *from) {
  return explaining("few-shot (a smaller --meta-batch and fewer --images-per-class need less)",
                    [&] { return Training(settings, hooks).run(from); });
}

bool runs_on_gpu(const std::string &device) { return chosen_device(device).is_cuda(); }

} // namespace duplex::fewshot
