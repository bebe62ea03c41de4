#include "clean/journal.hpp"

#include "data/text.hpp"

#include <duplex/core/conversion.hpp>
#include <duplex/core/error.hpp>

#include <zlib.h>

#include <utility>

namespace duplex::clean {

namespace {

constexpr std::size_t numbers_of_a_sight = 6;

SavedState::Floats floats_of(const Vector &vector) { return {vector.data(), vector.data() + vector.size()}; }

constexpr std::int64_t most_pieces = 1'000'000; ///< far more than a cleaning has

/// How a message names an entry.
std::string quoted(const std::string &entry) { return "'" + entry + "' of the checkpoint"; }

SavedState::Integers checksums(const LabelledSamples &samples) {
  const auto &features = *samples.features;
  const auto &labels = *samples.labels;
  const auto checksum = [](const void *bytes, std::size_t count) {
    return static_cast<std::int64_t>(crc32_z(0, static_cast<const unsigned char *>(bytes), count));
  };
  return {features.rows(), features.columns(), checksum(features.data(), features.bytes()),
          checksum(labels.data(), labels.size() * sizeof(labels[0]))};
}

class RememberingBilevel final : public BilevelProblem {
public:
  RememberingBilevel(std::unique_ptr<BilevelProblem> problem, Journal &journal, Index samples, Index parameters)
      : problem_(std::move(problem)), journal_(&journal), samples_(samples), parameters_(parameters) {}

  [[nodiscard]] double curvature() const override { return problem_->curvature(); }

