#pragma once
// What a cleaning has computed, in order, so that one that was killed goes on: fits that are written down are not done
// again, a bilevel run goes on from the checkpoint that it left of itself, and all else follows from them and the data.

#include "clean/classifier.hpp"

#include <duplex/core/clock.hpp>
#include <duplex/core/saved_state.hpp>
#include <duplex/core/saving.hpp>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace duplex::clean {

struct OthersBeliefs;

class Journal {
public:
  using Save = std::function<void(const SavedState &)>;

  /// Saves every so many seconds, when a fit is done and while a bilevel run goes on; goes on with what was saved
  /// before, if anything.
  Journal(Save save, double every_seconds, const SavedState *before = nullptr);

  /// Numbers of the data. Throws InvalidInput where they are not those of what was saved before.
  void require_same_data(const LabelledSamples &training, const LabelledSamples &trusted,
                         const OthersBeliefs *others = nullptr);

  /// The model of the next fit, in the place of one of the same size; false where it is still to be done. Throws
  /// InvalidInput, naming the entry, where what was saved cannot be that.
  [[nodiscard]] bool take_fit(Vector &model);
  void note_fit(const Vector &model);
  /// What the next bilevel run, begun or done, has saved of itself; nothing where it is still to begin.
  [[nodiscard]] std::optional<SavedState> take_run() const;
  /// How that run goes on from there, and how it is written down as it goes.
  [[nodiscard]] Saving saving_of_run(const std::optional<SavedState> &begun);
  /// The name of that run in messages.
  [[nodiscard]] std::string run_name() const;
  void end_run();

  /// Saves now.
  void save();

private:
  /// Throws InvalidInput where the next piece is of another kind.
  void require_kind(std::string_view kind) const;
  [[nodiscard]] std::string name(std::string_view what) const;
  /// Of the next piece: numbers that are finite, as many as expected.
  [[nodiscard]] Vector vector(std::string_view what, Index expected) const;
  void note_run(const SavedState &state);
  void done();
  void save_if_due();

  Save save_;
  double every_seconds_;
  SavedState pieces_;
  std::int64_t known_ = 0; ///< pieces that were saved before
  std::int64_t next_ = 0;
  Stopwatch clock_;
  double last_save_ = 0.0;
};

/// Do only what the journal does not know. They keep a share of what they do it with.
[[nodiscard]] std::shared_ptr<const Classifier> remembering(std::shared_ptr<const Classifier> classifier,
                                                            Journal &journal);
[[nodiscard]] std::unique_ptr<BilevelProblem> remembering(std::unique_ptr<BilevelProblem> problem, Journal &journal);

} // namespace duplex::clean
