#pragma once
// Saving a run, and going on with one.

#include <duplex/core/saved_state.hpp>

#include <cstdint>
#include <functional>

namespace duplex {

/// save() is given all that the run remembers, off its clock: every so many steps, every so many seconds, and at its
/// end unless it failed. A run that goes on from that, with the same problem, solver and options, comes to the same
/// bits as one that was not interrupted. What monitors and observers keep is theirs to add.
struct Saving {
  /// Called when the state is taken, which may be some steps before it is saved.
  std::function<void(SavedState &)> add = {};
  std::function<void(const SavedState &)> save = {};
  std::int64_t every_steps = 0; ///< 0: by the seconds alone
  double every_seconds = 10.0;  ///< all of them, those off the run's clock too
  bool at_start = false;        ///< also before the first step of a run that does not go on
  const SavedState *from = nullptr;
};

} // namespace duplex
