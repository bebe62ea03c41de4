#pragma once
// A run on a device launches steps before those before them are done. The loop reads ‖d‖ of some of them only, and
// where one turns out to be bad, it goes back to the last that is known to be good and does the others again one by
// one.

#include <duplex/core/saved_state.hpp>
#include <duplex/space/archive.hpp>

#include <cstdint>
#include <optional>

namespace duplex::detail {

class Lookahead {
public:
  /// Whether ‖d‖ of this step must be read even if nothing else needs it.
  [[nodiscard]] bool must_look(std::int64_t step) const { return !good_ || step - last_look_ >= most_unseen; }
  /// Whether there are steps between the last one whose ‖d‖ was read and this one.
  [[nodiscard]] bool left_steps_unseen(std::int64_t step) const { return good_ && step - last_look_ > 1; }

  void looked_at(std::int64_t step) { last_look_ = step; }

  /// Keeps all that the run remembers, after a step whose ‖d‖ was read and was good: at steps that double, so that it
  /// costs next to nothing.
  template <class Run> void keep_if_due(std::int64_t step, Run &run) {
    if (last_look_ == step && step >= 2 * good_iteration_) {
      good_iteration_ = step;
      StateWriter members(good_.emplace());
      run.archive(members);
    }
  }
  /// Puts the run back to the last step that was kept.
  template <class Run> void go_back(Run &run) {
    StateReader members(*good_);
    run.archive(members);
    last_look_ = good_iteration_;
  }

  void start_anew(std::int64_t step) {
    last_look_ = step;
    good_.reset();
    good_iteration_ = 0;
  }

private:
  static constexpr std::int64_t most_unseen = 16;

  std::int64_t last_look_ = 0;
  std::optional<SavedState> good_;
  std::int64_t good_iteration_ = 0;
};

} // namespace duplex::detail
