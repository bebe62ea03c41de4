// What saving costs: hyper-cleaning on FashionMNIST with a checkpoint after every third step, on the disk, and the time
// that all of it takes beside the steps.

#include "checkpoint/run_folder.hpp"
#include "report/table.hpp"
#include "reproduce/cleaning_race.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <filesystem>
#include <random>

namespace duplex::reproduce {

namespace in_checkpoints {
namespace {

constexpr double seconds_between = 10.0; ///< of a usual run
constexpr std::int64_t saves = 20;

struct Method {
  std::string_view label;
  std::string_view spec;
};
constexpr std::array<Method, 3> methods{{{"BAGDC, hand-tuned", "bagdc:alpha=0.1:beta=0.3:upper=adam:fused=false"},
                                         {"BAGDC, mixed and fused", "bagdc:alpha=0.1:beta=0.3:upper=adam:mixing=5"},
                                         {"automatic", "automatic"}}};

struct Cost {
  double seconds = 0.0; ///< for a checkpoint: gathering, writing and renaming
  double step = 0.0;
  std::uintmax_t bytes = 0;

  [[nodiscard]] double share() const { return seconds / seconds_between; }
};

/// A folder that is gone afterwards.
class TemporaryFolder {
public:
  TemporaryFolder()
      : path_(std::filesystem::temp_directory_path() / fmt::format("duplex-checkpoints-{}", std::random_device{}())) {
    std::filesystem::create_directories(path_);
  }
  TemporaryFolder(const TemporaryFolder &) = delete;
  TemporaryFolder &operator=(const TemporaryFolder &) = delete;
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  [[nodiscard]] const std::filesystem::path &path() const { return path_; }

private:
  std::filesystem::path path_;
};

Cost cost_of(const Method &method, const CleaningRace &race, const Settings &settings) {
  constexpr std::int64_t every_steps = 3;
  const TemporaryFolder temporary;
  checkpoint::RunFolder folder(temporary.path());
  folder.begin("reproduce", {});
  std::int64_t done = 0;
  const Saving saving{.save =
                          [&](const SavedState &state) {
                            folder.save(state);
                            ++done;
                          },
                      .every_steps = every_steps,
                      .every_seconds = infinity};
  auto state = race.problem().start();
  const auto before = std::chrono::steady_clock::now();
  const auto summary = catalog::make_solver(method.spec)
                           ->run(catalog::FloatProblem(race.problem()), state,
                                 {.max_iterations = every_steps * saves,
                                  .direction_tolerance = 1e-300, // or a run that chooses its steps may end by itself
                                  .interrupt = settings.interrupt,
                                  .saving = &saving},
                                 {});
  const double wall = std::chrono::duration<double>(std::chrono::steady_clock::now() - before).count();
  folder.end(checkpoint::RunState::finished);
  return {.seconds = (wall - summary.seconds) / static_cast<double>(std::max<std::int64_t>(1, done)),
          .step = summary.seconds_per_step(),
          .bytes = std::filesystem::file_size(folder.path() / "checkpoint.dpx")};
}

} // namespace
} // namespace in_checkpoints

Experiment checkpoints(const Settings &settings) {
  using namespace in_checkpoints;
  Experiment result{.name = "checkpoints",
                    .title = std::string(title_of("checkpoints")),
                    .options = {{"cleaning_samples", settings.cleaning_samples}, {"saves", saves}},
                    .seed = settings.seed,
                    .reference = "target"};
  const CleaningRace race(settings, settings.seed);
  report::Table table({"hyper-cleaning by", "a step", "a checkpoint", "bytes", "of a run, one every 10 s"});
  double largest = 0.0;
  for (const auto &method : methods) {
    if (settings.interrupted()) {
      break;
    }
    const Cost cost = cost_of(method, race, settings);
    largest = std::max(largest, cost.share());
    table.add({std::string(method.label), duration_text(cost.step), duration_text(cost.seconds),
               std::to_string(cost.bytes), fmt::format("{:.3f} %", 100.0 * cost.share())});
    result.options["costs"][std::string(method.label)] = {
        {"seconds", cost.seconds}, {"step_seconds", cost.step}, {"bytes", cost.bytes}, {"share", cost.share()}};
  }
  result.interrupted = settings.interrupted();
  if (result.interrupted) {
    return result;
  }
  result.tables.push_back(table.text());
  result.claim("checkpoints.cost", "a checkpoint every 10 s costs less than 1 % of a hyper-cleaning run", "< 1 %",
               fmt::format("at most {:.3f} %", 100.0 * largest), largest < 0.01);
  return result;
}

} // namespace duplex::reproduce
