#include "clean/out_of_fold.hpp"

#include "clean/beliefs.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace duplex::clean {

namespace {

constexpr std::array<double, 8> sharpnesses{0.35, 0.5, 0.7, 1.0, 1.4, 2.0, 2.8, 4.0};
constexpr std::array<double, 9> parts_by_chance{0.001, 0.01, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6};

std::vector<std::uint32_t> labels_of(const LabelledSamples &samples) { return *samples.labels; }

/// Rows of scores that tell enough.
Index count_that_tells(Index rows) { return std::min<Index>(rows, 2000); }

/// What is held out in the fold. Of training rows, those that fits would use.
void append_unseen(const Learner &learner, Index fold, const Vector &model, Unseen &unseen) {
  const auto append = [](Matrix &to, const Matrix &more) {
    to.conservativeResize(to.rows() + more.rows(), more.cols());
    to.bottomRows(more.rows()) = more;
  };
  const auto append_labels = [](std::vector<std::uint32_t> &to, const std::vector<std::uint32_t> &more) {
    to.insert(to.end(), more.begin(), more.end());
  };
  const LabelledSamples training = learner.training_in(fold);
  append(unseen.training, learner.classifier().log_probabilities(training, model));
  append_labels(unseen.given, labels_of(training));
  if (const auto trusted = learner.trusted_in(fold)) {
    append(unseen.trusted, learner.classifier().log_probabilities(*trusted, model));
    append_labels(unseen.right, labels_of(*trusted));
  }
}

/// softmax(βz)
Eigen::ArrayXf sharpened(const Matrix &scores, Index row, double sharpness) {
  Eigen::ArrayXf p = static_cast<float>(sharpness) * scores.row(row).transpose().array();
  p = (p - p.maxCoeff()).exp();
  return p / p.sum();
}

} // namespace

void fit_outside(const Learner &learner, Index fold, const Lesson &lesson, double rho, Vector &model) {
  std::vector<WeightedSamples> parts;
  for (Index other = 0; other < learner.folds(); ++other) {
    if (other == fold) {
      continue;
    }
    WeightedSamples part{.samples = learner.training_in(other), .weights = {}};
    const Index first = learner.first_training(other);
    const Index count = part.samples.features->rows();
    if (count > 0) {
      part.weights = lesson.weights != nullptr ? Vector(lesson.weights->segment(first, count)) : Vector::Ones(count);
      part.likelihoods = lesson.likelihoods;
      part.first_likelihood = first;
      parts.push_back(std::move(part));
    }
    if (auto trusted = learner.trusted_in(other)) {
      const Index rows = trusted->features->rows();
      parts.push_back({.samples = std::move(*trusted), .weights = Vector::Ones(rows)});
    }
  }
  learner.classifier().fit(parts, {.rho = rho, .iterations = lesson.iterations, .interrupt = lesson.interrupt}, model);
}

Fitness fitness_of(const Unseen &unseen, const Matrix *likelihoods) {
  constexpr float least_of_trusted = 1e-4F;
  constexpr double least = 1e-30;
  const Index rows = count_that_tells(unseen.training.rows());
  const Index trusted_rows = count_that_tells(unseen.trusted.rows());
  Fitness best{.loss = std::numeric_limits<double>::infinity()};
  Eigen::ArrayXd told(rows);
  for (const double sharpness : sharpnesses) {
    double trusted_loss = 0.0;
    for (Index i = 0; i < trusted_rows; ++i) {
      const auto right = static_cast<Index>(unseen.right[static_cast<std::size_t>(i)]);
      const float p = sharpened(unseen.trusted, i, sharpness)[right];
      trusted_loss -= std::log(static_cast<double>(std::max(p, least_of_trusted)));
    }
    for (Index i = 0; i < rows; ++i) {
      const Eigen::ArrayXf p = sharpened(unseen.training, i, sharpness);
      const auto given = static_cast<Index>(unseen.given[static_cast<std::size_t>(i)]);
      told[i] =
          static_cast<double>(likelihoods != nullptr ? (p * likelihoods->row(i).transpose().array()).sum() : p[given]);
    }
    const auto consider = [&](double by_chance) {
      const double part = by_chance / static_cast<double>(unseen.training.cols());
      const double loss = trusted_loss - ((1.0 - by_chance) * told + part).max(least).log().sum();
      if (loss < best.loss) {
        best = {.loss = loss, .sharpness = sharpness, .by_chance = by_chance};
      }
    };
    if (likelihoods != nullptr) {
      consider(0.0);
    } else {
      std::for_each(parts_by_chance.begin(), parts_by_chance.end(), consider);
    }
  }
  return best;
}

Tried try_penalties(const Learner &learner, const Lesson &lesson, std::span<const double> penalties, Index folds) {
  std::vector<Unseen> unseen(penalties.size());
  for (Index fold = 0; fold < std::min(folds, learner.folds()); ++fold) {
    Vector model = learner.classifier().untrained();
    for (std::size_t i = 0; i < penalties.size(); ++i) {
      fit_outside(learner, fold, lesson, penalties[i], model);
      append_unseen(learner, fold, model, unseen[i]);
    }
  }
  Tried best{.fitness = {.loss = std::numeric_limits<double>::infinity()}, .rho = penalties.front()};
  for (std::size_t i = 0; i < penalties.size(); ++i) {
    const Fitness fitness = fitness_of(unseen[i]);
    if (fitness.loss < best.fitness.loss) {
      best = {fitness, penalties[i]};
    }
  }
  return best;
}

