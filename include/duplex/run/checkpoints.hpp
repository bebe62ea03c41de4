#pragma once
// When a run is saved, and from where it goes on if a step of it is abandoned in its middle.

#include <duplex/core/saved_state.hpp>
#include <duplex/run/parts.hpp>
#include <duplex/run/saving_clock.hpp>
#include <duplex/run/unfinished_step.hpp>

#include <cstdint>
#include <optional>

namespace duplex::detail {

template <VectorSpace V> class Checkpoints {
public:
  explicit Checkpoints(RunParts<V> &parts) : parts_(&parts), clock_(parts.run.options->saving) {
    clock_.saved(parts.run.summary.iterations);
  }

  void save_at_start() {
    if (const Saving *saving = clock_.saving(); saving != nullptr && saving->at_start && saving->from == nullptr) {
      save();
    }
  }
  [[nodiscard]] bool due(std::int64_t k) { return clock_.due(k); }
  void save() { save(parts_->saved()); }

  void before_step() {
    const RunContext<V> &run = parts_->run;
    if (!run.steps_may_be_left()) {
      return;
    }
    unfinished_.keep(*run.state);
    if (clock_.saving() != nullptr && unfinished_.snapshot_is_due()) {
      run.meter->clock.pause_for([&] { unfinished_.keep_snapshot([&] { return parts_->saved(); }); });
    }
  }

  /// Puts y and v back to what they were before the step that was abandoned.
  void put_back() { unfinished_.put_back(*parts_->run.state); }

  /// Saves the run at its end: as it is or, where its last step was abandoned, as it was when a state was last kept.
  void save_at_end(bool was_left) {
    if (clock_.saving() != nullptr) {
      const std::optional<SavedState> before = was_left ? unfinished_.take_snapshot() : std::nullopt;
      save(before ? *before : parts_->saved());
    }
  }

private:
  void save(const SavedState &state) {
    clock_.saving()->save(state);
    clock_.saved(parts_->run.summary.iterations);
  }

  RunParts<V> *parts_;
  SavingClock clock_;
  UnfinishedStep<V> unfinished_;
};

} // namespace duplex::detail
