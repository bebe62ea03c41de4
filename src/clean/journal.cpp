#include "clean/journal.hpp"

#include "clean/others_beliefs.hpp"
#include "data/text.hpp"

#include <duplex/core/conversion.hpp>
#include <duplex/core/error.hpp>

#include <zlib.h>

#include <span>
#include <utility>

namespace duplex::clean {

namespace {

SavedState::Floats floats_of(const Vector &vector) { return {vector.data(), vector.data() + vector.size()}; }

constexpr std::int64_t most_pieces = 1'000'000; ///< far more than a cleaning has
/// Of what is done between the fits that are written down: what was begun in another way cannot go on in this one.
constexpr std::int64_t way_of_cleaning = 2;

/// How a message names an entry.
std::string quoted(const std::string &entry) { return "'" + entry + "' of the checkpoint"; }

uLong checksum(uLong before, std::span<const std::byte> bytes) {
  return crc32_z(before, reinterpret_cast<const unsigned char *>(bytes.data()), bytes.size());
}

SavedState::Integers checksums(const Matrix &matrix) {
  const std::span numbers(matrix.data(), static_cast<std::size_t>(matrix.size()));
  return {matrix.rows(), matrix.cols(), static_cast<std::int64_t>(checksum(0, std::as_bytes(numbers)))};
}

SavedState::Integers checksums(const LabelledSamples &samples) {
  if (!samples.features) {
    return {0};
  }
  const auto &features = *samples.features;
  const auto &labels = *samples.labels;
  uLong of_features = 0;
  for (const auto piece : features.memory()) {
    of_features = checksum(of_features, piece);
  }
  return {features.rows(), features.columns(), static_cast<std::int64_t>(of_features),
          static_cast<std::int64_t>(checksum(0, std::as_bytes(std::span(labels))))};
}

/// Goes on inside of a run that was begun, by the checkpoint that the run left of itself.
class RememberingBilevel final : public BilevelProblem {
public:
  RememberingBilevel(std::unique_ptr<BilevelProblem> problem, Journal &journal)
      : problem_(std::move(problem)), journal_(&journal) {}

  [[nodiscard]] double curvature() const override { return problem_->curvature(); }

  [[nodiscard]] BilevelAnswer solve(const BilevelRequest &request) const override {
    const std::optional<SavedState> begun = journal_->take_run();
    BilevelRequest remembered = request;
    remembered.saving = journal_->saving_of_run(begun);
    BilevelAnswer answer = begun ? going_on(remembered) : problem_->solve(remembered);
    if (answer.summary.termination != Termination::interrupted && !answer.summary.failed()) {
      journal_->end_run();
    }
    return answer;
  }

private:
  /// What the run refuses of what was saved is refused by its name.
  [[nodiscard]] BilevelAnswer going_on(const BilevelRequest &request) const {
    try {
      BilevelAnswer answer = problem_->solve(request);
      if (!answer.summary.failed() && !(answer.x.allFinite() && answer.model.allFinite())) {
        throw InvalidInput("its best state holds NaN or infinity, expected finite numbers");
      }
      return answer;
    } catch (const InvalidInput &error) {
      throw InvalidInput(journal_->run_name() + ": " + error.what());
    }
  }

  std::unique_ptr<BilevelProblem> problem_;
  Journal *journal_;
};

class RememberingClassifier final : public Classifier {
public:
  RememberingClassifier(std::shared_ptr<const Classifier> classifier, Journal &journal)
      : classifier_(std::move(classifier)), journal_(&journal) {}

