// A cleaning that was killed goes on from what it has written down.

#include "support.hpp"

#include "checkpoint/checkpoint.hpp"
#include "clean/cleaning.hpp"
#include "clean/journal.hpp"

#include <limits>

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
  all.result = clean::clean(training, trusted, 2, options);
  return all;
}

void expect_same(const clean::Result &a, const clean::Result &b, const std::string &what) {
  EXPECT_EQ(a.model, b.model) << what;
  EXPECT_EQ(a.trusted_only, b.trusted_only) << what;
  EXPECT_EQ(a.trust, b.trust) << what;
  EXPECT_EQ(a.weight, b.weight) << what;
  EXPECT_EQ(a.suggested, b.suggested) << what;
  EXPECT_EQ(a.steps, b.steps) << what;
  EXPECT_EQ(a.best_step, b.best_step) << what;
  EXPECT_EQ(a.endings, b.endings) << what;
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
  const double no_number = std::numeric_limits<double>::quiet_NaN();
  const std::string fit = piece_of(whole.last, "fit");
  expect_refused(fit + "model", SavedState::Floats(2, 0.0F),
                 "'" + fit + "model' of the checkpoint has 2 numbers, expected 6");
  expect_refused(fit + "model", SavedState::Floats(6, std::numeric_limits<float>::infinity()), "NaN or infinity");
  const std::string run = piece_of(whole.last, "run");
  expect_refused(run + "x", SavedState::Floats(), "'" + run + "x' of the checkpoint has 0 numbers, expected 60");
  expect_refused(run + "x", SavedState::Floats(61, 0.0F), "has 61 numbers, expected 60");
  expect_refused(run + "model", SavedState::Floats(7, 0.0F), "has 7 numbers, expected 6");
  expect_refused(run + "solver", std::string("bagdc\xff"), "expected UTF-8 text");
  expect_refused(run + "ended", SavedState::Doubles{no_number, 5.0, 0.1}, "the termination is nan");
  expect_refused(run + "ended", SavedState::Doubles{99.0, 5.0, 0.1}, "the termination is 99");
  expect_refused(run + "ended", SavedState::Doubles{6.0, -5.0, 0.1}, "the iterations is -5");
  expect_refused(run + "ended", SavedState::Doubles{6.0, 5.0, no_number}, "the seconds is nan");
  expect_refused(run + "sights", SavedState::Doubles(), "is empty, expected at least one");
  expect_refused(run + "sights", SavedState::Doubles{1e300, 0.1, 0.1, 0.1, 0.1, 0.0}, "a step is 1e+300");
  expect_refused(run + "sights", SavedState::Doubles{5.0, 0.1, 0.1, 0.1, 0.1, 61.0}, "a count of suspects is 61");
  expect_refused("pieces", SavedState::Integers{-1}, "'pieces' of the checkpoint is -1");
  expect_refused("pieces", SavedState::Integers{std::numeric_limits<std::int64_t>::max()}, "'pieces'");
}

TEST(CleaningJournal, GoesOnToTheSameBitsFromEveryPieceOfWork) {
  const auto training = two_clouds(120, 5, 1);
  const auto trusted = two_clouds(30, 0, 2);
  clean::Options plain;
  plain.threads = 1;
  const auto without = clean::clean(training, trusted, 2, plain);
  const auto whole = cleaned(training, trusted, nullptr);
  expect_same(whole.result, without, "with a journal");
  const auto pieces = whole.last.first<SavedState::Integers>("pieces");
  EXPECT_EQ(whole.saves, pieces);
  EXPECT_GT(pieces, 20);
  for (std::int64_t known = 0; known <= pieces; ++known) {
    SavedState before = whole.last;
    before.put("pieces", SavedState::Integers{known});
    const auto rest = cleaned(training, trusted, &before);
    expect_same(rest.result, without, std::to_string(known) + " pieces known");
    EXPECT_EQ(rest.saves, pieces - known);
  }
  EXPECT_EQ(cleaned(training, trusted, nullptr, 1000.0).saves, 0);
}

} // namespace
} // namespace duplex::testing