void fit_folds(const Learner &learner, const Lesson &lesson, OutOfFold &fitted) {
  const auto &plan = learner.classifier().plan();
  const auto &factors = fitted.models.empty() ? plan.factors : plan.factors_in_rounds;
  if (fitted.models.empty()) {
    fitted.models.assign(static_cast<std::size_t>(learner.folds()), learner.classifier().untrained());
  }
  double best = std::numeric_limits<double>::infinity();
  const double before = fitted.rho;
  Vector model = fitted.models.front();
  for (const double factor : factors) {
    fit_outside(learner, 0, lesson, factor * before, model);
    Unseen unseen;
    append_unseen(learner, 0, model, unseen);
    const double loss = fitness_of(unseen, lesson.likelihoods.get()).loss; // the fold's rows are the first
    if (loss < best) {
      best = loss;
      fitted.rho = factor * before;
      fitted.models.front() = model;
    } else {
      break; // less of a penalty would overfit all the more
    }
  }
  for (Index fold = 1; fold < learner.folds(); ++fold) {
    fit_outside(learner, fold, lesson, fitted.rho, fitted.models[static_cast<std::size_t>(fold)]);
  }
  judge_folds(learner, lesson.interrupt, fitted);
}

void judge_folds(const Learner &learner, const std::atomic<bool> *interrupt, OutOfFold &fitted) {
  for (Index fold = 0; fold < learner.folds(); ++fold) {
    refuse_if_interrupted(interrupt);
    const Vector &own = fitted.models[static_cast<std::size_t>(fold)];
    const Matrix training = learner.judge_training(fold, own);
    if (fitted.training.rows() != learner.training_rows()) {
      fitted.training.resize(learner.training_rows(), training.cols());
      fitted.trusted.resize(learner.trusted_rows(), training.cols());
    }
    fitted.training.middleRows(learner.first_training(fold), training.rows()) = training;
    if (const Matrix trusted = learner.judge_trusted(fold, own); trusted.rows() > 0) {
      fitted.trusted.middleRows(learner.first_trusted(fold), trusted.rows()) = trusted;
    }
  }
}

Matrix rows_that_tell(const Matrix &training) { return training.topRows(count_that_tells(training.rows())); }

Unseen unseen_that_tell(const OutOfFold &fitted, std::span<const std::uint32_t> given,
                        std::span<const std::uint32_t> right) {
  const Index rows = count_that_tells(fitted.training.rows());
  const auto last = given.begin() + static_cast<std::ptrdiff_t>(rows);
  return {.training = rows_that_tell(fitted.training),
          .trusted = fitted.trusted,
          .given = {given.begin(), last},
          .right = {right.begin(), right.end()}};
}

OfTrusted fit_trusted_alone(const Learner &learner, std::span<const std::uint32_t> right, Index classes,
                            const std::atomic<bool> *interrupt) {
  constexpr std::int64_t iterations = 60;
  const auto &penalties = learner.classifier().plan().penalties_of_trusted;
  const auto fit = [&](Index without, double rho, Vector &model) {
    std::vector<WeightedSamples> parts;
    for (Index fold = 0; fold < learner.folds(); ++fold) {
      auto trusted = fold == without ? std::nullopt : learner.trusted_in(fold);
      if (trusted) {
        const Index rows = trusted->features->rows();
        parts.push_back({.samples = std::move(*trusted), .weights = Vector::Ones(rows)});
      }
    }
    if (!parts.empty()) {
      learner.classifier().fit(parts, {.rho = rho, .iterations = iterations, .interrupt = interrupt}, model);
    }
  };
  std::vector<Matrix> unseen(penalties.size(), Matrix::Zero(learner.trusted_rows(), classes));
  for (Index fold = 0; fold < learner.folds(); ++fold) {
    if (!learner.trusted_in(fold)) {
      continue;
    }
    Vector model = learner.classifier().untrained();
    for (std::size_t i = 0; i < penalties.size(); ++i) {
      fit(fold, penalties[i], model);
      const Matrix log_p = learner.judge_trusted(fold, model);
      unseen[i].middleRows(learner.first_trusted(fold), log_p.rows()) = log_p;
    }
  }
  const std::vector<std::uint32_t> labels(right.begin(), right.end());
  std::size_t best = 0;
  for (std::size_t i = 1; i < penalties.size(); ++i) {
    if (mean_loss(unseen[i], labels) < mean_loss(unseen[best], labels)) {
      best = i;
    }
  }
  OfTrusted out{.model = learner.classifier().untrained(), .rho = penalties[best], .training = {}, .trusted = {}};
  for (std::size_t i = 0; i <= best; ++i) {
    fit(-1, penalties[i], out.model);
  }
  out.trusted = std::move(unseen[best]);
  out.training.resize(learner.training_rows(), classes);
  for (Index fold = 0; fold < learner.folds(); ++fold) {
    refuse_if_interrupted(interrupt);
    const Matrix log_p = learner.judge_training(fold, out.model);
    out.training.middleRows(learner.first_training(fold), log_p.rows()) = log_p;
  }
  return out;
}

} // namespace duplex::clean
