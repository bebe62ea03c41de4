// Checkpoints. The decoder is given entries with the checksum that they need; runs are given states that were good and
// then edited, so that every input comes to where a run takes its numbers from.

#include "fuzz.hpp"

#include "checkpoint/checkpoint.hpp"
#include "clean/cleaning.hpp"
#include "clean/journal.hpp"
#include "cli/solve_arguments.hpp"
#include "experiment/experiment.hpp"
#include "fewshot/training.hpp"

#include <duplex/problems/quadratic.hpp>

#include <algorithm>
#include <array>
#include <cstring>
#include <iterator>
#include <stdexcept>

namespace duplex::fuzz {

namespace {

constexpr std::array<const char *, 3> solvers{"bagdc:alpha=0.1:beta=0.2:mixing=2:dual=constant:eta=0.2", "automatic",
                                              "rhg:alpha=0.1:beta=0.2:inner=3"};

const catalog::Problem &small_problem() {
  static const catalog::Problem problem = QuadraticSettings{.n = 3, .m = 4, .seed = 3}.make<double>();
  return problem;
}

void solve_from(const std::string &solver, std::int64_t iterations, const Saving &saving) {
  const experiment::RunRequest request{.problem = small_problem(),
                                       .solver = solver,
                                       .name = "run",
                                       .options = {.max_iterations = iterations, .recoveries = 2, .patience = 50},
                                       .metrics = {"kkt", "upper"},
                                       .saving = saving};
  try {
    (void)experiment::run_series(request);
  } catch (const NotAvailable &) { // a metric that does not exist where the state has led
    return;
  }
}

SavedState solved_for(const std::string &solver, std::int64_t iterations) {
  SavedState last;
  solve_from(solver, iterations, {.save = [&](const SavedState &state) { last = state; }, .every_seconds = infinity});
  return last;
}

LabelledSamples two_sides(Index rows) {
  FeatureTable features(Storage::float32, 1);
  std::vector<std::uint32_t> labels;
  for (Index i = 0; i < rows; ++i) {
    const auto side = static_cast<std::uint32_t>(i % 2);
    features.append(std::array<float, 1>{(side == 0 ? -1.0F : 1.0F) + 0.1F * static_cast<float>(i % 7)});
    labels.push_back(i % 5 == 0 ? 1 - side : side);
  }
  return {std::make_shared<const FeatureTable>(std::move(features)),
          std::make_shared<const std::vector<std::uint32_t>>(std::move(labels))};
}

void clean_with(clean::Journal &journal) {
  static const LabelledSamples training = two_sides(20);
  static const LabelledSamples trusted = two_sides(8);
  clean::Options options;
  options.model = clean::ModelKind::linear;
  options.sources = {.of_row = std::vector<std::uint32_t>(20, 0), .count = 2};
  std::fill_n(options.sources.of_row.begin(), 7, 1U);
  options.threads = 1;
  options.most_steps = 5;
  options.rounds = 1;
  options.journal = &journal;
  try {
    (void)clean::clean(training, trusted, 2, options);
  } catch (const std::runtime_error &) { // what a forged run says of its own failure
    return;
  }
}

/// Of a cleaning that is done, and of one in the middle of its bilevel run.
std::array<SavedState, 2> cleaned() {
  std::array<SavedState, 2> saved;
  clean::Journal journal(
      [&](const SavedState &state) {
        const auto next = "piece " + std::to_string(state.first<SavedState::Integers>("pieces")) + " state iterations";
        if (state.has(next) && state.first<SavedState::Integers>(next) == 3) {
          saved[1] = state;
        }
        saved[0] = state;
      },
      0.0);
  clean_with(journal);
  return saved;
}

SavedState few_shot_settings() {
  SavedState state;
  const fewshot::Settings settings;
  fewshot::Settings::fields(settings,
                            [&](std::string_view name, const auto &value, const Bound &, std::string_view,
                                Role = Role::none) { state.put("setting " + std::string(name), field_text(value)); });
  return state;
}

/// Takes numbers off the input; zeros when there is no more.
class Bytes {
public:
  explicit Bytes(std::string_view bytes) : rest_(bytes) {}
  [[nodiscard]] bool empty() const { return rest_.empty(); }
  template <class T> [[nodiscard]] T take() {
    T value{};
    const std::size_t count = std::min(sizeof value, rest_.size());
    std::memcpy(&value, rest_.data(), count);
    rest_.remove_prefix(count);
    return value;
  }

private:
  std::string_view rest_;
};

template <class Numbers> void edit(Numbers &numbers, Bytes &from) {
  using T = typename Numbers::value_type;
  const auto place = from.take<std::uint8_t>();
  switch (from.take<std::uint8_t>() % 4) {
  case 0:
    numbers.resize(std::min<std::size_t>(place, numbers.size()));
    break;
  case 1:
    numbers.push_back(from.take<T>());
    break;
  default:
    if (!numbers.empty()) {
      numbers[place % numbers.size()] = from.take<T>();
    }
  }
}

/// Numbers of some entries become others, are too many or too few, or of another kind; or the entry is gone.
SavedState edited(const SavedState &good, std::string_view input) {
  constexpr std::uint8_t another_kind = 250;
  auto entries = good.entries();
  for (Bytes bytes(input); !bytes.empty() && !entries.empty();) {
    const auto entry =
        std::next(entries.begin(), bytes.take<std::uint16_t>() % static_cast<std::ptrdiff_t>(entries.size()));
    const auto what = bytes.take<std::uint8_t>();
    if (what > another_kind) {
      entries.erase(entry);
    } else if (what == another_kind) {
      entry->second = SavedState::Doubles{bytes.take<double>()};
    } else {
      std::visit([&](auto &values) { edit(values, bytes); }, entry->second);
    }
  }
  SavedState state;
  for (auto &[name, value] : entries) {
    state.put(name, std::move(value));
  }
  return state;
}

void use_as_told(const SavedState &state) {
  use_or_refuse([&] { (void)fewshot::settings_of(state).completed(); });
  use_or_refuse([&] {
    cli::SolveArguments arguments;
    cli::take_told(state, arguments);
  });
}

} // namespace

void read_checkpoint(std::string_view input) {
  use_or_refuse([&] { (void)checkpoint::decoded(input, "input"); });
  use_or_refuse([&] {
    const SavedState state = checkpoint::decoded(checkpoint::framed(input), "input");
    use_as_told(state);
    use_or_refuse([&] { solve_from("automatic", 5, {.from = &state}); });
  });
}

void go_on_solving(std::string_view input) {
  for (const char *solver : solvers) {
    constexpr std::int64_t saved_at = 4;
    constexpr std::int64_t iterations = 12;
    static const std::array<SavedState, 3> good{solved_for(solvers[0], saved_at), solved_for(solvers[1], saved_at),
                                                solved_for(solvers[2], saved_at)};
    const auto which = static_cast<std::size_t>(std::find(solvers.begin(), solvers.end(), solver) - solvers.begin());
    const SavedState state = edited(good[which], input);
    use_or_refuse([&] { solve_from(solver, iterations, {.from = &state}); });
  }
}

void go_on_cleaning(std::string_view input) {
  static const std::array<SavedState, 2> good = cleaned();
  const SavedState state =
      edited(good[input.size() % good.size()], input); // one of them: a cleaning takes milliseconds
  use_or_refuse([&] {
    clean::Journal journal([](const SavedState &) {}, infinity, &state);
    clean_with(journal);
  });
}

std::vector<std::string> checkpoint_seeds() {
  cli::SolveArguments told{.problem = "quadratic", .more = {"--n", "3"}};
  SavedState solved = solved_for(solvers[0], 3);
  cli::put_told(told, solved);
  std::vector<std::string> seeds;
  for (const auto &state : {solved, few_shot_settings()}) {
    seeds.emplace_back(checkpoint::entries_of(checkpoint::encoded(state)));
  }
  return seeds;
}

std::vector<std::string> edit_seeds() {
  return {std::string(), std::string("\x05\x00\x10\x00\x02\xff\xff\xff\xff\xff\xff\xff\xff", 13),
          std::string("\x01\x00\x10\x00\x02\x00\x00\x00\x00\x00\x00\xf8\x7f", 13), std::string("\x03\x00\xff", 3),
          std::string("\x07\x00\x10\x00\x00", 5)};
}

} // namespace duplex::fuzz
