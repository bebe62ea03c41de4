// A cleaning that was killed goes on from what it has written down.

#include "support.hpp"

#include "checkpoint/checkpoint.hpp"
#include "clean/cleaning.hpp"
#include "clean/journal.hpp"

#include <atomic>
#include <limits>
#include <vector>

namespace duplex::testing {
namespace {

LabelledSamples two_clouds(Index rows, Index wrong_every, std::uint64_t seed) {
  FeatureTable features(Storage::float32, 2);
  std::vector<std::uint32_t> labels;
  const Vec noise = random_vector(2 * rows, seed);
  for (Index i = 0; i < rows; ++i) {
    const std::uint32_t side = i % 2 == 0 ? 0 : 1;
    const std::array<float, 2> row{static_cast<float>((side == 0 ? -1.5 : 1.5) + noise[2 * i]),
                                   static_cast<float>(noise[2 * i + 1])};
    features.append(row);
    labels.push_back(wrong_every > 0 && i % wrong_every == 0 ? 1 - side : side);
  }
  return {std::make_shared<const FeatureTable>(std::move(features)),
          std::make_shared<const std::vector<std::uint32_t>>(std::move(labels))};
}

/// Of three sources.
clean::SourcesOfRows turns_of_three(Index rows) {
  clean::SourcesOfRows sources{.of_row = {}, .count = 3};
  for (Index i = 0; i < rows; ++i) {
    sources.of_row.push_back(static_cast<std::uint32_t>(i % 3));
  }
  return sources;
}

struct Cleaned {
  clean::Result result;
  SavedState last;
  int saves = 0;
};

Cleaned cleaned(const LabelledSamples &training, const LabelledSamples &trusted, const SavedState *before,
                double every_seconds = 0.0) {
  Cleaned all;
  clean::Journal journal(
      [&](const SavedState &state) {
        all.last = checkpoint::decoded(checkpoint::encoded(state), "memory");
        ++all.saves;
      },
      every_seconds, before);
  clean::Options options;
  options.threads = 1;
  options.journal = &journal;
  options.sources = turns_of_three(training.features->rows());
  all.result = clean::clean(training, trusted, 2, options);
  return all;
}

void expect_same(const clean::Result &a, const clean::Result &b, const std::string &what) {
  EXPECT_EQ(a.model.parameters, b.model.parameters) << what;
  EXPECT_EQ(a.trusted_only->parameters, b.trusted_only->parameters) << what;
  EXPECT_EQ(a.trust, b.trust) << what;
  EXPECT_EQ(a.weight, b.weight) << what;
  EXPECT_EQ(a.suggested, b.suggested) << what;
  EXPECT_EQ(a.steps, b.steps) << what;
  EXPECT_EQ(a.best_step, b.best_step) << what;
  EXPECT_EQ(a.ending, b.ending) << what;
  EXPECT_EQ(a.solver, b.solver) << what;
  EXPECT_EQ(a.looks.size(), b.looks.size()) << what;
}

TEST(CleaningJournal, RefusesOtherDataAndAWayThatWasNotGone) {
  const auto training = two_clouds(120, 5, 1);
  const auto trusted = two_clouds(30, 0, 2);
  const auto whole = cleaned(training, trusted, nullptr);
  EXPECT_CONTAINS(refusal([&] { (void)cleaned(two_clouds(120, 5, 3), trusted, &whole.last); }),
                  "the training data are not those of the cleaning");
  EXPECT_CONTAINS(refusal([&] { (void)cleaned(training, two_clouds(30, 3, 2), &whole.last); }),
                  "the trusted data are not those of the cleaning");
  SavedState odd = whole.last;
  odd.put("piece 0 kind", std::string("run"));
  EXPECT_CONTAINS(refusal([&] { (void)cleaned(training, trusted, &odd); }), "went another way");
  SavedState poor = whole.last;
  poor.put("piece 3 model", std::string("none"));
  EXPECT_CONTAINS(refusal([&] { (void)cleaned(training, trusted, &poor); }), "'piece 3 model'");
}

/// The first piece of that kind.
std::string piece_of(const SavedState &state, const std::string &kind) {
  for (std::int64_t i = 0; i < state.first<SavedState::Integers>("pieces"); ++i) {
    const std::string piece = "piece " + std::to_string(i) + " ";
    if (state.get<std::string>(piece + "kind") == kind) {
      return piece;
    }
  }
  ADD_FAILURE() << "no " << kind;
  return {};
}

TEST(CleaningJournal, RefusesWhatHasARightChecksumAndCannotBe) {
  const auto training = two_clouds(120, 5, 1);
  const auto trusted = two_clouds(30, 0, 2);
  const auto whole = cleaned(training, trusted, nullptr);
  const auto expect_refused = [&](const std::string &entry, SavedState::Value value, const std::string &expected) {
    SavedState forged = whole.last;
    ASSERT_TRUE(forged.has(entry)) << entry;
    forged.put(entry, std::move(value));
    EXPECT_CONTAINS(refusal([&] { (void)cleaned(training, trusted, &forged); }), expected);
  };
  const std::string fit = piece_of(whole.last, "fit");
  expect_refused(fit + "model", SavedState::Floats(2, 0.0F),
                 "'" + fit + "model' of the checkpoint has 2 numbers, expected 6");
  expect_refused(fit + "model", SavedState::Floats(6, std::numeric_limits<float>::infinity()), "NaN or infinity");
  expect_refused("pieces", SavedState::Integers{-1}, "'pieces' of the checkpoint is -1");
  expect_refused("pieces", SavedState::Integers{std::numeric_limits<std::int64_t>::max()}, "'pieces'");
}

TEST(CleaningJournal, RefusesBilevelRunsThatCannotBe) {
  const auto training = two_clouds(120, 5, 1);
  const auto trusted = two_clouds(30, 0, 2);
  const auto whole = cleaned(training, trusted, nullptr);
  const std::string run = piece_of(whole.last, "run") + "state ";
  const auto expect_refused = [&](const std::string &entry, SavedState::Value value, const std::string &expected) {
    SavedState forged = whole.last;
    ASSERT_TRUE(forged.has(run + entry)) << entry;
    forged.put(run + entry, std::move(value));
    const std::string told = refusal([&] { (void)cleaned(training, trusted, &forged); });
    EXPECT_CONTAINS(told, "state' of the checkpoint: ");
    EXPECT_CONTAINS(told, expected);
  };
  const float no_number = std::numeric_limits<float>::quiet_NaN();
  expect_refused("x", SavedState::Floats(4, 0.0F), "'x': a vector of the saved state is of another length");
  expect_refused("watch.best.state.x", SavedState::Floats(), "'watch.best.state.x'");
  expect_refused("watch.best.state.y", SavedState::Floats(7, 0.0F), "'watch.best.state.y'");
  expect_refused("solver", std::string("nosa"), "the saved state is of the solver nosa, expected bagdc");
  expect_refused("ended", SavedState::Integers{99}, "'ended' is 99");
  expect_refused("iterations", SavedState::Integers{-5}, "'iterations' of the saved state is -5");
  expect_refused("seconds", SavedState::Doubles{-1.0}, "the time of the saved state");
  expect_refused("watch.best.recent count", SavedState::Integers{1000}, "'watch.best.recent'");
  expect_refused("looks", SavedState::Doubles(5, 1.0), "the trace of the saved state has 5 numbers");
  expect_refused("looks", SavedState::Doubles(13, -1.0), "an iteration in the trace of the saved state is -1");
  expect_refused("looks", SavedState::Doubles{5, 0.1, 1, 1, 1, 1, 0, 0, 0, 0.5, 0.5, 0.5, 0.5}, "a count of suspects");
  expect_refused("looks", SavedState::Doubles{5, -0.1, 1, 1, 1, 1, 0, 0, 0, 0.5, 0.5, 0.5, 1.0},
                 "the time of a saved look");
  expect_refused("looks", SavedState::Doubles(), "the run has no looks, expected at least one");
  expect_refused("looks", SavedState::Doubles{5, 0.1, 1, 1, 1, 1, 0, 0, 0, 99, 0.5, 0.5, 1.0},
                 "the looks of the run lack that at its best state");
  SavedState nowhere = whole.last; // at its best it was before the last look
  nowhere.put(run + "watch.best.state.x", SavedState::Floats(3, no_number));
  nowhere.put(run + "watch.values", SavedState::Doubles(4, 1e9));
  EXPECT_CONTAINS(refusal([&] { (void)cleaned(training, trusted, &nowhere); }), "its best state holds NaN or infinity");
  SavedState odd = whole.last;
  odd.put(piece_of(whole.last, "run") + "kind", std::string("walk"));
  EXPECT_CONTAINS(refusal([&] { (void)cleaned(training, trusted, &odd); }), "is walk, expected run");
}

TEST(CleaningJournal, GoesOnToTheSameBitsFromEveryPieceOfWork) {
  const auto training = two_clouds(120, 5, 1);
  const auto trusted = two_clouds(30, 0, 2);
  clean::Options plain;
  plain.threads = 1;
  plain.sources = turns_of_three(120);
  const auto without = clean::clean(training, trusted, 2, plain);
  const auto whole = cleaned(training, trusted, nullptr);
  expect_same(whole.result, without, "with a journal");
  const auto pieces = whole.last.first<SavedState::Integers>("pieces");
  EXPECT_GT(pieces, 20);
  EXPECT_GE(whole.saves, pieces + without.steps); // while a run goes on, too
  for (std::int64_t known = 0; known <= pieces; ++known) {
    SavedState before = whole.last;
    before.put("pieces", SavedState::Integers{known});
    const auto rest = cleaned(training, trusted, &before);
    expect_same(rest.result, without, std::to_string(known) + " pieces known");
    EXPECT_LE(rest.saves, whole.saves);
  }
  EXPECT_EQ(cleaned(training, trusted, &whole.last).saves, 0);
  EXPECT_EQ(cleaned(training, trusted, nullptr, 1000.0).saves, 0);
}

TEST(CleaningJournal, GoesOnInsideOfABilevelRun) {
  const auto training = two_clouds(120, 5, 1);
  const auto trusted = two_clouds(30, 0, 2);
  std::vector<SavedState> saves;
  clean::Journal journal([&](const SavedState &state) { saves.push_back(state); }, 0.0);
  clean::Options options;
  options.threads = 1;
  options.sources = turns_of_three(120);
  options.journal = &journal;
  const auto whole = clean::clean(training, trusted, 2, options);
  int inside = 0;
  for (const auto &before : saves) {
    const auto next = "piece " + std::to_string(before.first<SavedState::Integers>("pieces")) + " state iterations";
    if (!before.has(next) || before.first<SavedState::Integers>(next) % 7 != 3) { // between looks and at some
      continue;
    }
    ++inside;
    std::vector<clean::Look> seen;
    clean::Journal rest([](const SavedState &) {}, 1000.0, &before);
    options.journal = &rest;
    const auto resumed =
        clean::clean(training, trusted, 2, options, [&](const clean::Look &look) { seen.push_back(look); });
    const auto done = before.first<SavedState::Integers>(next);
    expect_same(resumed, whole, "a run was begun and did " + std::to_string(done) + " steps");
    ASSERT_FALSE(seen.empty());
    EXPECT_GT(seen.front().step, done); // what was done is not done again
    ASSERT_EQ(resumed.looks.size(), whole.looks.size());
    for (std::size_t i = 0; i < whole.looks.size(); ++i) {
      EXPECT_EQ(resumed.looks[i].step, whole.looks[i].step);
      EXPECT_EQ(resumed.looks[i].held_out_loss, whole.looks[i].held_out_loss);
    }
  }
  EXPECT_GT(inside, 3);
}

TEST(CleaningJournal, GoesOnInsideOfARunThatWasInterrupted) {
  const auto training = two_clouds(120, 5, 1);
  const auto trusted = two_clouds(30, 0, 2);
  clean::Options options;
  options.threads = 1;
  options.sources = turns_of_three(120);
  const auto whole = clean::clean(training, trusted, 2, options);
  std::atomic<bool> interrupt{false};
  SavedState last;
  clean::Journal journal([&](const SavedState &state) { last = state; }, 1000.0);
  options.journal = &journal;
  options.interrupt = &interrupt;
  EXPECT_EQ(refusal<Interrupted>([&] {
              (void)clean::clean(training, trusted, 2, options,
                                 [&](const clean::Look &look) { interrupt = interrupt || look.step == 6; });
            }),
            "interrupted");
  journal.save(); // as the tool does
  const auto next = "piece " + std::to_string(last.first<SavedState::Integers>("pieces")) + " state iterations";
  ASSERT_TRUE(last.has(next));
  EXPECT_EQ(last.first<SavedState::Integers>(next), 7); // it was asked for after the look at step 6
  interrupt = false;
  clean::Journal rest([](const SavedState &) {}, 1000.0, &last);
  options.journal = &rest;
  const auto resumed = clean::clean(training, trusted, 2, options);
  expect_same(resumed, whole, "interrupted");
  for (std::size_t i = 0; i < whole.looks.size(); ++i) {
    EXPECT_EQ(resumed.looks[i].step, whole.looks[i].step);
  }
}

TEST(CleaningJournal, DoesNotGoOnWithWhatAnotherVersionHasBegun) {
  SavedState last;
  clean::Journal journal([&](const SavedState &state) { last = state; }, 1000.0);
  journal.note_fit(clean::Vector::Ones(3));
  journal.save();
  EXPECT_NO_THROW(clean::Journal([](const SavedState &) {}, 1000.0, &last));
  last.put("way of cleaning", SavedState::Integers{1});
  EXPECT_CONTAINS(refusal([&] { clean::Journal([](const SavedState &) {}, 1000.0, &last); }), "cleans in another way");
}

} // namespace
} // namespace duplex::testing
