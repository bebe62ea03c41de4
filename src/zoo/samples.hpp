#pragma once
// Samples of linear models: those that people fit, drawn from a model that is known.

#include "zoo/draws.hpp"

#include <cstdint>

namespace duplex::zoo {

/// A row of features for every target.
template <class T> struct Samples {
  MatrixOver<T> features;
  VectorOver<T> targets;

  [[nodiscard]] T count() const { return static_cast<T>(targets.size()); }
};

enum class Targets : std::uint8_t {
  numbers, ///< score and noise
  signs,   ///< ±1 by the sign of score and noise
  counts,  ///< Poisson with mean e^{score}
};

/// What a table of samples is drawn from.
struct SampleModel {
  Targets targets = Targets::numbers;
  Eigen::VectorXd weights;    ///< of the true model; zero for features that say nothing
  double noise = 1.0;         ///< standard deviation of what is added to the score
  double correlation = 0.0;   ///< share of a feature that all features have in common
  double wrong_targets = 0.0; ///< share of the targets that are replaced by their opposite
};

/// Weights of which the first `informative` are normal numbers and the others zero.
[[nodiscard]] Eigen::VectorXd sparse_weights(Draws &draws, Index features, Index informative);

[[nodiscard]] Samples<double> draw_samples(Draws &draws, const SampleModel &model, Index count);

template <class T> [[nodiscard]] Samples<T> rounded(const Samples<double> &samples) {
  return {rounded<T>(samples.features), rounded<T>(samples.targets)};
}

/// Images of 8 × 8 pixels in ten kinds, each a blurred stroke of its own with noise; the kind is the target.
[[nodiscard]] Samples<double> draw_digits(Draws &draws, Index count, Index kinds);

} // namespace duplex::zoo
