#include "fewshot/torch/looks.hpp"

#include <duplex/core/clock.hpp>
#include <duplex/core/conversion.hpp>

#include <string>
#include <utility>

namespace duplex::fewshot {

Looks::Looks(Tester &tester, TaskSampler tasks, const Settings &settings, const Hooks &hooks)
    : tester_(&tester), tasks_(std::move(tasks)), settings_(&settings), hooks_(&hooks) {}

Monitor<Tensors> Looks::monitor() {
  constexpr const char *error_name = "error";
  Monitor<Tensors> monitor;
  monitor.metrics = {{error_name, [this](const Progress<Tensors> & /*progress*/) { return error(); }}};
  monitor.observers = {this};
  monitor.cadence = {.every = settings_->look_every, .from_start = true};
  if (settings_->target > 0.0) {
    monitor.target = Target{.metric = error_name, .value = 1.0 - settings_->target};
  }
  if (hooks_->progress) {
    monitor.after_step = [this](std::int64_t step, double seconds) {
      hooks_->progress(step, seconds, all_.empty() ? Look() : all_.back());
    };
  }
  return monitor;
}

double Looks::error() {
  const auto found = tester_->evaluate(tasks_, settings_->look_tasks, hooks_->interrupt);
  if (!found) {
    throw Cancelled{};
  }
  found_ = *found;
  return 1.0 - found_.accuracy;
}

void Looks::observe(const Progress<Tensors> &progress) {
  all_.push_back({progress.iteration, progress.seconds, found_});
  if (hooks_->look) {
    hooks_->look(all_.back());
  }
}

void Looks::save(SavedState &into) const {
  std::vector<double> numbers;
  for (const Look &look : all_) {
    numbers.insert(numbers.end(),
                   {static_cast<double>(look.step), look.seconds, look.found.accuracy, look.found.half_width});
  }
  into.put("looks", std::move(numbers));
}

void Looks::restore(const SavedState &from) {
  const auto &numbers = from.get<SavedState::Doubles>("looks");
  if (numbers.size() % 4 != 0) {
    throw InvalidInput("'looks' of the saved state has " + std::to_string(numbers.size()) +
                       " numbers, expected four for each");
  }
  constexpr Bound share{.low = 0.0, .high = 1.0};
  for (std::size_t i = 0; i + 3 < numbers.size(); i += 4) {
    all_.push_back({whole_number(numbers[i], 0, most_in_double, "a step in 'looks' of the saved state"),
                    number_within(numbers[i + 1], finite_non_negative, "a time in 'looks' of the saved state"),
                    {number_within(numbers[i + 2], share, "an accuracy in 'looks' of the saved state"),
                     number_within(numbers[i + 3], finite_non_negative,
                                   "the width of an accuracy in 'looks' of the saved state")}});
  }
}

} // namespace duplex::fewshot
