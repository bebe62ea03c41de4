#pragma once
// What cleaning asks of the model that it trains. A model is one vector of parameters, laid out as its classifier
// likes.

#include "clean/regression.hpp"
#include "names/spec.hpp"

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
  Vector weights;      ///< one per sample; 0 leaves it out
  Matrix targets = {}; ///< probabilities of the classes in the labels' place, where there are any
};

struct TrainingPlan {
  std::vector<double> penalties; ///< that are tried on the trusted samples, largest first
  std::int64_t alone = 60;       ///< iterations on the trusted samples
  std::int64_t in_a_round = 12;  ///< from the model of the round before
  std::int64_t at_last = 40;     ///< on all samples
  double less_of_penalty = 1.0;  ///< factor on it where training samples are fitted, beyond what their number does
  bool convex = true;            ///< whether the bilevel problem's lower level is
};

/// What is seen of a bilevel run after a step.
struct Sight {
  std::int64_t step = 0;
  double seconds = 0.0;
  double trusted_loss = 0.0;
  double held_out_loss = 0.0;
  double held_out_accuracy = 0.0;
  Index suspects = 0; ///< samples with x < 0
};

struct Verdict {
  bool is_best = false;
  bool stop = false;
};

using Judge = std::function<Verdict(const Sight &)>;

struct SolverChoice {
  std::string spec;               ///< name:option=value:…
  catalog::OptionValues defaults; ///< of options that the spec does not set, as far as the solver has them
  std::int64_t most_steps = 0;
  const std::atomic<bool> *interrupt = nullptr;
};

struct BilevelAnswer {
  Summary summary;
  std::string solver; ///< with all its options
  Vector x;           ///< where the judge saw the best
  Vector model;
};

/// Hyper-cleaning: a weight σ(x_i) for each training sample such that the model fits trusted ones.
class BilevelProblem {
public:
  BilevelProblem() = default;
  BilevelProblem(const BilevelProblem &) = delete;
  BilevelProblem &operator=(const BilevelProblem &) = delete;
  virtual ~BilevelProblem() = default;

  /// λ_max of ∇²yy f where a run is at first.
  [[nodiscard]] virtual double curvature() const = 0;
  /// From the start, with looks at every fifth step.
  [[nodiscard]] virtual BilevelAnswer solve(const SolverChoice &choice, const Judge &judge) const = 0;
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
  /// Training samples, trusted samples in use, and trusted samples that only the looks see.
  [[nodiscard]] virtual std::unique_ptr<BilevelProblem>
  bilevel(const LabelledSamples &training, const LabelledSamples &used, const LabelledSamples &held_out) const = 0;
};

/// Shows a run's states to the judge, and keeps the best. measure(state) gives what a sight says of it.
template <class V, class Measure>
[[nodiscard]] Monitor<V> judged_by(const Judge &judge, const Measure &measure, State<V> &best) {
  Monitor<V> monitor;
  monitor.cadence = {.every = 5};
  monitor.stop_when = [&judge, measure, &best](const Progress<V> &progress) {
    Sight sight = measure(progress.state);
    sight.step = progress.iteration;
    sight.seconds = progress.seconds;
    const Verdict verdict = judge(sight);
    if (verdict.is_best) {
      best = progress.state;
    }
    return verdict.stop;
  };
  return monitor;
}

} // namespace duplex::clean
