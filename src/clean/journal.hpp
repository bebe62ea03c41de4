#pragma once
// What a cleaning has computed, in order, so that one that was killed goes on: fits and bilevel runs that are written
// down are not done again, and all else follows from them and the data.

#include "clean/classifier.hpp"

#include <duplex/core/clock.hpp>
#include <duplex/core/saved_state.hpp>

#include <functional>
#include <memory>
#include <string>

namespace duplex::clean {

class Journal {
public:
  using Save = std::function<void(const SavedState &)>;

  /// Saves every so many seconds, when a piece of work is done; goes on with what was saved before, if anything.
  Journal(Save save, double every_seconds, const SavedState *before = nullptr);

  /// Numbers of the data. Throws InvalidInput where they are not those of what was saved before.
  void require_same_data(const LabelledSamples &training, const LabelledSamples &trusted);

  /// The model of the next fit, in the place of one of the same size; false where it is still to be done. Throws
  /// InvalidInput, naming the entry, where what was saved cannot be that.
  [[nodiscard]] bool take_fit(Vector &model);
  void note_fit(const Vector &model);
  /// The answer of the next bilevel run, whose sights are shown to the judge again: an x of so many training samples
  /// and a model of so many parameters. Throws as take_fit() does.
  [[nodiscard]] bool take_run(BilevelAnswer &answer, const Judge &judge, Index samples, Index parameters);
  void note_run(const BilevelAnswer &answer, const std::vector<Sight> &sights);

  /// Saves now.
  void save();

private:
  [[nodiscard]] bool is_known(std::string_view kind) const;
  [[nodiscard]] std::string name(std::string_view what) const;
  /// Of the next piece: numbers that are finite, as many as expected.
  [[nodiscard]] Vector vector(std::string_view what, Index expected) const;
  [[nodiscard]] std::string text(std::string_view what) const;
  void done();

  Save save_;
  double every_seconds_;
  SavedState pieces_;
  std::int64_t known_ = 0; ///< pieces that were saved before
  std::int64_t next_ = 0;
  Stopwatch clock_;
  double last_save_ = 0.0;
};

/// Does with the classifier only what the journal does not know.
[[nodiscard]] std::unique_ptr<Classifier> remembering(const Classifier &classifier, Journal &journal);

} // namespace duplex::clean
