#pragma once
// Fits to all folds but one, what they say of that one, and how well that fits its labels.

#include "clean/learner.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace duplex::clean {

/// What a fit takes from the training rows; trusted rows count one each, by their labels.
struct Lesson {
  std::shared_ptr<const Matrix> likelihoods =
      nullptr;                     ///< P(given label | true class) of all training rows; none: labels as given
  const Vector *weights = nullptr; ///< of all training rows; none: one each
  std::int64_t iterations = 60;
  const std::atomic<bool> *interrupt = nullptr;
};

/// Fits to all rows outside of the fold; to all, where there is no such fold.
void fit_outside(const Learner &learner, Index fold, const Lesson &lesson, double rho, Vector &model);

/// log p of rows that the models have not seen, and their labels.
struct Unseen {
  Matrix training;
  Matrix trusted;
  std::vector<std::uint32_t> given;
  std::vector<std::uint32_t> right;
};

/// How well scores fit labels, of which the first two thousand rows tell enough, the less the better: over sharpnesses
/// β, and over parts c of labels that are wrong by chance where `likelihoods` does not tell how they came about, the
/// least of
///
///   −Σ log((1 − c) softmax(βz)_given + c/K)  or  −Σ log Σ_k softmax(βz)_k P(given | k),  and  −Σ log
///   softmax(βz)_right.
struct Fitness {
  double loss = 0.0;
  double sharpness = 1.0; ///< β
  double by_chance = 0.0; ///< c
};
[[nodiscard]] Fitness fitness_of(const Unseen &unseen, const Matrix *likelihoods = nullptr);

/// The penalty of the least loss on the first folds, as many as are asked for.
struct Tried {
  Fitness fitness;
  double rho = 0.0;
};
[[nodiscard]] Tried try_penalties(const Learner &learner, const Lesson &lesson, std::span<const double> penalties,
                                  Index folds);

/// A model for each fold, and what they say of the rows that they have not seen.
struct OutOfFold {
  std::vector<Vector> models; ///< none at first, then those of the fit before
  double rho = 0.0;
  Matrix training; ///< log p, all training rows
  Matrix trusted;  ///< and all trusted rows
};

/// Fits all folds from where they are. On the first, the plan's factors on the penalty are tried.
void fit_folds(const Learner &learner, const Lesson &lesson, OutOfFold &fitted);

/// As many training rows of folds as fitness_of() takes, and all trusted ones, with their labels.
[[nodiscard]] Unseen unseen_that_tell(const OutOfFold &fitted, std::span<const std::uint32_t> given,
                                      std::span<const std::uint32_t> right);

/// The training rows that unseen_that_tell() takes, of all or of themselves.
[[nodiscard]] Matrix rows_that_tell(const Matrix &training);

/// What the models that are there say of the rows of their folds.
void judge_folds(const Learner &learner, const std::atomic<bool> *interrupt, OutOfFold &fitted);

/// The same of trusted rows alone: models fitted to them judge trusted rows out of fold, and one fitted to all of them
/// judges training rows.
struct OfTrusted {
  Vector model;
  double rho = 0.0;
  Matrix training;
  Matrix trusted;
};
[[nodiscard]] OfTrusted fit_trusted_alone(const Learner &learner, std::span<const std::uint32_t> right, Index classes,
                                          const std::atomic<bool> *interrupt);

} // namespace duplex::clean