  [[nodiscard]] BilevelAnswer solve(const SolverChoice &choice, const Judge &judge) const override {
    BilevelAnswer answer;
    if (journal_->take_run(answer, judge, samples_, parameters_)) {
      return answer;
    }
    std::vector<Sight> sights;
    answer = problem_->solve(choice, [&](const Sight &sight) {
      sights.push_back(sight);
      return judge(sight);
    });
    if (answer.summary.termination != Termination::interrupted) {
      journal_->note_run(answer, sights);
    }
    return answer;
  }

private:
  std::unique_ptr<BilevelProblem> problem_;
  Journal *journal_;
  Index samples_;
  Index parameters_;
};

class RememberingClassifier final : public Classifier {
public:
  RememberingClassifier(const Classifier &classifier, Journal &journal)
      : classifier_(&classifier), journal_(&journal) {}

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
  [[nodiscard]] std::unique_ptr<BilevelProblem> bilevel(const LabelledSamples &training, const LabelledSamples &used,
                                                        const LabelledSamples &held_out) const override {
    return std::make_unique<RememberingBilevel>(classifier_->bilevel(training, used, held_out), *journal_,
                                                training.features->rows(), untrained().size());
  }

private:
  const Classifier *classifier_;
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
  clock_.start();
}

void Journal::require_same_data(const LabelledSamples &training, const LabelledSamples &trusted) {
  for (const auto &[set, samples] : {std::pair{"training", &training}, {"trusted", &trusted}}) {
    const std::string entry = std::string(set) + " checksums";
    auto now = checksums(*samples);
    if (known_ > 0 && pieces_.get<SavedState::Integers>(entry) != now) {
      throw InvalidInput("the " + std::string(set) + " data are not those of the cleaning that is to go on");
    }
    pieces_.put(entry, std::move(now));
  }
}

std::string Journal::name(std::string_view what) const {
  return "piece " + std::to_string(next_) + " " + std::string(what);
}

bool Journal::is_known(std::string_view kind) const {
  if (next_ >= known_) {
    return false;
  }
  if (pieces_.get<std::string>(name("kind")) != kind) {
    throw InvalidInput("the checkpoint is of a cleaning that went another way: '" + name("kind") + "' is " +
                       pieces_.get<std::string>(name("kind")) + ", expected " + std::string(kind));
  }
  return true;
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

std::string Journal::text(std::string_view what) const {
  const auto &read = pieces_.get<std::string>(name(what));
  if (!data::is_utf8(read)) {
    throw InvalidInput(quoted(name(what)) + " is '" + data::shown(read) + "', expected UTF-8 text");
  }
  return read;
}

bool Journal::take_fit(Vector &model) {
  if (!is_known("fit")) {
    return false;
  }
  model = vector("model", model.size());
  ++next_;
  return true;
}

void Journal::note_fit(const Vector &model) {
  pieces_.put(name("kind"), std::string("fit"));
  pieces_.put(name("model"), floats_of(model));
  done();
}

bool Journal::take_run(BilevelAnswer &answer, const Judge &judge, Index samples, Index parameters) {
  if (!is_known("run")) {
    return false;
  }
  const auto &ended = pieces_.get<SavedState::Doubles>(name("ended"));
  const auto &sights = pieces_.get<SavedState::Doubles>(name("sights"));
  if (ended.size() != 3 || sights.size() % numbers_of_a_sight != 0) {
    throw InvalidInput("'" + name("ended") + "' or '" + name("sights") + "' of the checkpoint is not that of a run");
  }
  const std::string of_sights = quoted(name("sights"));
  const std::string of_ended = quoted(name("ended"));
  bool saw_best = false;
  for (auto s = sights.begin(); s != sights.end(); s += numbers_of_a_sight) {
    saw_best |= judge({.step = whole_number(s[0], 1, most_in_double, of_sights + ": a step"),
                       .seconds = number_within(s[1], finite_non_negative, of_sights + ": a time"),
                       .trusted_loss = s[2],
                       .held_out_loss = s[3],
                       .held_out_accuracy = s[4],
                       .suspects = whole_number(s[5], 0, samples, of_sights + ": a count of suspects")})
                    .is_best;
  }
  answer.summary.termination = enumerator<Termination>(
      whole_number(ended[0], 0, most_in_double, of_ended + ": the termination"), of_ended + ": the termination");
  answer.summary.iterations = whole_number(ended[1], 0, most_in_double, of_ended + ": the iterations");
  answer.summary.seconds = number_within(ended[2], finite_non_negative, of_ended + ": the seconds");
  if (sights.empty() && !answer.summary.failed()) {
    throw InvalidInput(of_sights + " is empty, expected at least one of a run that did not fail");
  }
  answer.summary.message = text("message");
  answer.solver = text("solver");
  answer.x = vector("x", saw_best ? samples : 0); // of a run that was never at its best nothing is kept
  answer.model = vector("model", saw_best ? parameters : 0);
  ++next_;
  return true;
}

void Journal::note_run(const BilevelAnswer &answer, const std::vector<Sight> &sights) {
  SavedState::Doubles numbers;
  for (const auto &sight : sights) {
    numbers.insert(numbers.end(), {static_cast<double>(sight.step), sight.seconds, sight.trusted_loss,
                                   sight.held_out_loss, sight.held_out_accuracy, static_cast<double>(sight.suspects)});
  }
  pieces_.put(name("kind"), std::string("run"));
  pieces_.put(name("sights"), std::move(numbers));
  pieces_.put(name("ended"),
              SavedState::Doubles{static_cast<double>(answer.summary.termination),
                                  static_cast<double>(answer.summary.iterations), answer.summary.seconds});
  pieces_.put(name("message"), answer.summary.message);
  pieces_.put(name("solver"), answer.solver);
  pieces_.put(name("x"), floats_of(answer.x));
  pieces_.put(name("model"), floats_of(answer.model));
  done();
}

void Journal::done() {
  ++next_;
  if (clock_.seconds_while_running() - last_save_ >= every_seconds_) {
    save();
  }
}

void Journal::save() {
  pieces_.put("pieces", SavedState::Integers{std::max(next_, known_)});
  save_(pieces_);
  last_save_ = clock_.seconds_while_running();
}

std::unique_ptr<Classifier> remembering(const Classifier &classifier, Journal &journal) {
  return std::make_unique<RememberingClassifier>(classifier, journal);
}

} // namespace duplex::clean
