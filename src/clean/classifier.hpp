#pragma once
// What cleaning asks of the model that it trains. A model is one vector of parameters, laid out as its classifier
// likes.

#include "clean/regression.hpp"
#include "names/spec.hpp"

#include <duplex/core/saving.hpp>
#include <duplex/run/observer.hpp>
#include <duplex/run/summary.hpp>

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace duplex::clean {

/// Part of what a model is fitted to.
struct WeightedSamples {
  LabelledSamples samples;
  Vector weights; ///< one per sample; 0 leaves it out
  /// P(label | true class), samples by classes: that of sample i is in row first_likelihood + i. None: labels are taken
  /// as they are.
  std::shared_ptr<const Matrix> likelihoods = nullptr;
  Index first_likelihood = 0;
};

/// Penalties are in the classifier's own unit, and tried from the largest on, each from where the one before ended.
struct TrainingPlan {
  std::vector<double> penalties;              ///< tried on some of the rows at first
  std::vector<double> penalties_of_trusted;   ///< on trusted samples alone
  std::vector<double> factors{1.0};           ///< tried on the penalty when all rows are fitted first
  std::vector<double> factors_in_rounds{1.0}; ///< and in a round
  std::int64_t at_first = 30;                 ///< iterations of a fit
  std::int64_t in_a_round = 15;               ///< from the model of the round before
  std::int64_t at_last = 60;                  ///< on all samples
};

/// What a bilevel run is told. What it saves of itself is added to by the run.
struct BilevelRequest {
  std::string solver;             ///< name:option=value:…
  names::OptionDefaults defaults; ///< of options that the solver's text does not set, as far as it has them
  std::int64_t most_steps = 0;
  const std::atomic<bool> *interrupt = nullptr;
  Saving saving = {};
  std::function<void(const TraceRow &)> watch = {}; ///< is told of every look
};

struct BilevelAnswer {
  Summary summary;
  std::string solver; ///< with all its options, as the run began
  Vector x;           ///< where the loss on held-out samples was smallest, as is the model
  Vector model;
  std::int64_t kept_step = 0;  ///< which that was
  std::vector<TraceRow> looks; ///< with the metrics of bilevel_run.hpp
};

/// A weight σ(x_s) for the training samples of each source such that the model fits trusted ones.
class BilevelProblem {
public:
  BilevelProblem() = default;
  BilevelProblem(const BilevelProblem &) = delete;
  BilevelProblem &operator=(const BilevelProblem &) = delete;
  virtual ~BilevelProblem() = default;

  /// λ_max of ∇²yy f where a run is at first.
  [[nodiscard]] virtual double curvature() const = 0;
  /// By run_bilevel(), from the start or from where a run was saved. Of a run that failed, x and the model say nothing.
  [[nodiscard]] virtual BilevelAnswer solve(const BilevelRequest &request) const = 0;
};

class Classifier {
public:
  Classifier() = default;
  Classifier(const Classifier &) = delete;
  Classifier &operator=(const Classifier &) = delete;
  virtual ~Classifier() = default;

  [[nodiscard]] virtual const TrainingPlan &plan() const = 0;
  /// Units of its hidden layer; 0: it has none.
  [[nodiscard]] virtual Index hidden() const = 0;
  [[nodiscard]] virtual Vector untrained() const = 0;
  /// Moves the model from where it is. Throws Interrupted on request.
  virtual void fit(std::span<const WeightedSamples> parts, const FitOptions &options, Vector &model) const = 0;
  /// log p of every class, samples by classes.
  [[nodiscard]] virtual Matrix log_probabilities(const LabelledSamples &samples, const Vector &model) const = 0;
};

} // namespace duplex::clean
