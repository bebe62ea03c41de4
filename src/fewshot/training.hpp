#pragma once
// Few-shot learning as a whole: data, training with looks at classes that are not trained on, a test on classes that
// were never looked at, and checkpoints to go on from.

#include "fewshot/settings.hpp"

#include <duplex/core/saved_state.hpp>

#include <atomic>
#include <filesystem>
#include <functional>
#include <optional>
#include <vector>

namespace duplex::fewshot {

struct Look {
  std::int64_t step = 0;
  double seconds = 0.0; ///< of training so far
  Evaluation found = {};
};

enum class Ending : std::uint8_t { target, steps, seconds, interrupted };

constexpr std::array<std::string_view, 4> ending_names{"the target was reached", "as many steps as were allowed",
                                                       "as many seconds as were allowed", "interrupted"};
constexpr const auto &names_of(Ending /*unused*/) { return ending_names; }

struct Outcome {
  Settings settings;     ///< with what was chosen
  std::string device;    ///< as found
  bool replayed = false; ///< steps as CUDA graphs
  std::vector<Look> looks;
  std::optional<Evaluation> test; ///< none where the run was interrupted
  std::int64_t steps = 0;
  double seconds = 0.0; ///< of training: no data, no preparing, no looks
  double seconds_data = 0.0;
  double seconds_preparing = 0.0; ///< a device's own start, and the capture of the step
  Ending ending = Ending::steps;
  struct Picture {
    std::int64_t taken_for = 0;
    std::int64_t of = 0;
    std::string pixels; ///< 64 · 64 bytes
  };
  std::vector<Picture> mistakes; ///< some queries of the test's tasks
  std::string backbone;          ///< the bytes of backbone.pt, a dictionary of tensors that torch.load reads
};

struct Hooks {
  std::function<void(std::int64_t step, double seconds, const Look &last)> progress;
  std::function<void(const Look &look)> look;
  /// Called at the start, after steps at most every so many seconds, and at the end.
  std::function<void(const SavedState &state)> save;
  double seconds_between_saves = 10.0;
  std::function<void(const std::filesystem::path &file)> reads = {}; ///< called with every file of the data
  const std::atomic<bool> *interrupt = nullptr;
};

/// From the start, or from the saved state of a run with the same settings. Sets LibTorch's threads and how it chooses
/// its convolutions, and on the CPU lets the process keep the memory that it frees. Throws InvalidInput where settings,
/// data or the checkpoint are wrong, NotAvailable where Duplex was built without LibTorch, std::runtime_error, with the
/// level and the step, where numbers are not finite.
[[nodiscard]] Outcome train(const Settings &settings, const Hooks &hooks = {}, const SavedState *from = nullptr);

/// Whether a run with that name of a device would be on a GPU. Throws as train() does.
[[nodiscard]] bool runs_on_gpu(const std::string &device);

void put_settings(const Settings &settings, SavedState &state);
/// The settings of the run that wrote the checkpoint.
[[nodiscard]] Settings settings_of(const SavedState &state);

} // namespace duplex::fewshot