  [[nodiscard]] const TrainingPlan &plan() const override { return classifier_->plan(); }
  [[nodiscard]] Index hidden() const override { return classifier_->hidden(); }
  [[nodiscard]] Vector untrained() const override { return classifier_->untrained(); }
  void fit(std::span<const WeightedSamples> parts, const FitOptions &options, Vector &model) const override {
    if (!journal_->take_fit(model)) {
      classifier_->fit(parts, options, model);
      journal_->note_fit(model);
    }
  }
  [[nodiscard]] Matrix log_probabilities(const LabelledSamples &samples, const Vector &model) const override {
    return classifier_->log_probabilities(samples, model);
  }

private:
  std::shared_ptr<const Classifier> classifier_;
  Journal *journal_;
};

} // namespace

Journal::Journal(Save save, double every_seconds, const SavedState *before)
    : save_(std::move(save)), every_seconds_(every_seconds) {
  if (before != nullptr) {
    pieces_ = *before;
    known_ = before->first<SavedState::Integers>("pieces");
    if (known_ < 0 || known_ > most_pieces) {
      throw InvalidInput(quoted("pieces") + " is " + std::to_string(known_) + ", expected a whole number from 0 to " +
                         std::to_string(most_pieces));
    }
  }
  const SavedState::Integers way{way_of_cleaning};
  if (known_ > 0 && (!pieces_.has("way of cleaning") || pieces_.get<SavedState::Integers>("way of cleaning") != way)) {
    throw InvalidInput("the checkpoint is of another version of duplex, which cleans in another way: begin again");
  }
  pieces_.put("way of cleaning", way);
  clock_.start();
}

void Journal::require_same_data(const LabelledSamples &training, const LabelledSamples &trusted,
                                const OthersBeliefs *others) {
  const auto require = [&](const std::string &set, SavedState::Integers now) {
    const std::string entry = set + " checksums";
    if (known_ > 0 && pieces_.get<SavedState::Integers>(entry) != now) {
      throw InvalidInput("the " + set + " data are not those of the cleaning that is to go on");
    }
    pieces_.put(entry, std::move(now));
  };
  require("training", checksums(training));
  require("trusted", checksums(trusted));
  if (others != nullptr) {
    require("probabilities", checksums(others->training));
    require("trusted probabilities", checksums(others->trusted));
  }
}

std::string Journal::name(std::string_view what) const {
  return "piece " + std::to_string(next_) + " " + std::string(what);
}

void Journal::require_kind(std::string_view kind) const {
  if (pieces_.get<std::string>(name("kind")) != kind) {
    throw InvalidInput("the checkpoint is of a cleaning that went another way: '" + name("kind") + "' is " +
                       data::shown(pieces_.get<std::string>(name("kind"))) + ", expected " + std::string(kind));
  }
}

Vector Journal::vector(std::string_view what, Index expected) const {
  const auto &numbers = pieces_.get<SavedState::Floats>(name(what));
  if (static_cast<Index>(numbers.size()) != expected) {
    throw InvalidInput(quoted(name(what)) + " has " + std::to_string(numbers.size()) + " numbers, expected " +
                       std::to_string(expected));
  }
  Vector read = Eigen::Map<const Vector>(numbers.data(), expected);
  if (!read.allFinite()) {
    throw InvalidInput(quoted(name(what)) + " holds NaN or infinity, expected finite numbers");
  }
  return read;
}

bool Journal::take_fit(Vector &model) {
  if (next_ >= known_) {
    return false;
  }
  require_kind("fit");
  model = vector("model", model.size());
  ++next_;
  return true;
}

void Journal::note_fit(const Vector &model) {
  pieces_.put(name("kind"), std::string("fit"));
  pieces_.put(name("model"), floats_of(model));
  done();
}

std::optional<SavedState> Journal::take_run() const {
  if (next_ >= known_ && !pieces_.has(name("kind"))) {
    return std::nullopt;
  }
  require_kind("run");
  return pieces_.nested(name("state "));
}

Saving Journal::saving_of_run(const std::optional<SavedState> &begun) {
  Saving saving{.every_seconds = every_seconds_, .from = begun ? &*begun : nullptr};
  if (next_ >= known_) { // what is done need not be saved again
    saving.save = [this](const SavedState &state) { note_run(state); };
  }
  return saving;
}

void Journal::note_run(const SavedState &state) {
  pieces_.put(name("kind"), std::string("run"));
  pieces_.put_nested(name("state "), state);
  save_if_due();
}

std::string Journal::run_name() const { return quoted(name("state")); }

void Journal::end_run() {
  if (next_ < known_) {
    ++next_;
  } else {
    done();
  }
}

void Journal::done() {
  ++next_;
  save_if_due();
}

void Journal::save_if_due() {
  if (clock_.seconds_while_running() - last_save_ >= every_seconds_) {
    save();
  }
}

void Journal::save() {
  pieces_.put("pieces", SavedState::Integers{std::max(next_, known_)});
  save_(pieces_);
  last_save_ = clock_.seconds_while_running();
}

std::shared_ptr<const Classifier> remembering(std::shared_ptr<const Classifier> classifier, Journal &journal) {
  return std::make_shared<RememberingClassifier>(std::move(classifier), journal);
}

std::unique_ptr<BilevelProblem> remembering(std::unique_ptr<BilevelProblem> problem, Journal &journal) {
  return std::make_unique<RememberingBilevel>(std::move(problem), journal);
}

} // namespace duplex::clean
